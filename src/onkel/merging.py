"""Merging models learned apart: what must agree, and how their sums add up.

A merge is three-way, as in version control. Models a and b continue from a common origin o, and a
becomes a + b - o, so that rows of the origin count once. With forgetting, sums fade with every row:
b's rows are taken to follow a's, so what a learned fades by the number of b's rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from onkel.errors import MergeError


def require_same(what: str, mine: object, other: object) -> None:
    """Raise a MergeError that names the first difference between two states called ``what``."""
    if isinstance(mine, Mapping) and isinstance(other, Mapping):
        for name in {**mine, **other}:
            require_same(f"{what}: {name}", mine.get(name), other.get(name))
        return
    if isinstance(mine, np.ndarray) or isinstance(other, np.ndarray):
        if not np.array_equal(np.asarray(mine), np.asarray(other)):
            raise differ(what, _array(mine), _array(other))
    elif mine != other:
        raise differ(what, mine, other)


def differ(what: str, mine: object, other: object) -> MergeError:
    """The error for models that differ in ``what``."""
    return MergeError(
        f"the models cannot be merged, as they differ in {what}: {_short(mine)} in one and "
        f"{_short(other)} in the other. Fix the map on a sample (fix_map), and let every part "
        "learn with a copy of that model"
    )


def joined(sums: Iterable[Any], kept: float = 1.0) -> Any:
    """Sums a + b - o, given (a, b, o); ``kept``: the share of a - o left after b's rows."""
    mine, other, origin = sums
    return other + kept * (mine - origin)


def _array(value: object) -> str:
    if not isinstance(value, np.ndarray):
        return "nothing" if value is None else str(value)
    if value.size <= 8:
        return str(value.tolist())
    return f"numbers of shape {value.shape} that begin with {value.flat[0]}"


def _short(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 120 else text[:117] + "..."
