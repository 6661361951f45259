"""Encode the columns of a table as features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from onkel.annotations import DTypeLike
from onkel.columns.column import Column, Given
from onkel.columns.failures import count, missing_column
from onkel.columns.layout import Layout
from onkel.errors import DataError
from onkel.fields import Fields, Flag, Listed, Number, Sizes, State, Text, Whole, require
from onkel.state import Part, Stateful

if TYPE_CHECKING:
    import pyarrow as pa

FIRST_ROWS = 100
"""Rows that tell what a column is; a pipe gives so many before they are looked at."""


class Encoder(Stateful):
    """Encode columns of a table as float features; saved with the model. New features go last.

    A number or boolean is one feature; from numbers far from 0 the first value is subtracted
    (``Column.origin``), so that float32 can tell them apart. A timestamp, date or time becomes
    seven: a trend since the first value of the stream, and sine and cosine of the hour, the weekday
    and the day of the year (:func:`onkel.columns.features.time_features`). Text is one-hot: each
    value has a feature, in order of first appearance, up to ``max_categories``; all others share
    ``n_hash`` features by a stable hash. NaN marks a missing value.

    An encoder without columns (``n_vector`` given) is for unnamed vectors: arrays, svmlight.

    Parameters
    ----------
    columns : sequence of Column
        In the order of the features.
    n_hash : int, default=32
        Features shared by the values of a text column beyond ``max_categories``, > 0.
    max_categories : int, default=64
        Values of a text column that have a feature of their own.
    statistics : bool, default=False
        Whether a text column also has a feature with the code of its value. A model replaces the
        code with the mean of the target (`onkel.pipeline.StreamModel`); then values beyond
        ``max_categories`` have no other feature. Text whose values share words
        (`onkel.columns.words`) also has features with the codes of its words. A number that is
        mostly one value (``Column.repeats``) also gets such a feature, besides the number itself.
    na_values : list of str
        Texts that mean a missing value, besides the usual ones.
    target : str, optional
        Name of the target column.
    target_form : {"", "point", "comma", "text"}, default=""
        "point", "comma": the target is a number written as text. "text": it is text, whatever it
        looks like.
    n_vector : int, optional
        Length of unnamed vectors; then ``columns`` is empty.
    zero_based : bool, optional
        For svmlight: whether the first index is 0.

    Attributes
    ----------
    means, counts : ndarray of shape (n_features,) or None
        Running means for ``missing="mean"`` and the number of values in them: those of the rows
        learned so far.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from onkel.streams import Column, Encoder
    >>> encoder = Encoder([Column("age", "number"), Column("city", "text")])
    >>> batch = pa.RecordBatch.from_pydict({"city": ["Oslo", "Rome"], "age": [3, 4]})
    >>> encoder.encode(batch)
    array([[3., 1., 0.],
           [4., 0., 1.]], dtype=float32)
    >>> encoder.feature_names
    ['age', 'city=Oslo', 'city=Rome']
    """

    STATE: ClassVar[Fields] = {
        "n_hash": Whole(low=1, high=2**24),
        "max_categories": Whole(high=2**24),
        "statistics": Flag(),
        "na_values": Listed(Text(), None, into=tuple),
        "target": Text(empty=True),
        "target_form": Text(among=("", "point", "comma", "text")),
        "n_vector": Whole(high=2**31, empty=True),
        "zero_based": Flag(empty=True),
        "means": Listed(Number(), "filled", into=np.array, empty=True),
        "counts": Listed(Number(low=0.0), "filled", into=np.array, empty=True),
        "layout": Part(lambda e: Layout((), e.n_hash, e.max_categories, e.statistics), anew=True),
    }

    def __init__(
        self,
        columns: Iterable[Column] = (),
        *,
        n_hash: int = 32,
        max_categories: int = 64,
        statistics: bool = False,
        na_values: Iterable[str] = (),
        target: str | None = None,
        target_form: str = "",
        n_vector: int | None = None,
        zero_based: bool | None = None,
    ) -> None:
        if n_hash < 1 or max_categories < 0:
            raise ValueError(
                f"n_hash must be at least 1, got {n_hash}, and max_categories at least 0, got "
                f"{max_categories}"
            )
        self.n_hash: int = int(n_hash)
        self.max_categories: int = int(max_categories)
        self.statistics: bool = bool(statistics)
        self.na_values: tuple[str, ...] = tuple(na_values)
        self.target: str | None = target
        self.target_form: str = target_form
        self.n_vector: int | None = None if n_vector is None else int(n_vector)
        self.zero_based = zero_based
        self.means: np.ndarray | None = None
        self.counts: np.ndarray | None = None
        #: whether the encoder no longer learns
        self.fixed: bool = False
        self.layout: Layout = Layout(columns, self.n_hash, self.max_categories, self.statistics)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The input columns."""
        return self.layout.columns

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each input column."""
        return {c.name: c.kind for c in self.columns}

    @property
    def stored(self) -> dict[str, str]:
        """Kind of the values of each input column in the table."""
        return {c.name: c.stored for c in self.columns}

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.layout) if self.n_vector is None else self.n_vector

    @property
    def feature_names(self) -> list[str]:
        """``name`` of a number, ``name=value`` or ``name#slot`` of text, ``x0``, ... of vectors."""
        if self.n_vector is not None:
            return [f"x{j}" for j in range(self.n_vector)]
        return [self.layout.name(j) for j in range(len(self.layout))]

    @property
    def n_late(self) -> int:
        """Number of features that came in mid-stream; they are the last ones."""
        return len(self.layout) - self.layout.n_first

    @property
    def codes(self) -> dict[int, int]:
        """The features that hold codes, and how many a row has there."""
        return self.layout.codes() if self.statistics else {}

    def begin(self, found: Sequence[Given | None], n: int) -> None:
        """Create features for the values of the first rows, so that they do not count as late.

        Does nothing with statistics: a text column then has a feature before its first value, and
        each value gets its own when it comes.
        """
        if not self.statistics and self.n_vector is None:
            self.features(found, n, missing="zero")
            for k, own in self.layout.categories.items():
                if self.columns[k].constant is not None:
                    continue
                # a column without values still needs a feature
                own.hashes |= not own.codes
                for part in self.layout.hashed_parts(k):
                    self.layout.add(k, part)
            self.layout.n_first = len(self.layout)
            self.layout.gaps = [0] * len(self.columns)

    def extend(self, columns: Iterable[Column]) -> None:
        """Add columns that appear in mid-stream; their features go last."""
        if self.fixed:
            return
        self.layout.append(replace(column, late=True, repeats=False) for column in columns)

    def fix(self) -> None:
        """Freeze columns, categories and means; new values use the shared features, if any.

        With statistics, a new category shares a code, chosen by its hash.
        """
        self.fixed = True
        if self.statistics:
            for own in self.layout.categories.values():
                own.hashes = True

    def go_back(self, before: Encoder | None) -> None:
        """Count the gaps and values of rows as ``before``, an earlier state; None: of no rows."""
        gaps = [] if before is None else before.layout.gaps
        self.layout.gaps = [*gaps, *[0] * (len(self.columns) - len(gaps))]
        self.means = None if before is None else before.means
        self.counts = None if before is None else before.counts

    def widened_means(self) -> tuple[np.ndarray, np.ndarray]:
        """Running means and counts, padded in place with zeros for new features."""
        if self.means is None or self.counts is None:
            self.means, self.counts = np.zeros(0), np.zeros(0)
        more = (0, self.n_features - len(self.means))
        if more[1]:
            self.means, self.counts = np.pad(self.means, more), np.pad(self.counts, more)
        return self.means, self.counts

    def column_of(self, feature: int) -> str | int:
        """Name (for vectors: number) of the input column that a feature comes from."""
        if self.n_vector is not None:
            # svmlight files may count from 1
            return feature + (self.zero_based is False)
        return self.columns[self.layout.features[feature][0]].name

    def encode(
        self,
        batch: pa.RecordBatch,
        dtype: DTypeLike = "float32",
        *,
        missing: str = "error",
        lacking: bool = False,
        learn: bool = True,
        bad: Counter[str] | None = None,
    ) -> np.ndarray:
        """Features of a batch; its columns may be in any order.

        Parameters
        ----------
        batch : pyarrow.RecordBatch
        dtype : {"float32", "float64"}, default="float32"
        missing : {"error", "auto", "zero", "mean", "skip"}, default="error"
            What to do with missing values, as in `onkel.streams.open_stream`. With "auto", missing
            text is a category of its own; a missing number or time is NaN, with 1 in an extra
            feature. With "zero" and "mean", missing text is 0 in all its features.
        lacking : bool, default=False
            Whether the batch may lack a column: its values are then missing.
        learn : bool, default=True
            Whether new values get features; otherwise they are 0 in all of them.
        bad : Counter, optional
            Counts text among numbers and times, which is then missing; otherwise it is refused.

        Returns
        -------
        ndarray of shape (n, n_features), C-contiguous
            NaN where a value is missing.

        Raises
        ------
        DataError
            A column is missing, or cannot be read as its kind.
        """
        if self.n_vector is not None:
            raise DataError(
                f"the model was learned from vectors of {count(self.n_vector, 'unnamed feature')}; "
                "give an array of that width, not a table"
            )
        found = self.read(batch, lacking, bad)
        return self.features(found, batch.num_rows, dtype, missing=missing, learn=learn)

    def read(
        self, batch: pa.RecordBatch, lacking: bool = False, bad: Counter[str] | None = None
    ) -> list[Given | None]:
        """The values of each column of a batch; None for a column that the batch may lack."""
        from onkel.columns.values import given

        names = batch.schema.names
        place = {name: k for k, name in enumerate(names)}
        found: list[Given | None] = []
        for column in self.columns:
            if column.name in place:
                found.append(given(batch.column(place[column.name]), column, self.na_values, bad))
            elif column.late or lacking:
                found.append(None)
            else:
                raise missing_column(column.name, names, None, gone=True)
        return found

    def features(
        self,
        found: Sequence[Given | None],
        n: int,
        dtype: DTypeLike = "float32",
        *,
        missing: str = "error",
        learn: bool = True,
    ) -> np.ndarray:
        """Features (n, n_features) from the values of each column; None: the column is absent."""
        from onkel.columns.features import fill

        fixed = self.fixed
        return fill(self.layout, found, n, dtype, missing=missing, learn=learn, fixed=fixed)

    def check_state(self, state: State, sizes: Sizes) -> None:
        require((state["means"] is None) == (state["counts"] is None), "means: go with counts")

    def state_is_set(self) -> None:
        # later features have no means yet
        fits = self.means is None or len(self.means) <= self.n_features
        require(fits, f"means: has more entries than the {self.n_features} features")

    def __repr__(self) -> str:
        columns = count(len(self.columns), "column") if self.columns else "unnamed columns"
        return f"<Encoder of {columns}, {count(self.n_features, 'feature')}>"
