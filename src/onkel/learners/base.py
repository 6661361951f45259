"""What all estimators share: checking rows and driving the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from onkel.errors import DataError, DivergenceError
from onkel.learners.checking import check_rows, column_names, first_error, new_columns, weights
from onkel.learners.declaration import Row, declared, param
from onkel.learners.importance import importances
from onkel.learners.portable.exported import Exported
from onkel.learners.portable.saved import nbytes
from onkel.learners.told import Told
from onkel.losses import Loss, parse_loss
from onkel.model.lock import locked
from onkel.numerics.arrays import as_dense
from onkel.parameters import flags, non_negative, one_of
from onkel.rules import Rule


@declared
class OnlineEstimator(Exported):
    """A learner that takes rows in order, each predicted before it is learned.

    Threads may share it. Calls run one at a time, so a prediction sees the model before a block or
    after it, never in between.

    Attributes
    ----------
    n_rows_ : int
        Rows learned (weight above 0).
    n_features_in_ : int
        Columns of a row.
    nbytes_ : int
        Size of the model in bytes.

    Raises
    ------
    ValueError
        On ``fit``, for a parameter out of its range, or for parts that do not fit together. The
        message names it and says why.
    """

    _task: ClassVar[str]
    _losses: ClassVar[tuple[str, ...]]
    _representation: ClassVar[str]
    #: whether ``groups=`` may say which series rows belong to
    takes_groups: ClassVar[bool] = False
    #: the learner's rows in the table of algorithms
    _rows: ClassVar[tuple[Row, ...]] = ()
    # for learners without these parameters
    epsilon = 0.0
    random_state = 0

    dtype: str = param(
        default="float32",
        kind='{"float32", "float64"}',
        doc="Of the features or stored rows, the kernel values and the weights.",
    )

    # ---- what a named learner defines ------------------------------------------------------------

    def _make_rule(self) -> Rule:
        raise NotImplementedError(f"{type(self).__name__} names no rule")

    def _make_model(self, d: int, rule: Rule, loss: Loss, epsilon: float, n_outputs: int) -> Any:
        """The model f = 0 in the learner's representation."""
        raise NotImplementedError(f"{type(self).__name__} names no representation")

    # ---- the model -------------------------------------------------------------------------------

    def _start(self, d: int, n_outputs: int) -> None:
        """Check all parameters and begin with f = 0 over rows of d columns."""
        one_of(self, "dtype", ("float32", "float64"))
        flags(self)
        epsilon = non_negative(self, "epsilon")
        rule = clone(self._make_rule())
        name = rule.loss_name(self.loss, self._task)
        loss = parse_loss(
            name, self._losses if rule.own_loss is None else tuple(rule.own_loss.values())
        )
        self.model_ = self._make_model(d, rule, loss, epsilon, n_outputs)
        self._n_features_first = d
        self.n_rows_ = 0
        self.map_fixed_ = False

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features or stored rows, (K, m): one row for binary and regression."""
        check_is_fitted(self)
        return self.model_.coef

    @property
    def nbytes_(self) -> int:
        """Bytes of everything the model holds."""
        check_is_fitted(self)
        return nbytes(self.model_.get_state())

    # ---- learning --------------------------------------------------------------------------------

    @locked
    def _learn(
        self, X: Any, y: Any, sample_weight: Any, whole: bool = False, classes: Any = None
    ) -> Any:
        """Check the rows and learn those before the first bad one; returns the predictions before.

        ``whole``: start afresh, and learn nothing of a block with a bad row.
        """
        reset = whole or not self.__sklearn_is_fitted__()
        with self._or_as_before() if whole else nullcontext():
            with self._or_as_before() if reset else nullcontext():
                y, error = self._read_targets(y)
                X, row_error = check_rows(self, X, reset)
                if row_error is None and X.shape[0] != len(y):
                    raise ValueError(f"X has {X.shape[0]} rows and y has {len(y)}; they must agree")
                weight, weight_error = weights(sample_weight, len(y), needed=whole)
                error = first_error(row_error, error, weight_error, self._key_error(len(y), whole))
                if error is not None and (whole or (reset and not error.row)):
                    raise error
                if reset:
                    self._begin(X.shape[1], y, classes, whole)
                error = first_error(self._unknown_target(y, weight, classes, error), error)
            stop = len(y) if error is None else error.row
            out = self._learn_rows(X[:stop], y[:stop], weight[:stop])
            if error is not None:
                self._tell(error, out)
                raise error
            return out

    def _tell(self, error: DataError, out: Any) -> None:
        """Attach to an error what was predicted before it."""
        error.predictions = self._predicted(out)

    @locked
    def tell_then_learn(self, X: Any, y: Any) -> Told:
        """As ``predict_then_learn``, with the scores behind the predictions if there are any."""
        return Told(self._predicted(self._learn(X, y, None)))

    def _read_targets(self, y: Any) -> tuple[np.ndarray, DataError | None]:
        """Targets (n,) as they are learned, and the error of the first that cannot be learned."""
        raise NotImplementedError

    def _begin(self, d: int, y: np.ndarray, classes: Any, whole: bool) -> None:
        """Begin with f = 0 over rows of d columns."""
        raise NotImplementedError

    def _unknown_target(
        self, y: np.ndarray, weight: np.ndarray, classes: Any, error: DataError | None
    ) -> DataError | None:
        """The error of the first target, before that of ``error``, that the model cannot take."""
        return None

    def _key_error(self, n: int, whole: bool) -> DataError | None:
        """The error of the first of n rows without a valid group."""
        return None

    def _learn_rows(self, X: Any, y: np.ndarray, weight: np.ndarray) -> Any:
        """Learn checked rows."""
        raise NotImplementedError

    def _predicted(self, out: Any) -> np.ndarray:
        """Predictions before learning, from what :meth:`_learn_rows` returned."""
        raise NotImplementedError

    def _learn_weighted(
        self, X: Any, y: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, DataError | None]:
        """Learn rows until one is refused; returns the scores before each, and the refusal."""
        refused: DataError | None = None
        try:
            P = self.model_.learn(X, y, weight)
        except DivergenceError as error:
            P, refused = error.scores, error
        return P, refused

    # ---- checking --------------------------------------------------------------------------------

    def _check_scoring(self, X: Any) -> Any:
        check_is_fitted(self)
        X, error = check_rows(self, X, reset=False)
        if error is not None:
            raise error
        return X

    def _check_next(self, X: Any, ahead: int) -> Any:
        """As :meth:`_check_scoring`, for rows that begin ``ahead`` rows after the next one."""
        if not isinstance(ahead, int | np.integer) or ahead < 0:
            raise ValueError(f"ahead={ahead!r} must be a whole number of at least 0")
        return self._check_scoring(X)

    @locked
    def _scores(self, X: Any) -> np.ndarray:
        X = self._check_scoring(X)
        return self.model_.scores(X)

    def _next_scores(self, X: Any, ahead: int) -> np.ndarray:
        """Scores (n, K) of checked rows that come next, in order, their labels not yet known."""
        return self.model_.scores(X)

    def _next_row(self, X: np.ndarray) -> np.ndarray:
        """Scores (K,) of the row X (1, d), of the learner's dtype, that comes next."""
        return self.model_.score_row(X)

    @contextmanager
    def _or_as_before(self) -> Iterator[None]:
        """If what is inside fails, set the learner back to what it was."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    @locked
    def feature_importances(self, X: Any, groups: Sequence[np.ndarray] | None = None) -> np.ndarray:
        """How much each feature moves the scores around the rows X (n, d); (d,), summing to 1.

        The mean squared slope of f along the feature, in units of its standard deviation over X;
        see :mod:`onkel.learners.importance`. A few hundred rows like those to be predicted are
        enough. Features with the same information share their importance. ``groups`` holds the
        numbers of the features of each column; the importances are then those of the columns.
        """
        X = as_dense(self._check_scoring(X))
        return importances(self.model_.scores, X, groups)

    @property
    def changes_(self) -> list[int]:
        """Rows learned at each restart after a change of the stream; most learners have none."""
        return []

    # ---- columns that come in mid-stream ---------------------------------------------------------

    @locked
    def add_columns(self, columns: Any, *, quietly: bool = False) -> Self:
        """Append new columns; all rows so far had 0 in them.

        The model becomes what it would be with these columns, always 0, from the start (to
        rounding; what was fitted on first rows stays): a row with 0 in them is predicted as before.
        Fourier maps draw frequencies for them from the same seeded stream (orthogonal ones are
        orthogonal among the first columns only). Stored rows and landmarks get zeros, a linear
        model zero weights. Fixed landmarks (Nyström) barely use a new column: a value there only
        moves a row away from all of them. The default learner starts a second model, with landmarks
        that use the column. For a column that vanishes, give 0 from then on.

        Parameters
        ----------
        columns : int or list of str
            Their number, or their names if the learner knows its columns by name.
        quietly : bool, default=False
            True: the default learner starts no second model. For columns that bring no news, such
            as one more value of a category.

        Raises
        ------
        ValueError
            Nothing has been learned yet; a number where columns have names; a name that exists.
        """
        check_is_fitted(self)
        known = column_names(self)
        n, names = new_columns(columns, known)
        (self.model_.widen if quietly else self.model_.add_columns)(n)
        self.n_features_in_ += n
        if known is not None:
            self.feature_names_in_ = np.array([*known, *names], dtype=object)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    #: whether the learner scales features and targets by itself
    scales_itself: ClassVar[bool] = False
