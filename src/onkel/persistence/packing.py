"""Large arrays of a model file, in a smaller form that loses nothing.

Rows that wait for a fit are most of a file while landmarks are searched. Numbers of 64 bits that 32
bits hold exactly are written in 32. Then equal bytes of all numbers are put side by side (the signs
and exponents of a column are much alike) and compressed by zstd. An array that this does not make a
tenth smaller stays as it is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onkel.fields import State, require

_LEAST = 1 << 16
"""Bytes of the smallest array to pack."""
_WORTH = 0.9
_LEVEL = 1


def packed(arrays: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], State]:
    """The arrays as they are written, and notes (JSON-able) on those that were packed."""
    written, notes = dict(arrays), dict[str, Any]()
    for name, array in arrays.items():
        if array.nbytes < _LEAST:
            continue
        small = _narrowed(array)
        planes = np.ascontiguousarray(
            small.reshape(-1).view(np.uint8).reshape(-1, small.itemsize).T
        )
        content = np.frombuffer(_codec().compress(planes, asbytes=True), np.uint8)
        if len(content) < _WORTH * array.nbytes:
            written[name] = content
            notes[name] = [array.dtype.str, small.dtype.str, list(array.shape)]
    return written, notes


def unpacked(arrays: dict[str, np.ndarray], notes: State) -> dict[str, np.ndarray]:
    """The inverse of :func:`packed`; ModelFileError for notes that it could not have written."""
    found = dict(arrays)
    for name, (dtype, stored, shape) in notes.items():
        wide, small = np.dtype(dtype), np.dtype(stored)
        plain = wide.kind in "biuf" and small.kind in "biuf"
        require(plain and found[name].dtype == np.uint8, f"{name}: is not packed as it says")
        size = math.prod(shape)
        content = _codec().decompress(
            found[name].tobytes(), decompressed_size=size * small.itemsize, asbytes=True
        )
        planes = np.frombuffer(content, np.uint8).reshape(small.itemsize, size)
        values = np.ascontiguousarray(planes.T).view(small).reshape(shape)
        found[name] = values.astype(wide)
    return found


def _narrowed(array: np.ndarray) -> np.ndarray:
    """The array in float32, if that holds each number to the last bit."""
    if array.dtype != np.float64:
        return array
    with np.errstate(over="ignore", invalid="ignore"):
        small = array.astype(np.float32)
    same = np.array_equal(small.astype(np.float64).view(np.uint64), array.view(np.uint64))
    return small if same else array


def _codec() -> Any:
    import pyarrow as pa

    return pa.Codec("zstd", compression_level=_LEVEL)
