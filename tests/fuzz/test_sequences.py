"""Sequences of calls and kills: a learner depends only on the rows it accepted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from tests.fuzz.conftest import SECONDS

from onkel import ALGORITHMS, load

pytestmark = pytest.mark.slow

CASES = [f"{name}:{task}" for name, row in ALGORITHMS.items() for task in row.tasks]
EACH = max(1, int(SECONDS * 4 / len(CASES)))
FIRST = int(os.environ.get("ONKEL_FUZZ_SEED", "0"))
# a run with its kill takes some seconds
KILLS = max(1, int(SECONDS / 12))
N_ROWS, EVERY = 60_000, 1024


@pytest.mark.compiled
def test_any_order_of_calls_gives_the_learner_of_the_accepted_rows(fuzz):
    lines = fuzz("sequences.py", FIRST, EACH, *CASES, seconds=SECONDS)
    assert lines[-1].startswith(f"DONE {EACH * len(CASES)}")
    assert [line for line in lines if line.startswith("FAILED")] == []


def _killed(command, seconds):
    """Run the command and kill it after some seconds."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, **quiet)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()


@pytest.mark.compiled
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_a_run_killed_at_any_time_resumes_to_the_model_of_a_whole_one(tmp_path):
    rng = np.random.default_rng(FIRST)
    X = rng.normal(size=(N_ROWS, 4)).round(4)
    data = np.column_stack([X, X[:, 0] * X[:, 1] > 0.0])
    rows = tmp_path / "rows.csv"
    np.savetxt(rows, data, delimiter=",", fmt="%g", header="a,b,c,d,y", comments="")
    learn = [sys.executable, "-m", "onkel", "learn", str(rows), "-t", "y", "-a", "fogd"]
    whole, resumed = tmp_path / "whole.onkel", tmp_path / "resumed.onkel"
    began = time.monotonic()
    subprocess.run([*learn, "--save", str(whole)], check=True, capture_output=True)
    took = time.monotonic() - began
    for kill in range(KILLS):
        point = tmp_path / f"point-{kill}.onkel"
        run = [*learn, "--checkpoint", str(point), "--checkpoint-every", str(EVERY)]
        run += ["--save", str(resumed)]
        # killed twice, at any point: starting, reading, learning or writing
        for _ in range(2):
            _killed([*run, *(["--resume"] if point.exists() else [])], took * rng.random())
        done = subprocess.run(
            [*run, *(["--resume"] if point.exists() else [])], capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        assert resumed.read_bytes() == whole.read_bytes()
        assert load(point).n_rows > 0
        resumed.unlink()
