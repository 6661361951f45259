"""Scratch arrays that live on between blocks.

A block's features are megabytes; fetching that from the operating system for every block costs as
much as filling it. One set of arrays a thread serves all models: nothing in them outlives a call.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

_local = threading.local()


def scratch(name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An uninitialised C-contiguous array, valid until the next call of the same name."""
    arrays: dict[str, np.ndarray] = _local.__dict__
    last = arrays.get(name)
    if last is not None and last.shape == shape and last.dtype == dtype:
        return last
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    buffer = None if last is None else last.base
    if buffer is None or buffer.nbytes < n_bytes:
        buffer = np.empty(n_bytes, np.uint8)
    arrays[name] = buffer[:n_bytes].view(dtype).reshape(shape)
    return arrays[name]
