"""The default learner's protocol: one call for all data, runs that go on, the table, the rivals."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from onkel import StreamModel, algorithms, prequential
from onkel.cli.app import app
from onkel.datasets.registry import DATASETS, Entry
from onkel.experiments.data import order
from onkel.experiments.own import default, goal_tables, goals, rivals
from onkel.experiments.own.goals import GOALS, Goal, find_goals
from onkel.experiments.records import Record
from onkel.streams import Block

N = 300


def outcome(goal, n_rows, values, seconds):
    return default.Outcome(goal=goal, n_rows=n_rows, values=values, seconds=seconds)


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
    made = tuple(Goal(name, metric, 1.0, 2.0) for name, metric in metrics.items())
    monkeypatch.setattr(goals, "_GOALS", made)
    monkeypatch.setattr(goals, "GOALS", {goal.dataset: goal for goal in made})
    return made


def test_goals_are_on_data_sets_that_there_are():
    assert len(GOALS) == 24
    for name, goal in GOALS.items():
        entry = DATASETS[name]
        assert (entry.task == "regression") == (goal.task == "regression")
        assert goal.target > 0


def test_unknown_goal_lists_what_there_is():
    with pytest.raises(ValueError, match=r"no goal is set for 'leter'; there is: german, .*letter"):
        find_goals(["leter"])
    assert [goal.dataset for goal in find_goals(["letter", "german"])] == ["german", "letter"]


# ---- one setting ---------------------------------------------------------------------------------


def test_the_same_call_for_all_data_sets(toys, monkeypatch):
    """Nothing but the task and the run's number reaches the learner, whatever the data set is."""
    made, models = [], []
    make = algorithms.make

    def spy_make(*args, **parameters):
        made.append((args, parameters))
        return make(*args, **parameters)

    class Spy(StreamModel):
        def __init__(self, *args, **parameters):
            models.append((type(args[0]), args[0].get_params(deep=False), args[1:], parameters))
            super().__init__(*args, **parameters)

    monkeypatch.setattr(algorithms, "make", spy_make)
    monkeypatch.setattr(default, "StreamModel", Spy)
    for goal in toys:
        default.measure(goal, Record(None, {}), 2)
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
    """No name of one in its source, and no place for a parameter in a goal."""
    source = inspect.getsource(default)
    assert not [name for name in DATASETS if f'"{name}"' in source]
    assert set(Goal.__dataclass_fields__) == {"dataset", "metric", "target", "published"}
    assert list(inspect.signature(default.learner).parameters) == ["task", "seed"]


def test_it_is_what_the_command_line_learns(toys, tmp_path):
    file = str(tmp_path / "two.parquet")
    arguments = ["learn", file, "--target", "y", "--task", "classification", "--json"]
    told = json.loads(CliRunner().invoke(app, arguments).stdout)
    X, y = toys[0].load()
    own = prequential(default.learner("classification", 0), (X, y))
    assert told["algorithm"] == algorithms.DEFAULT
    assert told["curve"][-1]["mistakes"] == own.value


# ---- values --------------------------------------------------------------------------------------


def test_metrics(toys):
    """Mistakes in percent, squared errors of a target in [0, 1], errors in the target's units."""
    finish = {
        "mistakes": lambda p, y: 100 * np.mean(p != y),
        "mse": lambda p, y: np.mean((p - y) ** 2),
        "rmse": lambda p, y: np.sqrt(np.mean((p - y) ** 2)),
    }
    for goal in toys:
        outcome = default.measure(goal, Record(None, {}), 2)
        X, y = goal.load()
        assert goal.metric != "mse" or (y.min(), y.max()) == (0, 1)
        for run, value in enumerate(outcome.values):
            rows = order(N, run)
            predicted = default.learner(goal.task, run).learn(Block(X[rows], y[rows], 0))
            assert value == pytest.approx(finish[goal.metric](predicted, y[rows]), rel=1e-6)
        assert outcome.n_rows == N
        assert len(outcome.seconds) == len(outcome.values) == 2
        assert outcome.std == pytest.approx(np.std(outcome.values, ddof=1))


def test_met_is_to_the_digit():
    goal = Goal("toy", "mistakes", 5.0)
    assert outcome(goal, 10, (4.0, 6.0), (1.0, 1.0)).met
    assert not outcome(goal, 10, (5.0, 5.001), (1.0, 1.0)).met


def test_wrong_number_of_runs(toys):
    with pytest.raises(ValueError, match="n_runs=0 must be at least 1"):
        default.measure(toys[0], Record(None, {}), 0)


# ---- records -------------------------------------------------------------------------------------


def test_an_interrupted_run_goes_on(toys, tmp_path, monkeypatch):
    file, whole = tmp_path / "runs" / "default.json", Record(None, {})
    default.measure(toys[0], whole, 3)
    steps = []

    def stop(done, of):
        steps.append((done, of))
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        default.measure(toys[0], Record(file, default.about()), 3, stop)
    again = Record(file, default.about())
    assert len(again.results["two"]["values"]) == 2
    outcome = default.measure(toys[0], again, 3, lambda done, of: steps.append((done, of)))
    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert list(outcome.values) == whole.results["two"]["values"]
    monkeypatch.setattr(Goal, "load", lambda self: pytest.fail("there is nothing left to run"))
    default.measure(toys[0], Record(file, default.about()), 3)
    assert [p.name for p in file.parent.iterdir()] == ["default.json"]


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
    fogd = list(rivals.grid(goal, "fogd", "papers", 1000))
    assert {p["learning_rate"] / 400 for p in fogd} >= {2.0, 0.2, 0.02, 0.002, 0.0002}
    assert 1 / 128 in {p["gamma"] for p in fogd}
    rrf = list(rivals.grid(goal, "rrf", "papers", 1000))
    assert {p["gamma"] for p in rrf} == {2.0**k for k in (-8, -4, -2, 0, 2, 4, 8)}
    assert {round(p["learning_rate_gamma"], 9) for p in rrf} == {
        1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2,
    }  # fmt: skip
    penalties = {round(p["alpha"] * 100 * 1000, 9) for p in rrf}
    assert penalties == {2.0**k for k in range(-4, 17, 2)}
    assert len(rrf) == 2 * 7 * 7 * 11


def test_rivals_are_searched_once_and_the_best_is_kept(toys, tmp_path, monkeypatch):
    def few(goal, rival, inputs, n_rows):
        yield {"gamma": 1e-6, "learning_rate": 1e-6}
        yield {"gamma": 0.5, "learning_rate": 0.5}

    monkeypatch.setattr(rivals, "grid", few)
    file = tmp_path / "rivals.json"
    record = Record(file, rivals.ABOUT)
    for goal in toys:
        rivals.measure_rivals(goal, record)
    found = Record(file, rivals.ABOUT).results
    assert set(found["two"]) == {f"{r}, {i}" for r in rivals.RIVALS for i in rivals.INPUTS}
    for results in found.values():
        for entry in results.values():
            assert entry["parameters"] == {"gamma": 0.5, "learning_rate": 0.5}
            assert len(entry["values"]) == rivals.N_RUNS
    monkeypatch.setattr(rivals, "search", lambda *_: pytest.fail("there is nothing left to do"))
    rivals.measure_rivals(toys[0], Record(file, rivals.ABOUT))
    assert "gamma = 0.5" in goal_tables.rivals_markdown(toys, found)


def test_a_rival_that_diverges_loses(toys):
    X, y = toys[2].load()
    point = {"learning_rate": 50.0, "gamma": 1e-6, "n_components": 5}
    assert rivals.learn(toys[2], "fogd", "papers", point, X, y, 0) == np.inf


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
    for dataset, results in found.items():
        goal = GOALS[dataset]
        assert set(results) == names
        for name, entry in results.items():
            rival, inputs = name.split(", ")
            assert len(entry["values"]) == rivals.N_RUNS
            assert np.isfinite(entry["values"]).all()
            assert entry["parameters"] in list(rivals.grid(goal, rival, inputs, entry["rows"]))


# ---- tables and the command ----------------------------------------------------------------------


def test_markdown_says_what_is_met():
    outcomes = [
        outcome(Goal("a", "mistakes", 5.0, 9.0), 1000, (4.0, 4.5), (1.0, 1.0)),
        outcome(Goal("b", "mse", 0.01), 500, (0.02, 0.02), (0.5, 0.5)),
    ]
    text = goal_tables.default_markdown(outcomes, {"a": {"nogd, papers": {"values": [4.2]}}})
    lines = text.splitlines()
    assert lines[2] == "| a | 1,000 | 4.25 ± 0.35 | 5 ✓ | 9 | nogd 4.2 | 1,000 |"
    assert lines[3] == "| b | 500 | 0.02000 ± 0.00000 | 0.01 ✗ |  |  | 1,000 |"
    assert "at most what is asked for: 1 of 2" in text
    assert "below the papers' best: 1 of 1" in text
    assert "below the tuned rivals (rows scaled as in the papers): 0 of 1" in text


def test_command(toys, tmp_path):
    file = tmp_path / "out.json"
    arguments = ["reproduce", "default", "--runs", "2", "--json", str(file)]
    shown = CliRunner().invoke(app, [*arguments, "--data", "two"])
    assert shown.exit_code == 0, shown.stderr
    assert "two" in shown.stdout
    assert "minutes" not in shown.stdout.replace("in minutes", "")
    assert len(json.loads(file.read_text())["results"]["two"]["values"]) == 2
    page = CliRunner().invoke(app, [*arguments, "--markdown"])
    assert "| minutes | 300 |" in page.stdout
    assert set(json.loads(file.read_text())["results"]) == {"two", "unit", "minutes"}


def test_command_without_the_data(toys, tmp_path):
    Path(tmp_path / "two.parquet").unlink()
    arguments = ["reproduce", "default", "--runs", "1"]
    some = CliRunner().invoke(app, [*arguments, "--markdown"])
    assert some.exit_code == 0
    assert "left out: data set 'two' is not on this machine" in some.stderr
    none = CliRunner().invoke(app, [*arguments, "--data", "two"])
    assert none.exit_code == 2
    assert "none of the data sets asked for is on this machine" in none.stderr


def test_stored_rivals_are_shown():
    shown = CliRunner().invoke(app, ["reproduce", "rivals", "--data", "german"])
    assert shown.exit_code == 0, shown.stderr
    assert "german" in shown.stdout
    assert "nogd" in shown.stdout
