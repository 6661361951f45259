"""The page docs/guide/export.md runs unchanged."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "export.md"

# What the page does not show: the graph of a user's own part.
CHECK = """
found = onnxruntime.InferenceSession("own.onnx").run(["decision"], {"X": X})[0]
assert np.allclose(found, own.decision_function(X))
"""


@pytest.mark.slow
@pytest.mark.compiled
def test_the_page_runs(tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) == 3
    (tmp_path / "page.py").write_text("\n".join([*blocks, CHECK]), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    assert {"model.onnx", "flights.onnx", "own.onnx"} <= {path.name for path in tmp_path.iterdir()}
