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
from onkel.cli.later import import_later
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


MAIN = (
    "import sys; from onkel.cli import main\ntry: main()\nexcept SystemExit as e: assert not e.code"
)


def test_statistics_of_scipy_are_not_loaded_to_learn(rows, tmp_path):
    """scikit-learn imports them; that takes a fifth of the time of all imports."""
    told = python(f"{MAIN}\nprint('scipy.stats._stats_py' in sys.modules)", "learn", rows, "-t",
                  "y", "-a", "pa", "-o", tmp_path / "m.onkel")  # fmt: skip
    assert told.splitlines()[-1] == "False"


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


def test_a_module_is_loaded_when_something_of_it_is_asked_for():
    told = python("""if True:
        import sys
        from onkel.cli.later import import_later
        import_later("wave")
        import wave
        held = wave
        assert "audioop" not in dir(wave)
        print(wave.Error.__name__, sys.modules["wave"] is held, held.open.__name__)
        from wave import Wave_read
        print(Wave_read.__name__)
    """)
    assert told.split() == ["Error", "False", "open", "Wave_read"]
    before = sys.modules["json"]
    import_later("json")
    assert sys.modules["json"] is before


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_cells_compile_no_functions_of_text():
    """Numba compiles seconds of them for the error of a slice that is scaled."""
    told = python("""if True:
        import numba, numpy as np
        from numba.core import event
        from onkel.default.cells import N_SUMS, _forget

        with event.install_recorder("numba:compile") as recorder:
            numba.njit(_forget.py_func)(np.ones((2, 1)), np.ones(2), 1.0, 0.9, np.ones(N_SUMS))
        starts = [e for _, e in recorder.buffer if e.is_start]
        print(*{e.data["dispatcher"].py_func.__module__ for e in starts})
    """)
    assert told.split() == ["onkel.default.cells"]
