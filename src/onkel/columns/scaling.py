"""Online scaling of features: each row by the statistics of the rows up to and including it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted, validate_data

from onkel.annotations import ArrayLike, Matrix, MatrixLike
from onkel.columns import running
from onkel.columns.target_scaling import LARGEST
from onkel.errors import DataError
from onkel.fields import Array, Field, Fields, Flag, Sizes, State, Text, Whole, check, require
from onkel.numerics.arrays import FLOATS, SHORT, issparse
from onkel.sklearn_bases import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from onkel.state import Stateful

MODES = ("auto", "standard", "minmax", "none")
_STATE = ("center_", "spread_", "count_")
_COUNTS = {"n_rows_": Whole(), "n_features_in_": Whole(low=1, size="d"), "sparse_": Flag()}
# Rows of ``tails_`` (:mod:`onkel.columns.running`), and those that are sums of nonnegative terms.
_N_TAILS, _SUMS = 6, [0, 1, 3, 4, 5]
_NO_TAILS = np.zeros((_N_TAILS, 0))
# Where squares add up to no more than this, no value is NaN, infinite or too large.
_SMALL = 1e38


class OnlineScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, Stateful):
    """Standardise, or scale to [0, 1], by running statistics.

    Row t is scaled with the mean and standard deviation (or minimum and maximum) of rows 1..t, its
    own x included and nothing later, so the result does not depend on how the rows are cut into
    blocks:

        standard:  z_t = (x_t - mean_t) / std_t
        minmax:    z_t = (x_t - min_t) / (max_t - min_t)

    "auto" is "standard" with heavy tails compressed, so that a few outliers do not squeeze all
    other rows together: a column of high kurtosis is standardised after

        u_t = asinh((x_t - mean_t) / mean |x - mean|)

    Columns are checked for this at their rows 64, 128, ..., 4096; once compressed, they stay so.

    A column that has not varied yet gives 0 (so the first row is all 0). Statistics are float64
    (Welford's update); the output has the input's dtype.

    CSR input is not centred, so that it stays sparse, and keeps its tails: x_t / std_t (zeros
    counted), or x_t / max |x| so far for ``"minmax"``. Give one scaler either dense or CSR rows,
    not both.

    Use it in front of any learner on a stream. Not for batch work: scikit-learn's
    ``StandardScaler`` sees all rows first.

    Parameters
    ----------
    mode : {"auto", "standard", "minmax", "none"}, default="standard"

    Attributes
    ----------
    n_rows_ : int
        Rows in the statistics.
    center_ : ndarray of shape (d,)
        Running mean ("standard", "auto"; for CSR of the stored values) or minimum ("minmax").
    spread_ : ndarray of shape (d,)
        Sum of squared deviations ("standard", "auto") or maximum ("minmax"; for CSR of absolute
        values).
    n_features_in_ : int

    Raises
    ------
    DataError
        A value is NaN, infinite or too large (row in the block, column, value). Nothing is learned.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel.streams import OnlineScaler
    >>> X = np.array([[1.0], [3.0], [2.0]])
    >>> OnlineScaler().learn_transform(X).ravel()
    array([0., 1., 0.])
    """

    n_late_: int
    #: rows of each column that came late (d,)
    count_: np.ndarray
    center_: np.ndarray
    spread_: np.ndarray
    #: sums of "auto" that tell heavy tails
    tails_: np.ndarray
    n_rows_: int
    sparse_: bool

    def __init__(self, mode: str = "standard") -> None:
        self.mode: str = mode

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> OnlineScaler:
        """Forget what was learned, then learn from X, of shape (n, d)."""
        for name in ("n_rows_", "n_features_in_", "n_late_", "sparse_", *_STATE, "tails_"):
            self.__dict__.pop(name, None)
        return self.partial_fit(X)

    def partial_fit(self, X: MatrixLike, y: ArrayLike | None = None) -> OnlineScaler:
        """Learn from X, of shape (n, d)."""
        self.learn_transform(X)
        return self

    def start(self, d: int, sparse: bool = False) -> None:
        """Make room for d columns before the first row comes."""
        self.n_features_in_: int = d
        self._make_room(d, sparse)

    def learn_transform(self, X: MatrixLike) -> Matrix:
        """Learn from each row of X, of shape (n, d), then scale it with the statistics so far."""
        X = self._checked(X, learn=True)
        n = X.shape[0]
        if self.mode == "none":
            self.n_rows_ += n
            return X
        out = self._learn_sparse(X) if issparse(X) else self._learn_dense(X)
        self.n_rows_ += n
        return out

    def _learn_sparse(self, X: csr_matrix) -> csr_matrix:
        out = np.empty_like(X.data)
        parts = (X.indptr, X.indices, X.data, out)
        if self.mode != "minmax":
            stats = (self.count_, self.center_, self.spread_)
            running.standard_sparse(*parts, *stats, self.n_rows_)
        else:
            running.minmax_sparse(*parts, self.spread_)
        return csr_matrix((out, X.indices, X.indptr), X.shape)

    def _learn_dense(self, X: np.ndarray) -> np.ndarray:
        learn, learn_late = running.minmax_rows, running.minmax_late
        out = np.empty(X.shape, dtype=X.dtype)
        arrays = [X, out, self.center_, self.spread_]
        if self.mode != "minmax":
            learn, learn_late = running.standard_rows, running.standard_late
            arrays.append(self.tails_ if self.mode == "auto" else _NO_TAILS)
        first = X.shape[1] - self.n_late_
        if self.n_late_:
            learn_late(*(array[..., first:] for array in arrays), self.count_[first:])
        learn(*(array[..., :first] for array in arrays), self.n_rows_)
        return out

    def add_columns(self, n: int) -> None:
        """Add n columns at the end, which came in mid-stream.

        A 0 there stays 0: the row lacks the column, so its scaled row does not change. The
        statistics of a new column begin at its first value that is not 0, and count zeros from
        there on. CSR rows are not centred; their new columns are treated like all others.
        """
        check_is_fitted(self, "n_rows_")
        for name, values in self._nothing_seen(n).items():
            setattr(self, name, np.append(getattr(self, name), values, axis=-1))
        self.n_features_in_ += n
        if not self.sparse_:
            self.n_late_ += n

    def _nothing_seen(self, n: int) -> dict[str, np.ndarray]:
        """Initial statistics of n columns."""
        edge = np.inf if self.mode == "minmax" and not self.sparse_ else 0.0
        values = (edge, -edge, 0.0)
        nothing = {name: np.full(n, value) for name, value in zip(_STATE, values, strict=True)}
        return nothing | ({"tails_": np.zeros((_N_TAILS, n))} if self.mode == "auto" else {})

    def transform(self, X: MatrixLike) -> Matrix:
        """Scale X, of shape (n, d), with the current statistics."""
        return self.scaled_as_is(X)

    def scaled_as_is(self, X: MatrixLike) -> Matrix:
        """As :meth:`transform`, without what scikit-learn puts around it, which takes longer."""
        if "n_rows_" not in vars(self):
            check_is_fitted(self, "n_rows_")
        X = self._checked(X, learn=False)
        if self.mode == "none":
            return X
        if self.mode == "minmax" or self.sparse_:
            center, factor = self.affine()
            if issparse(X):
                data = (X.data * factor[X.indices]).astype(X.dtype, copy=False)
                return csr_matrix((data, X.indices, X.indptr), X.shape)
            out = ((X - center) * factor).astype(X.dtype, copy=False)
        else:
            out = np.empty(X.shape, dtype=X.dtype)
            tails = self.tails_ if self.mode == "auto" else _NO_TAILS
            learned = float(self.n_rows_), self.n_features_in_ - self.n_late_, self.count_
            running.standard_now(X, out, self.center_, self.spread_, tails, *learned)
        if self.n_late_:
            out[:, -self.n_late_ :][X[:, -self.n_late_ :] == 0.0] = 0.0
        return out

    def affine(self) -> tuple[np.ndarray, np.ndarray]:
        """Current center to subtract and factor to multiply by."""
        t = max(self.n_rows_, 1)
        if self.mode == "minmax":
            width = self.spread_ if self.sparse_ else self.spread_ - self.center_
        else:
            m2 = self.spread_
            if self.sparse_:
                m2 = m2 + self.center_**2 * self.count_ * (t - self.count_) / t
            width = np.sqrt(m2 / self.rows_of_columns())
        known = (width > running.ROUNDING * np.abs(self.center_)) & np.isfinite(width)
        center = np.where(known, self.center_, 0.0)
        return center, np.divide(1.0, width, out=np.zeros_like(width), where=known)

    def rows_of_columns(self) -> np.ndarray:
        """Rows in the statistics of each column, at least 1."""
        rows = np.empty(self.n_features_in_)
        rows.fill(max(self.n_rows_, 1.0))
        if self.n_late_:
            rows[-self.n_late_ :] = np.maximum(self.count_[-self.n_late_ :], 1.0)
        return rows

    def _checked(self, X: MatrixLike, *, learn: bool) -> Matrix:
        """X as a finite float array or CSR matrix; the first rows make room for statistics."""
        if self.mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}, got {self.mode!r}")
        known = vars(self).get("n_features_in_")
        rows: Matrix
        if (
            isinstance(X, np.ndarray)
            and X.ndim == 2
            and X.shape[1] == known
            and len(X)
            and X.dtype in FLOATS
        ):
            if _short_and_small(X) and not vars(self).get("sparse_", True):
                return X
            rows = X
        else:
            rows = validate_data(
                self,
                X,
                reset=known is None,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
            )
        refuse_bad(rows)
        if learn and not self.__sklearn_is_fitted__():
            self._make_room(rows.shape[1], issparse(rows))
        if issparse(rows) != self.sparse_:
            raise ValueError("give one scaler either dense or CSR rows: it has learned the other")
        return rows

    def _make_room(self, d: int, sparse: bool) -> None:
        self.n_rows_ = 0
        self.sparse_ = bool(sparse)
        self.n_late_ = 0
        for name, values in self._nothing_seen(d).items():
            setattr(self, name, values)

    def state_fields(self) -> Fields:
        mode: dict[str, Field] = {"mode": Text(among=MODES)}
        if not self.__sklearn_is_fitted__():
            return mode
        # minimum and maximum are infinite before the first row
        finite = self.mode != "minmax" or self.sparse_
        # sums of squares of the largest values, of any number of rows
        most = np.finfo(np.float64).max if finite else np.inf
        array = Array(shape=("d",), low=-most, high=most, finite=finite)
        arrays = {"center_": array, "spread_": replace(array, low=0.0) if finite else array}
        arrays["count_"] = Array(shape=("d",), low=0.0)
        if self.mode == "auto":
            arrays["tails_"] = Array(shape=(_N_TAILS, "d"))
        late = {"n_late_": Whole(high=self.n_features_in_)}
        return mode | _COUNTS | late | arrays

    def before_state(self, state: State) -> None:
        check(state, {"mode": Text(among=MODES)})
        self.mode = state["mode"]
        if "n_rows" in state:
            check(state, {"n_features_in": Whole(low=1), "sparse": Flag()})
            self.n_rows_, self.sparse_ = 0, state["sparse"]
            self.n_features_in_ = state["n_features_in"]

    def check_state(self, state: State, sizes: Sizes) -> None:
        if "tails" in state:
            require((state["tails"][_SUMS] >= 0.0).all(), "tails: holds numbers below 0")

    def __sklearn_is_fitted__(self) -> bool:
        return "n_rows_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _short_and_small(values: np.ndarray) -> bool:
    """Whether a dense array is short and has good values: a quick answer for the usual case."""
    return values.size <= SHORT and bool(np.vdot(values, values) <= _SMALL)


def refuse_bad(X: Any) -> None:
    """Raise a DataError for the first value of X that is not finite or too large."""
    values = X.data if issparse(X) else X
    # with a small sum of squares no value is bad; it is found in a fifth of the time
    if _short_and_small(values):
        return
    # squares are summed in float64, where squares of float32 never overflow
    finite = np.isfinite(values) if values.dtype == np.float32 else np.abs(values) < LARGEST
    if finite.all():
        return
    k = int(np.argmin(finite))
    if issparse(X):
        row, column = int(np.searchsorted(X.indptr, k, side="right")) - 1, int(X.indices[k])
    else:
        row, column = divmod(k, X.shape[1])
    value = float(values.flat[k])
    if np.isfinite(value):
        message = f"{value:g} is too large to be scaled"
    else:
        what = "NaN" if np.isnan(value) else "infinity (inf)"
        message = f"X holds {what}; it must be finite"
    raise DataError(message, row=row, column=column, value=value)
