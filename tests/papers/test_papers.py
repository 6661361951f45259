"""The papers' tables and figures: declarations, runner, cache, search, verdicts."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onkel import datasets, make
from onkel.algorithms import ALGORITHMS
from onkel.evaluation.search import grid_of, points_of, race
from papers import EXPERIMENTS, Cache, Case, Cell, Result, Rows, Search, find, run_cases
from papers import runner as runner_module
from papers.cases import METRICS
from papers.measures import MEASURES, OTHERS, new_learner
from papers.notes import notes
from papers.registry import LAYOUTS
from papers.rows import load_rows, order, train_and_test
from papers.searches import cases_of_search
from papers.tables import markdown_table, parameters

CASES = [(name, case) for name, entry in EXPERIMENTS.items() for case in entry.cases]


def named(experiment, name):
    return next(case for case in EXPERIMENTS[experiment].cases if case.name == name)


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """60 rows in two classes divided by a circle, in place of the german set."""
    monkeypatch.setenv("ONKEL_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    entry = datasets.info("german")
    X = np.random.default_rng(0).standard_normal((60, entry.n_features)).astype(np.float32)
    y = np.where((X[:, :2] ** 2).sum(axis=1) > 1.4, 1, -1)
    columns = {f"f{j}": X[:, j] for j in range(entry.n_features)}
    pq.write_table(pa.table({**columns, "y": y}), tmp_path / "german.parquet")
    load_rows.cache_clear()
    grid = {"learning_rate": (0.1, 1.0), "gamma": (0.01, 0.1)}
    yield Case(
        rows=Rows("german", dtype="float32"),
        algorithm="fogd",
        parameters={"n_components": 20, "gamma": 0.1},
        n_runs=3,
        search=Search(grid, share=0.5),
    )
    load_rows.cache_clear()


@pytest.mark.parametrize("split", [None, "all"])
def test_a_file_without_test_rows_is_cut_four_to_one(split, toy):
    file = datasets.path("german")
    table = pq.read_table(file)
    if split:
        pq.write_table(table.append_column("split", pa.array([split] * len(table))), file)
    (X, y, X_test, y_test), own = train_and_test(toy.rows)
    assert (len(X), len(y), len(X_test), len(y_test), own) == (48, 48, 12, 12, False)


# ---- what is declared ----------------------------------------------------------------------------


def test_all_that_the_papers_show_is_there():
    names = {
        *(f"lsokl.table{n}" for n in (3, 5, 7, 9)), *(f"lsokl.figure{n}" for n in range(1, 7)),
        "rrf.table1", "rrf.table2", "rrf.figure1", "rrf.figure2", "nolana.table1", "nolana.table2",
        *(f"nolana.figure{n}" for n in range(1, 5)), "aligned.figure1", "aligned.figure1a",
        "lsokl.regret", "nolana.regret",
        "lsokl.reasons", "rrf.reasons", "nolana.reasons", "olk.regret", "olk.rates", "olk.budget",
        "default", "rivals", "streams",
    }  # fmt: skip
    assert set(EXPERIMENTS) == names


def test_entries_are_whole():
    """They name known data, learners, measures and metrics, and parameters of their learner."""
    made = set()
    for name, case in CASES:
        label = f"{name} {case.name}"
        assert case.measure in MEASURES, label
        assert case.metric in METRICS, label
        assert case.step in ("authors", "search", "prior", "default"), label
        if case.measure not in ("once", "split", "stopped"):
            continue
        assert case.task == datasets.info(case.dataset).task or case.rows.positive, label
        assert case.made_by in OTHERS or case.made_by in ALGORITHMS, label
        point = next(points_of(case.search.grid)) if case.search else {}
        key = (case.made_by, case.task, tuple(sorted({**case.parameters, **point})))
        if key not in made:
            made.add(key)
            new_learner(case.at(point), 0)


def test_searched_parameters_are_on_their_grid():
    for name, case in CASES:
        if case.search is not None and not case.here:
            for names, values in case.search.grid.items():
                point = tuple(case.parameters[parameter] for parameter in names.split(","))
                found = values if len(point) > 1 else [(value,) for value in values]
                assert point in found, f"{name} {case.name}"


def test_find():
    assert find(["all"]) == list(EXPERIMENTS.values())
    assert [e.name for e in find(["rrf.table?", "olk.budget"])] == [
        "rrf.table1", "rrf.table2", "olk.budget",
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"no experiment 'lsokl.tabel5'; did you mean 'lsokl.tabl"):
        find(["lsokl.tabel5"])


# ---- verdicts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "published", "limit", "comparable", "verdict"),
    [
        (10.0, Cell(9.5, 0.25), None, True, "met"),
        (10.1, Cell(9.5, 0.25), None, True, "not met"),
        (8.9, Cell(9.5, 0.25), None, True, "better"),
        (math.nan, Cell(9.5, 0.25), None, True, "not met"),
        (9.6, Cell(9.5), None, True, "not met"),
        (10.0, Cell(9.5, 0.25), None, False, "rows differ"),
        (10.0, Cell(9.5, 0.25), 10.0, False, "within 10"),
        (math.nan, None, 10.0, True, "over 10"),
        (10.0, None, None, True, "reference"),
    ],
)
def test_verdict(toy, value, published, limit, comparable, verdict):
    case = replace(toy, published=published, limit=limit)
    common = {"seconds": (1.0, 1.0), "n_rows": 60, "comparable": comparable}
    result = Result(case=case, values=(value, value), **common)
    assert result.verdict == verdict
    assert result.failed == (verdict in ("not met", "over 10"))


def test_a_spread_of_ours_that_hides_all_is_no_agreement(toy):
    """If only a value is published, one diverging run must not make the cell met."""
    case = replace(toy, published=Cell(0.269), metric="rmse")
    common = {"seconds": (1.0,) * 3, "n_rows": 60}
    assert Result(case=case, values=(0.27, 0.27, 4.7), **common).verdict == "not met"
    assert Result(case=case, values=(0.27, 0.29, 0.275), **common).verdict == "met"


def test_results_are_json_whatever_they_are(toy):
    report = Result(case=toy, values=(math.inf, 1.0), seconds=(1.0, 1.0), n_rows=60).to_dict()
    assert report["values"] == [None, 1.0]
    assert report["mean"] is report["std"] is None
    json.dumps(report, allow_nan=False)


def test_more_accuracy_is_better(toy):
    case = replace(toy, published=Cell(90.0, 1.0), metric="accuracy")
    common = {"seconds": (1.0,), "n_rows": 60}
    verdicts = [Result(case=case, values=(v,), **common).verdict for v in (87.0, 91.0, 95.0)]
    assert verdicts == ["not met", "met", "better"]


def test_a_bar_in_a_cell_does_not_end_it():
    assert markdown_table(("a", "b"), [["|x|", "1"]], ("a",)).endswith("\n| \\|x\\| | 1 |")


def test_settings_are_in_the_papers_symbols():
    text = parameters({"gamma": 1 / 128, "n_components": 20, "learning_rate": 0.5, "alpha": 0.03})
    assert text == "D = 20, η = 0.5, λ = 0.03, gamma = 1/128"
    assert parameters({"gamma": 0.4}) == "gamma = 0.4"
    assert parameters({"gamma": 4.0}) == "gamma = 4"


# ---- the runner ----------------------------------------------------------------------------------


def test_a_run_is_the_learner(toy):
    seen = []
    (result,) = run_cases([toy], progress=lambda done, of: seen.append((done, of)))
    data = datasets.load("german", dtype="float32")
    rows = order(60, 0)
    model = make("fogd", n_components=20, gamma=0.1, random_state=0)
    predicted = model.predict_then_learn(data.X[rows], data.y[rows], classes=[-1, 1])
    assert result.values[0] == pytest.approx(100 * np.mean(predicted != data.y[rows]))
    assert len(result.values) == len(result.seconds) == len(seen) == 3
    assert seen[-1][0] == pytest.approx(seen[-1][1])
    assert result.std == pytest.approx(np.std(result.values, ddof=1))
    assert not result.comparable
    # the curve ends where the run does
    assert result.curve[0][-1] == 60
    assert result.curve[1][-1] == pytest.approx(result.mean)
    json.dumps(result.to_dict())


def test_runs_are_kept_and_gone_on_with(toy, tmp_path, monkeypatch):
    (first,) = run_cases([toy], 2, cache=Cache(tmp_path / "kept"))
    calls = []
    measure = runner_module.measure
    monkeypatch.setattr(
        runner_module, "measure", lambda case, run: calls.append(run) or measure(case, run)
    )
    (more,) = run_cases([toy], 3, cache=Cache(tmp_path / "kept"))
    assert calls == [2]
    assert more.values[:2] == first.values
    # other settings and other data are other runs
    run_cases([toy.at({"gamma": 0.2})], 1, cache=Cache(tmp_path / "kept"))
    file = tmp_path / "german.parquet"
    pq.write_table(pq.read_table(file).slice(0, 50), file)
    load_rows.cache_clear()
    (other,) = run_cases([toy], 1, cache=Cache(tmp_path / "kept"))
    assert calls == [2, 0, 0]
    assert other.n_rows == 50


def test_an_interrupted_run_goes_on(toy, tmp_path, monkeypatch):
    def stop(done, of):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_cases([toy], 3, cache=Cache(tmp_path / "kept"), progress=stop)
    calls = []
    monkeypatch.setattr(runner_module, "measure", lambda _, run: calls.append(run) or {"error": ""})
    run_cases([toy], 3, cache=Cache(tmp_path / "kept"))
    assert calls == [1, 2]


def test_processes_give_the_same(toy):
    (one,) = run_cases([toy])
    (two,) = run_cases([toy], jobs=2)
    assert one.values == two.values


def test_a_failing_run_is_recorded_and_the_rest_goes_on(toy, tmp_path):
    broken = toy.at({"gamma": -1.0})
    failed, good = run_cases([broken, toy], 1, cache=Cache(tmp_path / "kept"))
    assert failed.verdict == "failed"
    assert "gamma" in failed.failures[0]
    assert good.values
    assert "| **failed** |" in LAYOUTS["cells"].markdown([failed, good])
    (note,) = notes([failed, good])
    assert note.startswith("german/fogd: 1 failed: ValueError: gamma=-1.0")


def test_missing_data_are_named(toy):
    absent, here = run_cases([replace(toy, rows=Rows("slice")), toy], 1)
    assert absent.verdict == "no data"
    assert "'slice' is not on this machine; get it: the UCI repository" in absent.missing
    assert here.values


def test_a_file_that_cannot_be_read_fails_its_own_runs_only(toy, tmp_path):
    (tmp_path / "housing.parquet").write_text("no Parquet")
    broken, good = run_cases([named("lsokl.table9", "housing/fogd"), toy], 1)
    assert broken.verdict == "failed"
    assert "housing.parquet: not a readable Parquet file" in broken.failures[0]
    assert good.values


def test_numbers_below_one_are_refused(toy):
    with pytest.raises(ValueError, match="runs=0 must be at least 1"):
        run_cases([toy], 0)
    with pytest.raises(ValueError, match="jobs=0 must be at least 1"):
        run_cases([toy], jobs=0)


# ---- the search ----------------------------------------------------------------------------------


def test_a_search_sees_a_part_of_the_rows(toy):
    tried = cases_of_search(toy)
    assert len(tried) == 4
    (X, _, _), whole = load_rows(tried[0].rows), load_rows(toy.rows)
    assert len(X) == 30
    assert len(whole[0]) == 60
    (found,) = run_cases([replace(toy, here=True)], 1)
    values = {repr(r.case.parameters): r.mean for r in run_cases(tried)}
    assert values[repr(found.case.parameters)] == min(values.values())


def test_names_joined_by_a_comma_change_together():
    points = list(points_of({"a,b": ((1, 2), (3, 4)), "c": (5,)}))
    assert points == [{"a": 1, "b": 2, "c": 5}, {"a": 3, "b": 4, "c": 5}]


def test_folds_are_of_the_training_rows(real_data):
    case = named("lsokl.table3", "a9a/fogd").at({"gamma": 0.03, "learning_rate": 4.0})
    fold = replace(cases_of_search(case)[0], rows=replace(case.rows, most=500)).at(
        {"n_components": 50}
    )
    assert fold.n_runs == 5
    (result,) = run_cases([fold])
    assert result.n_rows == 500
    assert 60.0 < result.mean < 100.0


def test_a_race_leaves_what_is_behind():
    bounds = []
    found = race(
        [{"a": 3.0}, {"a": 1.0}, {"a": 2.0}], lambda p, most: bounds.append(most) or p["a"]
    )
    assert found == ({"a": 1.0}, 1.0)
    assert bounds == [math.inf, 3.0, 1.0]


def test_grids_are_of_the_parameters_there_are():
    assert set(grid_of(make("bsgd-m").get_params(), 100)) == {"gamma", "alpha"}
    assert set(grid_of(make("bpa-s").get_params(), 100)) == {"gamma", "C"}
    assert "learning_rate,learning_rate_gamma" in grid_of(make("rrf").get_params(), 100)


# ---- the papers' numbers -------------------------------------------------------------------------


def test_published_numbers(real_data):
    wanted = [
        ("lsokl.table5", "german/fogd"), ("lsokl.table5", "german/forgetron"),
        ("lsokl.table5", "german/bogd"), ("lsokl.table7", "satimage/nogd"),
        ("lsokl.table7", "satimage/projectron++"), ("lsokl.table7", "dna/bpa-s"),
        ("lsokl.table9", "mg/nogd"), ("lsokl.table9", "mg/norma"),
        ("lsokl.table9", "abalone/fogd"), ("lsokl.table9", "abalone/rbp"),
    ]  # fmt: skip
    results = run_cases([named(*name) for name in wanted], 5)
    assert {r.case.name: r.verdict for r in results if r.verdict not in ("met", "better")} == {}


def test_rrf_on_ijcnn1(real_data):
    (result,) = run_cases([named("rrf.table1", "ijcnn1/rrf-hinge")], 2)
    assert result.comparable
    assert result.mean <= 3.7
