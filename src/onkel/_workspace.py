"""Scratch arrays that live on between blocks.

A block's features are megabytes; fetching that from the operating system for every block costs as
much as filling it. One set of arrays a thread serves all models: nothing in them outlives a call.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

__all__ = ["scratch"]

_local = threading.local()


def scratch(name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An uninitialised C-contiguous array, valid until the next call of the same name."""
    buffers: dict[str, np.ndarray] = _local.__dict__
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    buffer = buffers.get(name)
    if buffer is None or buffer.nbytes < n_bytes:
        buffer = buffers[name] = np.empty(n_bytes, np.uint8)
    return buffer[:n_bytes].view(dtype).reshape(shape)
