"""Rows from files, tables, pipes and queries, in blocks; online scaling and encoding."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onkel.columns.column import Column as Column
    from onkel.columns.encoding import Encoder as Encoder
    from onkel.columns.scaling import OnlineScaler as OnlineScaler
    from onkel.columns.target_scaling import OnlineTargetScaler as OnlineTargetScaler
    from onkel.streams.blocks import Block as Block
    from onkel.streams.opening import open_stream as open_stream
    from onkel.streams.reading import Reading as Reading
    from onkel.streams.stream import Stream as Stream

# Loaded on first use: scaling needs scikit-learn, the files need pyarrow.
_HOME = {
    "Block": "onkel.streams.blocks",
    "Column": "onkel.columns.column",
    "Encoder": "onkel.columns.encoding",
    "OnlineScaler": "onkel.columns.scaling",
    "OnlineTargetScaler": "onkel.columns.target_scaling",
    "Reading": "onkel.streams.reading",
    "Stream": "onkel.streams.stream",
    "open_stream": "onkel.streams.opening",
}

if not TYPE_CHECKING:  # type checkers take what is imported
    __all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return list(_HOME)
