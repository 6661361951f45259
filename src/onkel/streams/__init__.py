"""Rows from files, tables, pipes and queries, in blocks; online scaling and encoding."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .blocks import Block
    from .encoding import Column, Encoder
    from .opening import open_stream
    from .scaling import OnlineScaler
    from .stream import Stream
    from .target_scaling import OnlineTargetScaler

__all__ = [
    "Block",
    "Column",
    "Encoder",
    "OnlineScaler",
    "OnlineTargetScaler",
    "Stream",
    "open_stream",
]

# Loaded on first use: scaling needs scikit-learn, the files need pyarrow.
_HOME = {
    "Block": "blocks",
    "Column": "encoding",
    "Encoder": "encoding",
    "OnlineScaler": "scaling",
    "OnlineTargetScaler": "target_scaling",
    "Stream": "stream",
    "open_stream": "opening",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
