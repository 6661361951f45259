"""Rows of arrays together with their groups and times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from onkel.errors import DataError
from onkel.streams.blocks import Block


def beside(blocks: Iterable[Any], groups: Any = None, times: Any = None) -> Iterator[Block]:
    """Add groups (n,) and times (n,) to the rows of blocks or of pairs (X, y).

    Raises
    ------
    DataError
        There are fewer groups or times than rows, or a time is missing.
    """
    columns = {"groups": groups, "times": None if times is None else _seconds(times)}
    given = {name: np.asarray(v) for name, v in columns.items() if v is not None}
    start = 0
    for part in blocks:
        block = part if isinstance(part, Block) else Block(part[0], part[1], start)
        end = start + block.n_rows
        for name, values in given.items():
            if len(values) < end:
                raise DataError(
                    f"{name} has {len(values)} values; every row needs one", row=len(values)
                )
        rows: dict[str, Any] = {name: values[start:end] for name, values in given.items()}
        yield block._replace(**rows)
        start = end


def _seconds(times: Any) -> np.ndarray:
    """Times as seconds since 1970; numbers are taken as seconds."""
    values = np.asarray(times)
    if values.dtype.kind in "OM":
        values = np.array(values, dtype="datetime64[ns]")
        gone = np.isnat(values)
        values = values.astype(np.int64) / 1e9
    else:
        values = values.astype(np.float64)
        gone = ~np.isfinite(values)
    if gone.any():
        row = int(np.argmax(gone))
        raise DataError("the time is missing; every row needs one", row=row, column="time")
    return values
