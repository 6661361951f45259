"""Stable hashing of category values: the same on every machine and in every Python run."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np


def slots(values: Sequence[str], column: str, n_hash: int) -> np.ndarray:
    """Slot of each value of a text column.

    CRC-32 of the UTF-8 bytes, seeded by the column's name, then the finaliser of MurmurHash3, which
    spreads similar values (``"a1"``, ``"a2"``).

    Parameters
    ----------
    values : sequence of str
    column : str
        Name of the column: equal values of two columns get unrelated slots.
    n_hash : int
        Number of slots, > 0.

    Returns
    -------
    ndarray of int64, shape (len(values),)
        Numbers from 0 to ``n_hash - 1``.
    """
    seed = crc32(column.encode("utf-8", "surrogatepass"))
    codes = (crc32(v.encode("utf-8", "surrogatepass"), seed) for v in values)
    h = np.fromiter(codes, np.uint32, len(values))
    h ^= h >> np.uint32(16)
    h *= np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(13)
    h *= np.uint32(0xC2B2AE35)
    h ^= h >> np.uint32(16)
    return (h % np.uint32(n_hash)).astype(np.int64)
