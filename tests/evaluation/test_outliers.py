"""A message names a target that is far from all others."""

from __future__ import annotations

import re

import numpy as np
import pytest
from typer.testing import CliRunner

from onkel.cli import app
from onkel.evaluation import PrequentialRun
from onkel.evaluation.outliers import Extremes
from onkel.learners import PARegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 2))
Y = np.sin(X[:, 0]) + 0.5 * X[:, 1]


def strange(y, block=100):
    run = PrequentialRun(PARegressor(dtype="float64"))
    for a in range(0, len(y), block):
        end = min(a + block, len(y))
        run.step((X[a:end], y[a:end]))
    return run.strange_target()


@pytest.mark.parametrize("row", [0, 5, 599])
@pytest.mark.parametrize("target", [-99_999.0, 9.96921e36, -1e100])
@pytest.mark.parametrize("block", [1, 100, 600])
def test_the_strangest_target_is_found_with_its_row(row, target, block):
    y = Y.copy()
    y[row] = target
    y[300] = 5_000.0
    assert strange(y, block) == (row + 1, target)


@pytest.mark.parametrize("y", [
    Y, 1e6 + Y, np.exp(3.0 * X[:, 0]), np.zeros(600), np.arange(600.0), Y[:10],
    np.where(np.arange(600) == 3, 1.0, 0.0),
])  # fmt: skip
def test_usual_targets_are_not_strange(y):
    assert strange(y) is None


@pytest.mark.parametrize(("unit", "lost"), [(1e-200, True), (-1e-160, True), (1e-100, False)])
def test_targets_whose_squares_are_lost_are_told(tmp_path, unit, lost):
    path = tmp_path / "rows.csv"
    lines = [f"{a:.4f},{unit * y:.4e}" for (a, _), y in zip(X.tolist(), Y.tolist(), strict=True)]
    path.write_text("\n".join(["a,y", *lines, ""]))
    output = CliRunner().invoke(app, ["learn", str(path), "-t", "y", "-a", "krls"])
    assert output.exit_code == 0
    assert ("multiply the target by a power of ten" in " ".join(output.stderr.split())) == lost


def test_extremes_are_those_of_all_blocks():
    rng = np.random.default_rng(1)
    extremes = Extremes()
    y = rng.normal(size=500)
    for a in range(0, 500, 37):
        extremes.add(y[a : a + 37], a)
    assert extremes._found == [(int(y.argmin()) + 1, y.min()), (int(y.argmax()) + 1, y.max())]


@pytest.mark.parametrize(("target", "text"), [(-99_999, "-99999"), (1e100, "1e+100")])
def test_onkel_learn_says_how_to_leave_it_out(tmp_path, target, text):
    path = tmp_path / "rows.csv"
    lines = [f"{a:.4f},{b:.4f},{y:.4f}" for (a, b), y in zip(X.tolist(), Y.tolist(), strict=True)]
    lines[0] = f"0,0,{text}"
    path.write_text("\n".join(["a,b,y", *lines, ""]))
    command = ["learn", str(path), "-t", "y", "-a", "krls"]
    output = CliRunner().invoke(app, command)
    said = " ".join(output.stderr.split())
    assert f"the target of row 1 is {text}, a thousand times farther off" in said
    r2 = re.search(r"R² +(\S+)", output.stdout)
    assert r2 is not None
    assert len(r2[1]) < 12
    again = CliRunner().invoke(app, [*command, f"--na-values={text}"])
    assert again.exit_code == 0
    assert "farther off" not in again.stderr
    assert "skipped, as the target is missing: 1 row" in again.stderr
