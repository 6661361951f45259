"""Which columns of a table become features, and how: the encoder of a new stream."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from onkel.errors import DataError

from .arrow_values import kind_of, seconds
from .encoding import Column, Encoder
from .failures import missing_column

__all__ = ["as_names", "choose_columns", "column_of", "resolve_target"]


def resolve_target(
    names: Sequence[str], target: str | None, encoder: Encoder | None, source: str
) -> str | None:
    """The target column: as asked for, or the saved encoder's if it is there."""
    if target is not None:
        if target not in names:
            raise missing_column(target, names, source)
        return target
    if encoder is not None and encoder.target in names:
        return encoder.target
    return None


def as_names(names: Iterable[str]) -> list[str]:
    """Names of columns; a string is one."""
    return [names] if isinstance(names, str) else list(names)


def choose_columns(
    first: Any,
    names: Sequence[str],
    *,
    target: str | None,
    features: Iterable[str] | None,
    exclude: Iterable[str],
    categorical: Iterable[str],
    n_hash: int,
    source: str,
) -> Encoder:
    """An encoder for tables with columns ``names`` that look like the batch ``first``."""
    exclude, categorical = as_names(exclude), as_names(categorical)
    if features is not None:
        features = as_names(features)
    for name in [*(features or []), *exclude, *categorical]:
        if name not in names:
            raise missing_column(name, names, source)
    if len(set(names)) < len(names):
        twice = sorted({n for n in names if list(names).count(n) > 1})
        raise DataError(f"has several columns of the same name: {twice}", source=source)
    chosen = names if features is None else features
    columns = [
        column_of(first, name, name in categorical, source)
        for name in chosen
        if name != target and name not in exclude
    ]
    if not columns:
        raise DataError(
            "no feature columns are left once target and excluded columns are taken out",
            source=source,
        )
    return Encoder(columns, n_hash=n_hash, target=target)


def column_of(first: Any, name: str, categorical: bool, source: str) -> Column:
    """A column by the values of the batch ``first``."""
    array = first.column(name)
    kind = kind_of(array.type)
    if kind is None:
        raise DataError(
            f"is of type {array.type}, which cannot be a feature; leave it out with exclude",
            source=source,
            column=name,
        )
    if categorical:
        return Column(name, "text")
    if kind != "time":
        return Column(name, kind)
    values = seconds(array, name)
    known = values[np.isfinite(values)]
    return Column(name, "time", float(known[0]) if len(known) else 0.0)
