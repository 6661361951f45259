"""Checks of the saved matrices of exact least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.state import Array, check, require

# The largest number in a loaded state, and the relative difference allowed between its matrices.
_MOST, _ROUNDING = 1e150, 1e-5


def check_matrices(state: dict[str, Any], m: int, K: int, period: int, lead: np.ndarray) -> None:
    """Raise a ModelFileError unless the matrices are valid and belong together.

    There are m features, K outputs and ``period`` rows from anchor to anchor. A factor is that of
    R + ``lead`` (m, m).
    """
    shapes: dict[str, tuple[int | str, ...]] = {
        "R": (m, m), "C": (m, m), "b": (m, K), "w0": (m, K), "z_sum": (m,), "noise": (2,),
        "U": (m, "rows"), "L": ("rows", "rows"), "v": ("rows", K),
    }  # fmt: skip
    rows = check(state, {n: Array(shape=s, low=-_MOST, high=_MOST) for n, s in shapes.items()})
    most = period - 1
    require(rows["rows"] <= most, f"U: holds {rows['rows']} rows since the anchor, not {most}")
    require((state["noise"] >= 0.0).all(), "noise: holds numbers below 0")
    C, U, L = (np.asarray(state[name]) for name in "CUL")
    require((C.diagonal() > 0.0).all(), "C: is no factor; its diagonal must be above 0")
    require((L.diagonal() > 0.0).all(), "L: is no factor; its diagonal must be above 0")
    _require_equal("L", L @ L.T, U.T @ U + np.eye(len(L)))
    factored = np.triu(C).T @ (np.triu(C) + U @ (U.T @ np.triu(C)))
    _require_equal("C", np.triu(factored), np.triu(state["R"] + lead))


def _require_equal(name: str, found: np.ndarray, wanted: np.ndarray) -> None:
    """Raise a ModelFileError if two matrices differ by more than rounding."""
    largest = np.abs(wanted).max(initial=0.0)
    near = np.abs(found - wanted).max(initial=0.0) <= _ROUNDING * largest
    require(near, f"{name}: is not the factor of the matrix that is saved with it")
