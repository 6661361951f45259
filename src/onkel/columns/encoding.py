"""From the columns of a table to features."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onkel.columns.failures import missing_column
from onkel.columns.hashing import fill_slots
from onkel.errors import DataError
from onkel.state import Flag, Listed, Number, Text, Whole, check

__all__ = ["Column", "Encoder"]

KINDS = ("number", "flag", "time", "text")


@dataclass(frozen=True, slots=True)
class Column:
    """One input column: its name, its kind, and for times the second that counts as 0.

    ``late``: it came in mid-stream, after all that were there; it may be missing in a table.
    """

    name: str
    kind: str
    origin: float = 0.0
    late: bool = False


# What a saved encoder holds.
_FIELDS = {
    "names": Listed(Text(), "columns"),
    "kinds": Listed(Text(among=KINDS), "columns"),
    "origins": Listed(Number(), "columns"),
    "late": Listed(Flag(), "columns"),
    "n_hash": Whole(low=1, high=2**24),
    "target": Text(empty=True),
    "n_vector": Whole(high=2**31, empty=True),
    "zero_based": Flag(empty=True),
    "means": Listed(Number(), empty=True),
    "counts": Listed(Number(low=0.0), empty=True),
}


def _width(column: Column, n_hash: int) -> int:
    return n_hash if column.kind == "text" else 1


class Encoder:
    """Columns of a table as float features; saved with the model. New ones are put at the end.

    A number or boolean is one feature. A timestamp, date or time is one feature: seconds since
    the first value of the stream (``Column.origin``), so that float32 keeps the seconds. Text and
    categories are ``n_hash`` features, one of them 1: the slot is a stable hash of the value and
    the column's name. NaN marks what is missing; a missing text value is NaN in all its slots.

    An encoder without columns (``n_vector`` given) stands for unnamed vectors: arrays, svmlight.

    Parameters
    ----------
    columns : sequence of Column
        In the order of the features.
    n_hash : int, default=32
        Features for each text column, > 0.
    target : str, optional
        Name of the target column.
    n_vector : int, optional
        Length of unnamed vectors; then ``columns`` is empty.
    zero_based : bool, optional
        For svmlight: whether the first index is 0.

    Attributes
    ----------
    feature_names : list of str
        ``name`` for a number, ``name#slot`` for text, ``x0``, ``x1``, ... for vectors.
    n_features : int
    means, counts : ndarray of shape (n_features,) or None
        Running means for ``missing="mean"`` and the number of values in them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from onkel.streams import Column, Encoder
    >>> encoder = Encoder([Column("age", "number"), Column("city", "text")], n_hash=4)
    >>> batch = pa.RecordBatch.from_pydict({"city": ["Oslo", "Rome"], "age": [3, 4]})
    >>> encoder.encode(batch)[:, 0]
    array([3., 4.], dtype=float32)
    >>> encoder.feature_names
    ['age', 'city#0', 'city#1', 'city#2', 'city#3']
    """

    def __init__(
        self,
        columns: Iterable[Column] = (),
        *,
        n_hash: int = 32,
        target: str | None = None,
        n_vector: int | None = None,
        zero_based: bool | None = None,
    ) -> None:
        self.columns = tuple(columns)
        if n_hash < 1:
            raise ValueError(f"n_hash must be at least 1, got {n_hash}")
        for column in self.columns:
            if column.kind not in KINDS:
                raise ValueError(f"column {column.name!r}: kind {column.kind!r} is none of {KINDS}")
        self.n_hash = int(n_hash)
        self.target = target
        self.n_vector = None if n_vector is None else int(n_vector)
        self.zero_based = zero_based
        self.means: np.ndarray | None = None
        self.counts: np.ndarray | None = None

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each input column."""
        return {c.name: c.kind for c in self.columns}

    @property
    def n_features(self) -> int:
        """Number of features."""
        if self.n_vector is not None:
            return self.n_vector
        return sum(_width(c, self.n_hash) for c in self.columns)

    @property
    def feature_names(self) -> list[str]:
        """A name for each feature."""
        if self.n_vector is not None:
            return [f"x{j}" for j in range(self.n_vector)]
        ends = {"text": [f"#{k}" for k in range(self.n_hash)]}
        return [c.name + end for c in self.columns for end in ends.get(c.kind, [""])]

    @property
    def n_late(self) -> int:
        """Number of features, the last ones, whose columns came in mid-stream."""
        return sum(_width(c, self.n_hash) for c in self.columns if c.late)

    def extend(self, columns: Iterable[Column]) -> None:
        """Columns that come in mid-stream: their features follow those there are."""
        new = tuple(replace(column, late=True) for column in columns)
        self.columns += new
        if self.means is not None and self.counts is not None:
            more = (0, sum(_width(c, self.n_hash) for c in new))
            self.means, self.counts = np.pad(self.means, more), np.pad(self.counts, more)

    def column_of(self, feature: int) -> str | int:
        """Name of the input column (number, for vectors) that a feature comes from."""
        if self.n_vector is not None:
            # svmlight files may count from 1
            return feature + (self.zero_based is False)
        for column in self.columns:
            feature -= _width(column, self.n_hash)
            if feature < 0:
                return column.name
        raise IndexError("no such feature")

    def encode(self, batch: Any, dtype: Any = "float32", gaps: bool = False) -> np.ndarray:
        """Features of a batch whose columns come in any order.

        Parameters
        ----------
        batch : pyarrow.RecordBatch
        dtype : {"float32", "float64"}, default="float32"
        gaps : bool, default=False
            Whether a column may be missing altogether: each of its values is missing then.

        Returns
        -------
        ndarray of shape (n, n_features), C-contiguous
            NaN where a value is missing.

        Raises
        ------
        DataError
            A column is not there, or cannot be read as its kind.
        """
        if self.n_vector is not None:
            raise DataError(
                f"the model was learned from vectors of {self.n_vector} unnamed features; "
                "give an array of that width, not a table"
            )
        from onkel.columns import arrow_values as values

        names = batch.schema.names
        place = {name: k for k, name in enumerate(names)}
        X = np.empty((batch.num_rows, self.n_features), dtype=dtype)
        at = 0
        # A float64 too large for float32 becomes inf here, and is refused as such later.
        with np.errstate(over="ignore"):
            for column in self.columns:
                width = _width(column, self.n_hash)
                if column.name in place:
                    array, out = batch.column(place[column.name]), X[:, at : at + width]
                    if column.kind == "text":
                        codes, known = values.categories(array, column.name)
                        fill_slots(out, codes, known, column.name)
                    elif column.kind == "time":
                        out[:, 0] = values.seconds(array, column.name) - column.origin
                    else:
                        out[:, 0] = values.numbers(array, column.name)
                elif column.late or gaps:
                    X[:, at : at + width] = np.nan
                else:
                    raise missing_column(column.name, names, None, gone=True)
                at += width
        return self.without_gaps(X)

    def without_gaps(self, X: np.ndarray) -> np.ndarray:
        """X with 0 for what is missing in late columns: a row without a value lacks the column."""
        if self.n_late:
            late = X[:, -self.n_late :]
            late[np.isnan(late)] = 0.0
        return X

    def get_state(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return {
            "names": [c.name for c in self.columns],
            "kinds": [c.kind for c in self.columns],
            "origins": [float(c.origin) for c in self.columns],
            "late": [c.late for c in self.columns],
            "n_hash": self.n_hash,
            "target": self.target,
            "n_vector": self.n_vector,
            "zero_based": self.zero_based,
            "means": None if self.means is None else self.means.tolist(),
            "counts": None if self.counts is None else self.counts.tolist(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Encoder:
        """The encoder whose ``get_state`` gave ``state``."""
        check(state, _FIELDS)
        columns = map(Column, state["names"], state["kinds"], state["origins"], state["late"])
        options = {k: state[k] for k in ("n_hash", "target", "n_vector", "zero_based")}
        encoder = cls(columns, **options)
        if state["means"] is not None:
            many = Listed(Number(low=0.0), encoder.n_features)
            check(state, {"means": Listed(Number(), encoder.n_features), "counts": many})
            encoder.means = np.array(state["means"], dtype=np.float64)
            encoder.counts = np.array(state["counts"], dtype=np.float64)
        return encoder

    def __repr__(self) -> str:
        return f"<Encoder of {len(self.columns) or 'unnamed'} columns, {self.n_features} features>"
