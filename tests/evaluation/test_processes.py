"""Runs divided among processes: the same results, in the same order."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from sklearn.linear_model import SGDClassifier

import onkel
from onkel.errors import DataError
from onkel.evaluation.processes import in_processes, jobs_for
from onkel.evaluation.search import race
from onkel.numerics.threads import n_cores

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.fixture(scope="module", autouse=True)
def no_process_left():
    """End all workers: later tests need new processes that see their environment."""
    yield
    get_reusable_executor().shutdown()


def test_processes_learn_the_same(rows):
    learners = {"fogd": "fogd:n_components=20", "sgd": SGDClassifier(random_state=0), "pa": "pa"}
    alone, apart = (onkel.compare(learners, rows, runs=2, jobs=jobs) for jobs in (1, 2))
    assert [r.name for r in apart.results] == ["fogd", "fogd", "sgd", "sgd", "pa", "pa"]
    for one, other in zip(alone.results, apart.results, strict=True):
        assert (one.name, one.value, one.n_rows) == (other.name, other.value, 600)
        assert one.settings["seed of the run"] == other.settings["seed of the run"]


def test_an_error_names_the_learner(rows):
    X, y = rows
    with pytest.raises(DataError, match=r"^(pa|fogd), row \d+, column \d: .*too large"):
        onkel.compare(["pa", "fogd"], (np.where(X > 2.5, 1e200, X), y), runs=1, jobs=2)


def test_a_race_in_processes_has_the_same_winner():
    points = [{"x": x} for x in (5, 3, 8, -3, 4, 3)]

    def value(point, most):
        return float(abs(point["x"])) if abs(point["x"]) <= most else np.inf

    assert race(points, value, jobs=2) == race(points, value) == ({"x": 3}, 3.0)


def test_one_process_a_core_where_it_is_worth_it():
    assert (jobs_for(1000, None), jobs_for(1000, 3), jobs_for(10**7, None)) == (1, 3, n_cores())
    with pytest.raises(ValueError, match="at least 1"):
        jobs_for(1000, 0)


def test_each_has_one_thread():
    def threads():
        from threadpoolctl import threadpool_info

        np.ones((9, 9)) @ np.ones((9, 9))
        return {lib["num_threads"] for lib in threadpool_info()}

    assert dict(in_processes([threads, threads], 2)) == {0: {1}, 1: {1}}


INTERRUPTED = """
import os, signal, sys
import rich.progress

def track(made, *about, **how):
    for number, one in enumerate(made):
        yield one
        if number == 2:
            os.killpg(0, signal.SIGINT)  # as a terminal does: all processes get it

rich.progress.track = track
from onkel.cli import app
app(["compare", sys.argv[1], "--target", "y", "--jobs", "2", "-a", "pa", "--runs", "500"])
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_ctrl_c_keeps_the_runs_that_are_finished(rows, tmp_path):
    path = tmp_path / "rows.csv"
    X, y = rows
    lines = [f"{a},{b},{label}" for (a, b, _), label in zip(X, y, strict=True)]
    path.write_text("\n".join(["a,b,y", *lines]))
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(path)],
        capture_output=True, text=True, start_new_session=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 130, done.stderr
    assert "interrupted: 3 of 500 runs are finished, and shown" in done.stderr
    assert "Traceback" not in done.stderr
    assert "pa (linear)" in done.stdout
