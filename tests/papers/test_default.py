"""The default learner's protocol: one call for all data, the table; the tuned rivals."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from onkel import StreamModel, algorithms, prequential
from onkel.cli.app import app as onkel_app
from onkel.datasets.registry import DATASETS, Entry
from onkel.evaluation.search import points_of
from onkel.streams import Block
from papers import EXPERIMENTS, Cache, Cell, Result, Search, default, measures, run_cases
from papers import goals as rivals
from papers.__main__ import app
from papers.cache import Record
from papers.default import GOALS_LAYOUT, summary
from papers.goals import GOALS, Goal
from papers.rows import load_rows, order
from papers.searches import cases_of_search

N = 300
CASES = {case.dataset: case for case in EXPERIMENTS["default"].cases}


def outcome(goal, n_rows, values, seconds):
    case = replace(CASES["german"], rows=goal.rows, metric=goal.metric, limit=goal.target,
                   published=goal.published and Cell(goal.published))  # fmt: skip
    common = {"n_rows": n_rows, "values": values, "seconds": seconds, "comparable": False}
    return Result(case=case, **common)


@pytest.fixture
def toys(tmp_path, monkeypatch):
    """Three small sets with goals: two classes, numbers in [0, 1], and numbers as they are."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2)).astype(np.float32)
    number = X[:, 0] * X[:, 1]
    targets = {"two": (number > 0) * 2 - 1, "unit": number * 10, "minutes": number * 10}
    metrics = {"two": "mistakes", "unit": "mse", "minutes": "rmse"}
    for name, y in targets.items():
        task, n_classes = ("binary", 2) if name == "two" else ("regression", 0)
        scaling = "minmax" if name == "unit" else "none"
        entry = Entry(name, task, N, 2, n_classes, "all", scaling, None, "nowhere")
        monkeypatch.setitem(DATASETS, name, entry)
        table = pa.table({"f0": X[:, 0], "f1": X[:, 1], "y": y})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    monkeypatch.setenv("ONKEL_DATA", str(tmp_path))
    load_rows.cache_clear()
    made = [default.case_of(Goal(name, metric, 1.0, 2.0)) for name, metric in metrics.items()]
    known = EXPERIMENTS["default"]
    monkeypatch.setitem(EXPERIMENTS, "default", replace(known, cases=tuple(made)))
    yield made
    load_rows.cache_clear()


def test_goals_are_on_data_sets_that_there_are():
    assert len(GOALS) == len(CASES) == 24
    for name, goal in GOALS.items():
        entry = DATASETS[name]
        assert (entry.task == "regression") == (goal.task == "regression")
        assert goal.target > 0


# ---- one setting ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_same_call_for_all_data_sets(toys, monkeypatch):
    """The learner gets only the task and the run's number, whatever the data set."""
    made, models = [], []
    make = algorithms.make

    def spy_make(*args, **parameters):
        made.append((args, parameters))
        return make(*args, **parameters)

    class Spy(StreamModel):
        def __init__(self, *args, **parameters):
            models.append((type(args[0]), args[0].get_params(deep=False), args[1:], parameters))
            super().__init__(*args, **parameters)

    monkeypatch.setattr(measures, "make", spy_make)
    monkeypatch.setattr(measures, "StreamModel", Spy)
    run_cases(toys, 2)
    tasks = ["classification", "regression", "regression"]
    assert made == [((algorithms.DEFAULT, task), {}) for task in tasks for _ in range(2)]
    for i, (cls, parameters, rest, named) in enumerate(models):
        fresh = make(algorithms.DEFAULT, tasks[i // 2])
        if "random_state" in parameters:
            fresh.set_params(random_state=i % 2)
        assert cls is type(fresh)
        assert parameters == fresh.get_params(deep=False)
        assert (rest, named) == ((), {})


def test_the_protocol_knows_no_data_set():
    """Its source names no data set, its cases set no parameter, its goals can hold none."""
    source = inspect.getsource(default)
    assert not [name for name in DATASETS if f'"{name}"' in source]
    assert set(Goal.__dataclass_fields__) == {"dataset", "metric", "target", "published"}
    assert all(case.parameters == case.piped == {} for case in CASES.values())


def test_it_is_what_the_command_line_learns(toys, tmp_path):
    file = str(tmp_path / "two.parquet")
    arguments = ["learn", file, "--target", "y", "--task", "classification", "--json"]
    report = json.loads(CliRunner().invoke(onkel_app, arguments).stdout)
    X, y, _ = load_rows(toys[0].rows)
    own = prequential(measures.piped_model(toys[0], 0), (X, y))
    assert report["algorithm"] == algorithms.DEFAULT
    assert report["curve"][-1]["mistakes"] == own.value


# ---- values --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_metrics(toys):
    """Mistakes in percent, squared errors of a target in [0, 1], errors in the target's units."""
    finish = {
        "mistakes": lambda p, y: 100 * np.mean(p != y),
        "mse": lambda p, y: np.mean((p - y) ** 2),
        "rmse": lambda p, y: np.sqrt(np.mean((p - y) ** 2)),
    }
    for case, result in zip(toys, run_cases(toys, 2), strict=True):
        X, y, _ = load_rows(case.rows)
        assert case.metric != "mse" or (y.min(), y.max()) == (0, 1)
        for run, value in enumerate(result.values):
            rows = order(N, run)
            predicted = measures.piped_model(case, run).learn(Block(X[rows], y[rows], 0))
            assert value == pytest.approx(finish[case.metric](predicted, y[rows]), rel=1e-6)
        assert result.n_rows == N
        assert len(result.seconds) == len(result.values) == 2


def test_met_is_to_the_digit():
    goal = Goal("german", "mistakes", 5.0)
    assert not outcome(goal, 10, (4.0, 6.0), (1.0, 1.0)).failed
    assert outcome(goal, 10, (5.0, 5.001), (1.0, 1.0)).failed


def test_a_record_of_something_else_is_refused(tmp_path):
    file = tmp_path / "record.json"
    Record(file, {"algorithm": "fogd"}).save()
    with pytest.raises(ValueError, match="algorithm: 'fogd' there, 'krls' now"):
        Record(file, {"algorithm": "krls"})
    file.write_text("[]")
    with pytest.raises(ValueError, match="holds no results to go on from"):
        Record(file, {})


# ---- rivals --------------------------------------------------------------------------------------


def test_grids_are_the_papers():
    goal = Goal("german", "mistakes", 1.0)
    fogd = list(points_of(rivals.grid(goal, "fogd", 400, 1000)))
    assert {p["learning_rate"] / 400 for p in fogd} >= {2.0, 0.2, 0.02, 0.002, 0.0002}
    assert 1 / 128 in {p["gamma"] for p in fogd}
    rrf = list(points_of(rivals.grid(goal, "rrf", 100, 1000)))
    assert {p["gamma"] for p in rrf} == {2.0**k for k in (-8, -4, -2, 0, 2, 4, 8)}
    assert {round(p["learning_rate_gamma"], 9) for p in rrf} == {
        1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2,
    }  # fmt: skip
    penalties = {round(p["alpha"] * 100 * 1000, 9) for p in rrf}
    assert penalties == {2.0**k for k in range(-4, 17, 2)}
    assert len(rrf) == 2 * 7 * 7 * 11


def rival_on(toy, label, **more):
    """A rival's case on a toy's rows, with a grid of two points."""
    case = next(c for c in EXPERIMENTS["rivals"].cases if c.name == f"german/{label}")
    grid = {"gamma,learning_rate": ((1e-6, 1e-6), (0.5, 0.5))}
    rows = replace(toy.rows, scaling=None) if case.piped is None else toy.rows
    return replace(case, rows=rows, task=toy.task, metric=toy.metric,
                   search=Search(grid, share=0.5), here=True, **more)  # fmt: skip


@pytest.mark.parametrize("label", ["fogd, papers", "nogd, online", "rrf, online"])
def test_rivals_are_searched_once_and_the_best_is_kept(toys, tmp_path, monkeypatch, label):
    case = rival_on(toys[0], label)
    kept = Cache(tmp_path / "kept")
    (result,) = run_cases([case], cache=kept)
    assert result.case.parameters["gamma"] == result.case.parameters["learning_rate"] == 0.5
    assert len(result.values) == rivals.N_RUNS
    monkeypatch.setattr("papers.runner.measure", lambda *_: pytest.fail("again"))
    assert run_cases([case], cache=kept)[0].values == result.values


def test_a_rival_that_diverges_loses(toys):
    case = rival_on(toys[2], "fogd, papers").at({"n_components": 5, "loss": "squared"})
    (point,) = cases_of_search(
        replace(case, search=Search({"learning_rate": (1e9,), "gamma": (1e-6,)}, share=1.0))
    )
    (result,) = run_cases([point])
    assert not result.failures
    assert result.mean == np.inf or result.mean > 1e3


def test_best_of():
    results = {
        "fogd, papers": {"values": [3.0, 5.0]},
        "nogd, papers": {"values": [4.5, 4.5]},
        "rrf, online": {"values": [1.0, 2.0]},
    }
    assert rivals.best_of(results) == ("rrf, online", 1.5)
    assert rivals.best_of(results, "papers") == ("fogd, papers", 4.0)
    assert rivals.best_of({}) is None


def test_stored_rivals_are_of_the_goals_and_whole():
    found = rivals.stored()
    assert set(found) == set(GOALS)
    names = {f"{rival}, {inputs}" for rival in rivals.RIVALS for inputs in rivals.INPUTS}
    for results in found.values():
        assert set(results) == names
        for result in results.values():
            assert len(result["values"]) == rivals.N_RUNS
            assert np.isfinite(result["values"]).all()
    assert not [case.name for case in EXPERIMENTS["rivals"].cases if case.here]


# ---- tables and the command ----------------------------------------------------------------------


def test_markdown_says_what_is_met():
    results = [
        outcome(Goal("german", "mistakes", 5.0, 9.0), 1000, (4.0, 4.5), (1.0, 1.0)),
        outcome(Goal("housing", "mse", 0.01), 500, (0.02, 0.02), (0.5, 0.5)),
    ]
    lines = GOALS_LAYOUT.markdown(results).splitlines()
    assert lines[2] == "| german | 1,000 | 4.25 ± 0.35 | 5 ✓ | 9 | nogd 26.33 | 1,000 |"
    assert lines[3].startswith("| housing | 500 | 0.02000 ± 0.00000 | **0.01 ✗** |  | fogd 0.0")
    text = summary(results)
    assert "at most what is asked for: 1 of 2" in text
    assert "below the papers' best: 1 of 1" in text
    assert "below the tuned rivals (rows as the default gets them): 1 of 2" in text


def asked(tmp_path, *more):
    kept = ["--cache", str(tmp_path / "kept")]
    return CliRunner().invoke(app, ["default", "--runs", "1", *kept, *more])


@pytest.mark.slow
def test_command(toys, tmp_path):
    shown = asked(tmp_path, "--data", "two")
    assert shown.exit_code == 0, shown.stderr
    assert "two" in shown.stdout
    assert "minutes" not in shown.stdout.replace("in minutes", "")
    page = asked(tmp_path, "--markdown")
    assert "| minutes | 300 |" in page.stdout
    assert len(list((tmp_path / "kept").iterdir())) == 3


def test_command_without_the_data(toys, tmp_path):
    Path(tmp_path / "two.parquet").unlink()
    some = asked(tmp_path, "--markdown")
    assert some.exit_code == 0
    assert "Left out: data set 'two' is not on this machine" in some.stdout
    none = asked(tmp_path, "--data", "two")
    assert none.exit_code == 2
    assert "none of the data sets asked for is on this machine" in none.stderr


def test_rivals_are_run_at_what_was_found(real_data, tmp_path):
    asked = ["rivals", "--data", "german", "--runs", "1"]
    shown = CliRunner().invoke(app, [*asked, "--cache", str(tmp_path), "--markdown"])
    assert shown.exit_code == 0, shown.stderr
    (row,) = [line for line in shown.stdout.splitlines() if "| nogd, online |" in line]
    value = float(row.split(" | ")[3])
    assert value == pytest.approx(rivals.stored()["german"]["nogd, online"]["values"][0])
