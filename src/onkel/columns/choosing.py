"""Which columns of a table become features, and how: the encoder of a new stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onkel.columns.arrow_values import kind_of, seconds
from onkel.columns.encoding import Column, Encoder
from onkel.columns.failures import missing_column
from onkel.errors import DataError

__all__ = ["Choice", "as_names", "column_of"]


def as_names(names: Iterable[str]) -> list[str]:
    """Names of columns; a string is one."""
    return [names] if isinstance(names, str) else list(names)


@dataclass
class Choice:
    """The columns a user asks for; the parameters are those of ``onkel.streams.open_stream``.

    ``gaps``: whether a later file may lack a column. ``keep``: columns to hand on as they are.
    ``group``, ``time``: the columns of the series a row belongs to, and of when it came.
    """

    target: str | None
    features: list[str] | int | None
    exclude: list[str]
    categorical: list[str]
    n_hash: int
    encoder: Encoder | None
    extend: bool
    gaps: bool
    keep: tuple[str, ...] = ()
    group: str | None = None
    time: str | None = None

    def __post_init__(self) -> None:
        #: kind of each column that is known beforehand
        self.kinds = dict.fromkeys(self.categorical, "text")
        #: the target as asked for, or as the saved encoder has it
        self.known_target = self.target
        # Values of columns that nobody wants are not looked at.
        self._unread = set(self.exclude)
        self._only = set(self.features) if isinstance(self.features, list) else None
        if self.encoder is not None:
            self.kinds = dict(self.encoder.kinds)
            self.known_target = self.encoder.target if self.target is None else self.target
            self._unread -= self.kinds.keys()
            self._only = None if self.extend else set(self.kinds)

    def reads(self, name: str) -> bool:
        """Whether anybody wants a column; the values of others are not looked at."""
        if name in (self.known_target, self.group, self.time, *self.keep):
            return True
        return name not in self._unread and (self._only is None or name in self._only)

    def resolve(
        self, first: Any, names: Sequence[str], announced: Sequence[str], source: str, grows: bool
    ) -> tuple[Encoder, str | None]:
        """Encoder and target for tables that begin with the batch ``first``.

        ``names`` are all columns known so far; those in ``announced`` are features unless others
        are asked for. ``grows``: others may come, so that names in ``exclude`` may be theirs.
        """
        present = set(names)
        target = self.target
        if target is not None and target not in present:
            raise missing_column(target, names, source)
        if target is None and self.encoder is not None and self.encoder.target in present:
            target = self.encoder.target
        twice = sorted(n for n, count in Counter(names).items() if count > 1)
        if twice:
            raise DataError(f"has several columns of the same name: {twice}", source=source)
        encoder = self.encoder
        if encoder is None:
            # More columns may come; those left out may be among them.
            asked = [] if grows else self.exclude
            for name in [*(self._only or ()), *asked, *self.categorical]:
                if name not in present:
                    raise missing_column(name, names, source)
            return self._new(first, announced, target, source), target
        if encoder.n_vector is not None:
            raise DataError(
                f"the model was learned from vectors of {encoder.n_vector} unnamed features; "
                "give an array, not a table",
                source=source,
            )
        for column in encoder.columns:
            if column.name not in present and not column.late:
                raise missing_column(column.name, names, source)
        if self.extend:
            left = {*self.exclude, *encoder.kinds, target}
            encoder.extend(self._columns(first, [n for n in announced if n not in left], source))
        return encoder, target

    def _new(
        self, first: Any, announced: Sequence[str], target: str | None, source: str
    ) -> Encoder:
        left = {*self.exclude, target}
        names = announced if self.features is None else self.features
        if isinstance(names, int):
            raise DataError("a table has named columns; features are their names", source=source)
        columns = self._columns(first, [n for n in names if n not in left], source)
        if not columns:
            raise DataError(
                "no feature columns are left once target and excluded columns are taken out",
                source=source,
            )
        return Encoder(columns, n_hash=self.n_hash, target=target)

    def _columns(self, first: Any, names: list[str], source: str) -> list[Column]:
        text = set(self.categorical)
        return [column_of(first, name, name in text, source) for name in names]


def column_of(first: Any, name: str, categorical: bool, source: str) -> Column:
    """A column by the values of the batch ``first``."""
    # A source may leave out what cannot be a feature.
    at = first.schema.get_field_index(name)
    t = "object or list" if at < 0 else first.schema.field(at).type
    kind = None if at < 0 else kind_of(t)
    if kind is None:
        raise DataError(
            f"is of type {t}, which cannot be a feature; leave it out with exclude",
            source=source,
            column=name,
        )
    if categorical:
        return Column(name, "text")
    if kind != "time":
        return Column(name, kind)
    values = seconds(first.column(at), name)
    known = values[np.isfinite(values)]
    return Column(name, "time", float(known[0]) if len(known) else 0.0)
