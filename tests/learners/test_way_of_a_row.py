"""A reader who follows ``partial_fit`` to the compiled loop passes few functions and files."""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import onkel

ROOT = os.path.dirname(onkel.__file__)
TOOLS = os.path.join(ROOT, "numerics")


def way_of(call):
    """How many Python functions of onkel ``call`` enters, in how many files, and how deep.

    Last, how often one file is entered from another, at most: on a way down, and in all (but for
    the tools of ``numerics``, which call nothing else).
    """
    calls, files, stack = 0, set(), [""]
    deepest, most = 0, 0
    entered = Counter()

    def note(frame, event, _):
        nonlocal calls, deepest, most
        file = frame.f_code.co_filename
        if not file.startswith(ROOT):
            return
        if event == "call":
            calls += 1
            files.add(file)
            entered[file] += file != stack[-1] and TOOLS not in file
            stack.append(file)
            deepest = max(deepest, len(stack) - 1)
            came = Counter(b for a, b in pairwise(stack) if a != b)
            most = max(most, came.most_common(1)[0][1])
        elif event == "return":
            stack.pop()

    before = sys.getprofile()
    gc.collect()
    gc.disable()  # what earlier tests left would be finalized on the way
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
        gc.enable()
    return calls, len(files), deepest, most, max(entered.values())


MOST = {
    "fogd": (38, 12, 12, 2, 2),
    "okl": (180, 36, 19, 2, 2),
    "krls": (74, 18, 17, 2, 2),
    "pa": (38, 13, 13, 2, 2),
    "bogd": (60, 17, 14, 2, 3),
}


@pytest.mark.parametrize(("name", "most"), MOST.items(), ids=MOST)
def test_a_block_of_100_rows_passes_few_functions(name, most):
    rng = np.random.default_rng(0)
    n = 20_000 if name == "okl" else 1000
    X = rng.normal(size=(n, 6))
    y = (X[:, 0] > 0).astype(int)
    size = {"n_components": 50} if name in ("fogd", "okl") else {}
    model = onkel.make(name, **size).partial_fit(X, y).partial_fit(X[:100], y[:100])
    with threadpool_limits(1):
        way = way_of(lambda: model.partial_fit(X[:100], y[:100]))
    assert all(a <= b for a, b in zip(way, most, strict=True)), (way, most)
