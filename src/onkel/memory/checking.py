"""Checks that a saved state can be that of a memory: the loops themselves check no index."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.state import Array, Field, check


def check_like(
    state: dict[str, Any], begun: dict[str, Any], indices: dict[str, tuple[int, int]]
) -> None:
    """ModelFileError where an array differs in type or shape from that of a memory just begun.

    ``indices`` gives the range of the arrays that are used as indices.
    """
    fields: dict[str, Field] = {}
    for name, value in begun.items():
        if isinstance(value, np.ndarray):
            whole = value.dtype.kind == "i"
            low, high = indices.get(name, (0, 2**62) if whole else (-np.inf, np.inf))
            fields[name] = Array(dtype=value.dtype, shape=value.shape, low=low, high=high)
    check(state, fields)
