"""What every feature map is: a scikit-learn transformer that an explicit model can drive.

The model asks three things of a map: ``warmup_rows()``, how many first rows it must see;
``fit_first(X)``, fit on them (again and again while they come in); ``features(X)``, the features of
a block. All other methods that a model calls have defaults, which suit a map that stays fixed after
its fit. A map that changes while rows are learned says in ``changes()`` what changes it.
"""

from __future__ import annotations

from collections.abc import Generator
from enum import Enum
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from onkel.annotations import ArrayLike, DTypeLike, Matrix, MatrixLike, Out, Seed
from onkel.numerics.arrays import as_dense, next_power_of_two
from onkel.parameters import flags
from onkel.sklearn_bases import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from onkel.state import Stateful


def draw_seed(random_state: Seed) -> int:
    """A seed for NumPy's generator: an int stands for itself, anything else is drawn from."""
    if isinstance(random_state, (int, np.integer)):
        if random_state < 0:
            raise ValueError(f"random_state={random_state} must be at least 0")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


class Change(Enum):
    """What changes a map while rows are learned; see :mod:`onkel.explicit.changing_maps`."""

    NEVER = "never"
    #: it waits for the learner's first support vectors (NOGD)
    BY_SUPPORT = "by support vectors"
    #: it follows the rows (adaptive Nyström)
    BY_ROWS = "by rows"
    #: it chooses its features by the labels of the rows (aligned)
    BY_LABELS = "by labels"
    #: it moves along the gradient of the loss (RRF)
    BY_LOSS = "by the loss"


class FeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, Stateful):
    """z(x): a finite feature vector for each row."""

    name: str
    n_rows_seen_: int
    #: how messages name a fit on first rows while it goes on
    fits: ClassVar[str] = "fitting"
    #: whether the last feature is 1 in all rows, and least squares hardly penalises its weight
    ends_with_constant: ClassVar[bool] = False
    #: the value for maps that have no such parameter
    random_state: Seed = 0

    # ---- what a model drives -------------------------------------------------------------------

    def changes(self) -> Change:
        """What changes the map while rows are learned."""
        return Change.NEVER

    def is_bounded(self) -> bool:
        """Whether no feature is larger than 1: exact least squares then cannot diverge."""
        return False

    def fewest_rows(self) -> int:
        """The fewest rows whose features should be made at once, where a block has so many."""
        return 0

    def postpone(self, on: bool, rows: int = 0) -> None:
        """While ``on``, fits leave out their expensive parts: the model may never predict.

        ``rows``: how many rows the map has been given when postponing ends.
        """

    def begin_beside(self, other: FeatureMap) -> None:
        """Take from the map of the model that predicts what holds for the whole stream."""

    def spare_work(self) -> None:
        """Leave out fits that a map, not fitted yet, can do without."""

    def fit_is_due(self, n: int) -> bool:
        """Whether the fit that falls on n rows is made."""
        return True

    def work_of_fit(self, due: int) -> int:
        """About how many multiplications the fit due at ``due`` rows and their replay take.

        It is known beforehand, and the same on every machine.
        """
        return 0

    def work_between(self, start: int, end: int, last: int | None = None) -> tuple[int, int]:
        """The work of learning rows ``start`` to ``end``, and that of all fits due meanwhile.

        Fits count that are due after more than ``start`` and at most ``end`` rows. ``last``: rows
        at the last fit, `warmup_rows` of a map that begins.
        """
        return 0, 0

    def work_of_last_fit(self, n: int) -> int:
        """The work of `fit_last` on n rows, and of their replay."""
        return 0

    def start(self, d: int, dtype: DTypeLike) -> None:
        """Check the parameters and begin for rows of d columns."""
        flags(self)
        self.n_features_in_ = d
        self.dtype_: np.dtype = np.dtype(dtype)
        self.seed_: int = draw_seed(self.random_state)

    def warmup_rows(self) -> int:
        """How many first rows the map is fitted on; 0 when it needs none."""
        return 0

    def next_fit(self, n: int, last: int) -> tuple[int, int]:
        """At how many first rows the fit after n ≥ 0 rows is due, and :meth:`rows_of_fit`.

        The last fit is due at ``last`` rows.
        """
        due = min(next_power_of_two(n), last)
        return due, self.rows_of_fit(due)

    def fit_first(self, X: np.ndarray) -> None:
        """Fit on the rows that came first, X (n, d) with n up to ``warmup_rows()``."""

    def fit_labelled(self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> None:
        """As :meth:`fit_first`, with the targets Y (n, C) and weights (n,) > 0 of the rows."""
        self.fit_first(X)

    def rows_of_fit(self, due: int) -> int:
        """How many of the first rows the fit due at ``due`` rows uses.

        If they are fewer than ``due``, the fit is made while the others come: see
        :meth:`fit_in_steps`.
        """
        return due

    def fit_in_steps(
        self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, due: int
    ) -> Generator[float, None, bool]:
        """As :meth:`fit_labelled`, for a fit due at ``due`` rows; steps give the share done.

        Returns whether features have changed.
        """
        self.fit_labelled(X, Y, weight)
        yield 1.0
        return True

    def fits_last(self, n: int) -> bool:
        """Whether a last fit on all n rows kept may be better than those so far."""
        return False

    def fit_last(
        self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray
    ) -> Generator[float, None, bool]:
        """Fit to all rows kept, as :meth:`fit_in_steps`; no fit is expected to follow soon."""
        raise NotImplementedError

    def prior(self) -> np.ndarray | None:
        """K₀ (m, m): least squares penalises wᵀ K₀ w; None for ‖w‖²."""
        return None

    def moving(self) -> dict[str, np.ndarray]:
        """The arrays that learning changes with every row, by attribute."""
        return {}

    def is_finite(self) -> bool:
        """Whether the features of every row are finite, after what learning has changed."""
        return True

    def follow(self, X: Matrix) -> None:
        """Move with the rows X (n, d), in order; a fixed map does nothing."""

    @property
    def n_features_out_(self) -> int:
        """Number of features m."""
        raise NotImplementedError(f"{type(self).__name__} has no n_features_out_")

    def features(self, X: Matrix, out: Out = None) -> np.ndarray:
        """Features (n, m), C-contiguous, of checked rows X (n, d); ``out`` may be used for them."""
        raise NotImplementedError(f"{type(self).__name__} has no features()")

    def row_features(self, X: np.ndarray) -> np.ndarray | None:
        """Features (1, m) of one checked row X (1, d) by one compiled call; None: no such call.

        For single rows the NumPy calls of :meth:`features` cost ten times the arithmetic.
        """
        return None

    def add_columns(self, n: int) -> int | None:
        """Take rows with n more columns at the end; where these are 0, features are as before.

        Returns where n new features have been inserted among the features; None without new ones.
        """
        raise ValueError(
            f"map {self.name!r} cannot take a column that comes in mid-stream; name all columns "
            "from the start, or use one of onkel.maps"
        )

    def expect_news(self) -> None:
        """Columns that were appended may matter: a map that learns from rows looks at them."""

    def state_sizes(self) -> dict[str, int]:
        """In the fields of a map's state, "d" stands for the columns of a row."""
        return {"d": self.n_features_in_}

    def _has_state(self) -> bool:
        """Whether all attributes of the state are there: the map was fitted, or was given one."""
        return all(getattr(self, name, None) is not None for name in self.state_fields())

    @property
    def _n_features_out(self) -> int:
        return self.n_features_out_

    # ---- scikit-learn --------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> FeatureMap:
        """Fit on the rows X (n, d), dense or CSR; y is ignored."""
        X = self._checked(X, reset=True)
        self.start(X.shape[1], X.dtype)
        self.fit_first(as_dense(X))
        self.n_rows_seen_ = X.shape[0]
        # too few rows for the fit to be final: a later partial_fit goes on from them
        few = X.shape[0] < self.warmup_rows()
        self._first_rows = as_dense(X if few else X[:0]).copy()
        return self

    def partial_fit(self, X: MatrixLike, y: ArrayLike | None = None) -> FeatureMap:
        """Take more rows: they refine the fit until ``warmup_rows()`` have come, then nothing.

        The result does not depend on how the rows are cut into blocks.
        """
        first = "n_rows_seen_" not in vars(self)
        X = self._checked(X, reset=first)
        if first:
            self.start(X.shape[1], X.dtype)
            self.n_rows_seen_ = 0
            self._first_rows = np.empty((0, X.shape[1]), self.dtype_)
        missing = max(self.warmup_rows(), 1) - self.n_rows_seen_
        if missing > 0:
            self._first_rows = np.concatenate([self._first_rows, as_dense(X[:missing])])
            self.fit_first(self._first_rows)
            self.follow(self._first_rows)
        self.follow(X[max(missing, 0) :])
        self.n_rows_seen_ += X.shape[0]
        if missing <= X.shape[0]:
            self._first_rows = self._first_rows[:0]
        return self

    def transform(self, X: MatrixLike) -> np.ndarray:
        """Features (n, m) of the rows X (n, d)."""
        check_is_fitted(self)
        return self.features(self._checked(X, reset=False))

    def _checked(self, X: MatrixLike, reset: bool) -> Matrix:
        X = validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"
        )
        return X if reset else X.astype(self.dtype_, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
