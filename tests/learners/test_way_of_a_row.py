"""A reader who follows ``partial_fit`` to the compiled loop passes few functions and files."""

from __future__ import annotations

import gc
import os
import sys

import numpy as np
import pytest

import onkel

ROOT = os.path.dirname(onkel.__file__)


def way_of(call):
    """Python functions of onkel that ``call`` enters, their files, and the largest depth."""
    calls, files, depth, deepest = 0, set(), 0, 0

    def note(frame, event, _):
        nonlocal calls, depth, deepest
        file = frame.f_code.co_filename
        if not file.startswith(ROOT):
            return
        if event == "call":
            calls, depth = calls + 1, depth + 1
            deepest = max(deepest, depth)
            files.add(file)
        elif event == "return":
            depth -= 1

    before = sys.getprofile()
    gc.collect()
    gc.disable()  # what earlier tests left would be finalized on the way
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
        gc.enable()
    return calls, len(files), deepest


@pytest.mark.parametrize(
    ("name", "most"), [("fogd", (45, 12, 13)), ("okl", (200, 36, 22))], ids=["fogd", "okl"]
)
def test_a_block_of_100_rows_passes_few_functions(name, most):
    rng = np.random.default_rng(0)
    n = 20_000 if name == "okl" else 1000
    X = rng.normal(size=(n, 6))
    y = (X[:, 0] > 0).astype(int)
    model = onkel.make(name, n_components=50).partial_fit(X, y).partial_fit(X[:100], y[:100])
    way = way_of(lambda: model.partial_fit(X[:100], y[:100]))
    assert all(a <= b for a, b in zip(way, most, strict=True)), (way, most)
