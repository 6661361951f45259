"""The example of keyed models on Spark: the JVM is halted, and the answers are those without."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.slow
_EXAMPLE = Path(__file__).parents[2] / "examples" / "spark" / "keyed_models.py"


def _run(rows, out, *more):
    command = [sys.executable, str(_EXAMPLE), str(rows), str(out), *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def test_a_halted_jvm_changes_no_answer(tmp_path):
    pytest.importorskip("pyspark", "4.0", reason="pyspark is large: pip install 'pyspark>=4'")
    rng = np.random.default_rng(0)
    rows = tmp_path / "rows"
    rows.mkdir()
    for k in range(5):
        a, b = rng.uniform(-1, 1, (2, 60))
        ids = np.arange(60) + 60 * k
        keys = [f"k{t % 4}" for t in ids]
        table = pa.table({"key": keys, "id": ids, "a": a, "b": b, "y": a * b})
        pq.write_table(table, rows / f"{k}.parquet")
    halted = _run(rows, tmp_path / "crash", "--halt-at", "3")
    assert halted.returncode != 0
    answered = {path.name for path in (tmp_path / "crash" / "answers").iterdir()}
    assert answered == {"batch=0", "batch=1", "batch=2"}
    found = {}
    for name in ("crash", "calm"):
        run = _run(rows, tmp_path / name)
        assert run.returncode == 0, run.stderr[-3000:]
        table = pq.read_table(tmp_path / name / "answers").sort_by("id")
        found[name] = table.select(["key", "id", "prediction"])
    assert found["crash"]["id"].to_pylist() == list(range(300))
    assert found["crash"].equals(found["calm"])
    assert np.ptp(found["calm"]["prediction"].to_numpy()[200:]) > 0.1
