"""The experiments: the table, the runner, the search, the command."""

from __future__ import annotations

import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from onkel import datasets, make
from onkel.algorithms import ALGORITHMS
from onkel.experiments import EXPERIMENTS, PAPERS, Cell, Experiment, Result, find, run, search
from onkel.experiments import __main__ as command
from onkel.experiments.published import cell
from onkel.experiments.runner import order
from onkel.experiments.table import markdown

# every learner of these tables, on these data sets
ASKED = {
    5: ("german", "spambase", "w7a", "a9a", "ijcnn1"),
    7: ("dna", "satimage", "usps", "letter"),
    9: ("housing", "mg", "abalone", "cpusmall", "cadata", "casp"),
}
CLASSIFIERS = [
    "perceptron", "ogd", "rbp", "forgetron", "projectron", "projectron++", "bpa-s", "bogd",
]  # fmt: skip


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The german set's place taken by 60 rows that a circle divides."""
    monkeypatch.setenv("ONKEL_DATA", str(tmp_path))
    entry = datasets.info("german")
    X = np.random.default_rng(0).standard_normal((60, entry.n_features)).astype(np.float32)
    y = np.where((X[:, :2] ** 2).sum(axis=1) > 1.4, 1, -1)
    columns = {f"f{j}": X[:, j] for j in range(entry.n_features)}
    pq.write_table(pa.table({**columns, "y": y}), tmp_path / "german.parquet")
    from onkel.experiments.runner import _load

    _load.cache_clear()
    yield Experiment(
        "toy",
        "lsokl",
        5,
        "german",
        "fogd",
        "binary",
        {"n_components": 20, "gamma": 0.1},
        "mistakes",
        n_runs=3,
        grid={"learning_rate": (0.1, 1.0), "gamma": (0.01, 0.1)},
    )
    _load.cache_clear()


# ---- the table -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_entries_are_whole(name):
    e = EXPERIMENTS[name]
    assert e.name == name
    assert e.paper in PAPERS or e.paper == "linear"
    assert e.task == datasets.info(e.dataset).task
    assert e.task in ALGORITHMS[e.algorithm].tasks
    assert e.metric == ("mse" if e.task == "regression" else "mistakes")
    assert e.published == cell(e.paper, e.table, e.dataset, e.algorithm) or e.published is None
    assert e.step in ("authors", "search", "prior", "default")
    assert e.n_runs in (3, 5, 10, 20)
    make(e.algorithm, "regression" if e.task == "regression" else "classification", **e.parameters)


@pytest.mark.parametrize("name", [n for n, e in EXPERIMENTS.items() if e.grid])
def test_searched_parameters_are_on_their_grid(name):
    e = EXPERIMENTS[name]
    for parameter, values in e.grid.items():
        assert e.parameters[parameter] in values


@pytest.mark.parametrize(("table", "names"), ASKED.items())
def test_what_was_asked_for_is_there(table, names):
    learners = {5: 10, 7: 10, 9: 9}[table]
    for dataset in names:
        there = [e for e in find([f"lsokl-{table}-{dataset}-*"]) if "full-rank" not in e.name]
        assert all(entry.published is not None for entry in there)
        assert len(there) == (learners if dataset != "casp" else 6)


def test_rrf_and_what_it_is_compared_with():
    entries = [e for e in find(["rrf-1-ijcnn1-*"]) if e.published is not None]
    assert len(entries) == 13


def test_every_data_set_has_a_linear_row():
    linear = {e.dataset for e in EXPERIMENTS.values() if ALGORITHMS[e.algorithm].linear}
    assert linear == {e.dataset for e in EXPERIMENTS.values()}


def test_find():
    assert find() == list(EXPERIMENTS.values())
    assert [e.name for e in find(["lsokl-9-mg-[fn]ogd"])] == ["lsokl-9-mg-fogd", "lsokl-9-mg-nogd"]
    assert [e.dataset for e in find(["cadata"])] == ["cadata"] * 10
    with pytest.raises(ValueError, match="no experiment matches 'nothing'"):
        find(["nothing"])


# ---- verdicts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "published", "limit", "comparable", "verdict"),
    [
        (10.0, Cell(9.5, 0.25), None, True, "met"),
        (9.1, Cell(9.5, 0.25), None, True, "met"),
        (10.1, Cell(9.5, 0.25), None, True, "not met"),
        (8.9, Cell(9.5, 0.25), None, True, "better"),
        (math.nan, Cell(9.5, 0.25), None, True, "not met"),
        (math.inf, Cell(9.5, 0.25), None, True, "not met"),
        (10.0, Cell(9.5, 0.25), None, False, "rows differ"),
        (10.0, Cell(9.5, 0.25), 10.0, False, "within 10"),
        (10.1, Cell(9.5, 0.25), 10.0, False, "over 10"),
        (math.nan, None, 10.0, True, "over 10"),
        (10.0, None, None, True, "reference"),
    ],
)
def test_verdict(toy, value, published, limit, comparable, verdict):
    from dataclasses import replace

    entry = replace(toy, published=published, limit=limit)
    result = Result(
        experiment=entry,
        values=(value, value),
        seconds=(1.0, 1.0),
        n_rows=60,
        comparable=comparable,
    )
    assert result.verdict == verdict
    assert result.failed == (verdict in ("not met", "over 10"))


# ---- the runner ----------------------------------------------------------------------------------


def test_orders_are_seeded_and_differ():
    assert sorted(order(50, 0)) == list(range(50))
    np.testing.assert_array_equal(order(50, 0), order(50, 0))
    assert not np.array_equal(order(50, 0), order(50, 1))
    assert not np.array_equal(order(50, 0), order(50, 0, seed=2016))


def test_run(toy):
    seen = []
    result = run(toy, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert len(result.values) == len(result.seconds) == 3
    assert result.n_rows == 60
    assert not result.comparable
    assert run(toy).values == result.values
    assert run(toy, n_runs=2).values == result.values[:2]
    assert 0 < result.mean < 60
    assert result.std == pytest.approx(np.std(result.values, ddof=1))
    assert run(toy, n_runs=1).std == 0.0
    json.dumps(result.to_dict())


def test_run_refuses_no_runs(toy):
    with pytest.raises(ValueError, match="n_runs=0 must be at least 1"):
        run(toy, n_runs=0)


def test_run_is_the_learner(toy):
    data = datasets.load("german", dtype="float32")
    rows = order(60, 0)
    model = make("fogd", n_components=20, gamma=0.1, random_state=0)
    predicted = model.predict_then_learn(data.X[rows], data.y[rows], classes=[-1, 1])
    assert run(toy, n_runs=1).values[0] == pytest.approx(100 * np.mean(predicted != data.y[rows]))


def test_search(toy):
    trials = search(toy, n_runs=2)
    assert len(trials) == 4
    assert [t.value for t in trials] == sorted(t.value for t in trials)
    assert {tuple(t.parameters.values()) for t in trials} == {
        (0.1, 0.01),
        (0.1, 0.1),
        (1.0, 0.01),
        (1.0, 0.1),
    }


def test_search_without_a_grid(toy):
    from dataclasses import replace

    with pytest.raises(ValueError, match="'toy' has no grid to search"):
        search(replace(toy, grid={}))


def test_a_learner_that_diverges_comes_last(real_data):
    from dataclasses import replace

    entry = replace(EXPERIMENTS["lsokl-9-housing-nogd"], grid={"learning_rate": (50.0, 0.3)})
    best, worst = search(entry, n_runs=1)
    assert best.parameters == {"learning_rate": 0.3}
    assert best.value < 0.05 < worst.value


# ---- the papers' numbers -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "lsokl-5-german-fogd",
        "lsokl-5-german-forgetron",
        "lsokl-5-german-bogd",
        "lsokl-7-satimage-nogd",
        "lsokl-7-satimage-projectron++",
        "lsokl-7-dna-bpa-s",
        "lsokl-9-mg-nogd",
        "lsokl-9-mg-norma",
        "lsokl-9-abalone-fogd",
        "lsokl-9-abalone-rbp",
    ],
)
def test_published_numbers(real_data, name):
    assert run(EXPERIMENTS[name], n_runs=5).verdict in ("met", "better")


def test_rrf_on_ijcnn1(real_data):
    result = run(EXPERIMENTS["rrf-1-ijcnn1-rrf"], n_runs=2)
    assert result.comparable
    assert result.mean <= 3.7


# ---- the command ---------------------------------------------------------------------------------


@pytest.fixture
def call():
    import typer

    app = typer.Typer()
    app.command()(command.experiments)
    return lambda *arguments: CliRunner().invoke(app, arguments)


def test_list(call):
    assert call("--list").output.split() == list(EXPERIMENTS)
    assert call("--list", "mg-nogd").output.split() == ["lsokl-9-mg-nogd"]


def test_table_and_json(real_data, call, tmp_path):
    out = tmp_path / "out.json"
    answer = call("lsokl-9-mg-nogd", "linear-mg-pa", "--runs", "2", "--json", str(out))
    assert answer.exit_code == 0
    assert "0.05356 ± 0.00076" in answer.output
    (nogd, pa_row) = json.loads(out.read_text())["results"]
    assert len(nogd["values"]) == 2
    assert nogd["verdict"] == "met"
    assert pa_row["verdict"] == "reference"


def test_markdown(real_data, call):
    answer = call("german", "--runs", "1", "--markdown")
    lines = answer.output.splitlines()
    assert lines[0] == "# The papers' numbers, repeated"
    assert "## LSOKL Table 5: mistakes, %" in lines
    rows = [line.split(" | ") for line in lines if line.startswith("| german")]
    assert [row[2] for row in rows] == [*CLASSIFIERS, "fogd", "nogd", "pa"]
    assert {len(row) for row in rows} == {9}


def test_markdown_shows_the_note(toy):
    from dataclasses import replace

    entry = replace(toy, note="what was tried", published=Cell(1.0, 0.1))
    told = {"values": (5.0,), "seconds": (0.1,), "n_rows": 60, "comparable": True}
    text = markdown([Result(experiment=entry, **told)])
    assert "- *german, fogd*: what was tried" in text
    assert "**not met**" in text


def test_search_command(toy, call, monkeypatch):
    monkeypatch.setattr(command, "find", lambda names: [toy])
    answer = call("--search", "--runs", "1")
    assert answer.exit_code == 0
    assert answer.output.splitlines()[0].startswith("toy: search")
    assert len(answer.output.splitlines()) == 5


def test_errors(call, tmp_path, monkeypatch):
    monkeypatch.setenv("ONKEL_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert call("nothing").exit_code == 2
    absent = call("lsokl-9-housing-nogd")
    assert absent.exit_code == 2
    assert "onkel datasets fetch housing" in absent.output
