"""Rows that wait for their labels, packed as JSON: see `Delayed.get_state`."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np
from scipy import sparse

from onkel.streams import Block

#: when the label comes, the number of the row, and the row
Waiting = tuple[float, int, Block]


def packed(waiting: list[Waiting]) -> dict[str, Any]:
    """Rows by column; features as the bytes of their numbers."""
    in_order = sorted(waiting, key=lambda one: one[:2])
    rows = [row for *_, row in in_order]
    return {
        "due": [due for due, *_ in in_order],
        "number": [number for _, number, _ in in_order],
        "start": [row.start for row in rows],
        "width": [row.X.shape[1] for row in rows],
        "X": None if not rows else _features(rows),
        "y": _values([row.y for row in rows]),
        "groups": _values([row.groups for row in rows]),
        "times": _values([row.times for row in rows]),
    }


def unpacked(state: dict[str, Any]) -> list[Waiting]:
    """The inverse of :func:`packed`, in the order of a heap.

    Raises
    ------
    KeyError, TypeError, ValueError, IndexError
        ``state`` is not what :func:`packed` returns.
    """
    number, width = state["number"], state["width"]
    columns = [_column(state[name], len(number)) for name in ("y", "groups", "times")]
    X = [] if not number else _rows(state["X"], width)
    rows = [
        Block(x, y, int(start), groups=group, times=time)
        for x, start, y, group, time in zip(X, state["start"], *columns, strict=True)
    ]
    if any(row.y is None for row in rows) or any(math.isnan(due) for due in state["due"]):
        raise ValueError("a row that waits has no label, or no time when it comes")
    return list(zip(map(float, state["due"]), map(int, number), rows, strict=True))


def _features(rows: list[Block]) -> dict[str, Any]:
    """All rows as arrays; rows that came before a new column did get zeros there."""
    most = max(row.X.shape[1] for row in rows)
    if not sparse.issparse(rows[0].X):
        X = np.concatenate([np.pad(row.X, ((0, 0), (0, most - row.X.shape[1]))) for row in rows])
        return {"dense": _bytes(X)}
    parts = [sparse.csr_array((row.X.data, row.X.indices, row.X.indptr), (1, most)) for row in rows]
    X = sparse.csr_array(sparse.vstack(parts))
    return {"data": _bytes(X.data), "indices": _bytes(X.indices), "indptr": _bytes(X.indptr)}


def _rows(state: dict[str, Any], width: list[int]) -> list[Any]:
    """Rows (1, d) as they were."""
    if "dense" in state:
        X = _array(state["dense"]).reshape(len(width), -1)
        return [np.ascontiguousarray(X[i : i + 1, :d]) for i, d in enumerate(width)]
    data, indices, indptr = (_array(state[name]) for name in ("data", "indices", "indptr"))
    X = sparse.csr_matrix((data, indices, indptr), (len(width), max(width)))
    X.check_format()
    return [X[i : i + 1, :d] for i, d in enumerate(width)]


def _bytes(values: np.ndarray) -> dict[str, str]:
    values = np.ascontiguousarray(values)
    return {"dtype": values.dtype.str, "bytes": base64.b64encode(values.tobytes()).decode("ascii")}


def _array(state: dict[str, str]) -> np.ndarray:
    dtype = np.dtype(state["dtype"])
    if dtype.kind not in "fi":
        raise ValueError(f"{dtype} is no type of numbers")
    return np.frombuffer(base64.b64decode(state["bytes"], validate=True), dtype)


def _values(arrays: list[Any]) -> Any:
    """One value of each row: text, numbers or booleans; None where rows have none."""
    if not arrays or arrays[0] is None:
        return None
    return [array[0].item() if isinstance(array[0], np.generic) else array[0] for array in arrays]


def _column(values: Any, n: int) -> list[Any]:
    """An array (1,) for each row."""
    return [None] * n if values is None else [np.array([value]) for value in values]
