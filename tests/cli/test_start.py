"""What a short command loads and compiles."""

from __future__ import annotations

import json
import subprocess
import sys

import numba
import numpy as np
import pytest
from typer.testing import CliRunner

from onkel.cli import app
from onkel.pipeline.block_model import BlockModel


def python(code, *args):
    done = subprocess.run([sys.executable, "-c", code, *map(str, args)], check=False, text=True,
                          capture_output=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)).round(4)
    lines = [f"{a},{b},{'ud'[int(a * b > 0)]}" for a, b in X]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    return tmp_path / "rows.csv"


def test_each_row_is_learned_once(rows, monkeypatch):
    """No copy of the model learns the first block to warm up: that took half of the time."""
    learned, real = [], BlockModel.predictions_then_learn

    def count(self, block, source=None):
        learned.append(block.n_rows)
        return real(self, block, source)

    monkeypatch.setattr(BlockModel, "predictions_then_learn", count)
    done = CliRunner().invoke(app, ["learn", str(rows), "-t", "y", "-a", "pa", "--json"])
    assert done.exit_code == 0, done.stderr
    assert sum(learned) == 300
    assert json.loads(done.stdout)["learn_seconds"] > 0


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_cells_compile_no_functions_of_text():
    """Numba compiles seconds of them for the error of a slice that is scaled."""
    output = python("""if True:
        import numba, numpy as np
        from numba.core import event
        from onkel.default.cells import N_SUMS, _forget

        with event.install_recorder("numba:compile") as recorder:
            numba.njit(_forget.py_func)(np.ones((2, 1)), np.ones(2), 1.0, 0.9, np.ones(N_SUMS))
        starts = [e for _, e in recorder.buffer if e.is_start]
        print(*{e.data["dispatcher"].py_func.__module__ for e in starts})
    """)
    assert output.split() == ["onkel.default.cells"]
