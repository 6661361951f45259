"""Learners whose model file hangs on the rows alone, not on how they are cut into blocks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import onkel

_SAME = [
    ("pa", "classification"), ("pa", "regression"), ("adagrad", "classification"),
    ("adagrad", "regression"), ("tvm", "classification"),
]  # fmt: skip
_FIRST, _ROWS = 200, 400


def _table(task):
    """Messy rows; the first 200 show each column's gaps and categories."""
    rng = np.random.default_rng(3)
    rows = [
        {
            "a": float(rng.normal()),
            "b": None if t % 20 == 7 else float(10.0 * rng.normal()),
            "c": float(rng.integers(0, 5)),
            "t": None if t % 23 == 5 else "xyz"[rng.integers(0, 3)],
        }
        for t in range(_ROWS)
    ]
    values = [row["a"] + 0.1 * (row["b"] or 0.0) + (row["t"] == "x") for row in rows]
    return rows, values if task == "regression" else [["no", "yes"][v > 0.5] for v in values]


@pytest.mark.parametrize(("name", "task"), _SAME)
def test_blocks_cuts_and_single_rows_write_the_same_file(name, task):
    rows, y = _table(task)
    cuts = np.cumsum(np.random.default_rng(1).integers(1, 40, _ROWS))
    ways = [
        [],
        [300],
        [_FIRST + int(c) for c in cuts if _FIRST + c < _ROWS],
        range(_FIRST + 1, _ROWS),
    ]
    files = set()
    for way in ways:
        model = onkel.StreamModel(onkel.make(name, task=task))
        ends = [0, _FIRST, *way, _ROWS]
        for start, end in pairwise(ends):
            model.partial_fit(rows[start:end], y[start:end])
        files.add(model.to_bytes())
    assert len(files) == 1
