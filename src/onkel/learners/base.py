"""What all estimators share: checking rows and driving the model."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from onkel.annotations import Ahead, ArrayLike, Matrix, MatrixLike, Seed
from onkel.default.remembering import Remembering
from onkel.errors import DataError
from onkel.fields import Fields, State
from onkel.intervals.feedback import Feedback
from onkel.learners import graphs, merging, saving
from onkel.learners.checking import check_rows, column_names, group_keys, new_columns
from onkel.learners.declaration import Row, declared, param
from onkel.learners.importance import importances
from onkel.learners.learning import Rows, key_error, learn
from onkel.losses import Loss, parse_loss
from onkel.model.contract import WorkOfFits
from onkel.model.transaction import RowLog, copied_whole, locked, signals_wait, state_whole
from onkel.numerics.arrays import as_dense
from onkel.parameters import flags, non_negative, one_of
from onkel.rules import Rule
from onkel.sklearn_bases import BaseEstimator

if TYPE_CHECKING:
    from onkel.default.challenger import RestartingModel
    from onkel.model.contract import Model


@declared
class OnlineEstimator(BaseEstimator):
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

    __deepcopy__ = copied_whole
    __getstate__ = state_whole

    _task: ClassVar[str]
    _losses: ClassVar[tuple[str, ...]]
    _representation: ClassVar[str]
    #: whether ``groups=`` may say which series rows belong to
    takes_groups: ClassVar[bool] = False
    #: the learner's rows in the table of algorithms
    _rows: ClassVar[tuple[Row, ...]] = ()
    #: whether the learner scales features and targets by itself
    scales_itself: ClassVar[bool] = False
    if TYPE_CHECKING:

        @property
        def loss(self) -> str:
            """Each learner declares it."""

        @property
        def random_state(self) -> Seed:
            """0 for learners without the parameter."""

    else:
        random_state = 0

    feedback: bool = param(
        default=False,
        doc="Keep prediction intervals, predictive sets and an alarm, updated by each label "
        "(:mod:`onkel.intervals`): ``predict_interval``, ``predict_set``, ``alarms_``. It takes 1 "
        "to 2 µs a row.",
    )
    dtype: str = param(
        default="float32",
        kind='{"float32", "float64"}',
        doc="Of the features or stored rows, the kernel values and the weights.",
    )

    @property
    def epsilon(self) -> float:
        """0 for learners without the parameter."""
        return 0.0

    # ---- what a named learner defines ------------------------------------------------------------

    def _make_rule(self) -> Rule:
        raise NotImplementedError(f"{type(self).__name__} names no rule")

    def _make_model(
        self, d: int, rule: Rule, loss: Loss, epsilon: float, n_outputs: int
    ) -> Model | RestartingModel:
        """The model f = 0 in the learner's representation."""
        raise NotImplementedError(f"{type(self).__name__} names no representation")

    def _new_memory(self, d: int, n_outputs: int) -> Remembering | None:
        """What remembers the last labels; None for a learner that does not."""
        return None

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
        #: f, in the learner's representation
        self.model_: Model | RestartingModel = self._make_model(d, rule, loss, epsilon, n_outputs)
        #: what is remembered of the last labels; None for most learners
        self.memory_: Remembering | None = self._new_memory(d, n_outputs)
        #: what labels that came say of predictions; None without ``feedback``
        self.feedback_: Feedback | None = Feedback(self._task) if self.feedback else None
        self.n_features_in_: int = d
        self._n_features_first = d
        # of models that do not undo by themselves: up to 1 kB a row are copied
        self._undo_log = RowLog(4096, 1 << 10)
        self.n_rows_: int = 0
        #: whether what was fitted on first rows is frozen: see :meth:`fix_map`
        self.map_fixed_: bool = False

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features or stored rows, (K, m): one row for binary and regression."""
        check_is_fitted(self)
        return self.model_.coef

    @property
    def nbytes_(self) -> int:
        """Bytes of everything the model holds."""
        check_is_fitted(self)
        own = 0 if self.memory_ is None else self.memory_.nbytes_of_state()
        return own + self.model_.nbytes_of_state()

    def work_of_fits(self, rows: int) -> WorkOfFits:
        """How much work all searches and fits so far were, and those of the next ``rows`` rows.

        In multiplications, so that their ratio says how long the rest may take.
        """
        return self.model_.work_of_fits(rows) if self.__sklearn_is_fitted__() else WorkOfFits()

    def rows_before_fit(self) -> float:
        """Rows that can be learned before the next one that takes long: a part of a search, say."""
        if not self.__sklearn_is_fitted__():
            return 0.0
        rows = self.model_.rows_before_fit()
        return rows if self.memory_ is None else min(rows, self.memory_.rows_before_fit())

    def fit_ahead(self) -> bool:
        """Make a small part of a search before its rows come; False if there is none to make.

        For moments in which no row waits. The model will be the same, and learn some rows faster.
        """
        if not self.__sklearn_is_fitted__():
            return False
        memory = self.memory_
        return self.model_.fit_ahead() or (memory is not None and memory.fit_ahead())

    def rows_kept(self) -> np.ndarray:
        """How many rows ago each row came that is kept for a last fit: the last one, 1."""
        known = self.__sklearn_is_fitted__()
        return self.model_.rows_kept() if known else np.empty(0, np.int64)

    def rows_before_anew(self) -> float:
        """Rows until those kept are fitted anew in mid-stream; at 0 they may be changed."""
        return self.model_.rows_before_anew() if self.__sklearn_is_fitted__() else math.inf

    def change_rows_kept(self, columns: np.ndarray, values: np.ndarray) -> None:
        """Replace these columns of the rows kept by ``values``.

        They are in the order of :meth:`rows_kept`. Where there will be no fit nothing changes.
        """
        self.model_.change_rows_kept(columns, values)
        self._undo_log.forget()

    @property
    def changes_(self) -> list[int]:
        """Rows learned at each restart after a change of the stream; most learners have none."""
        return []

    @property
    def alarms_(self) -> list[int]:
        """Rows scored at each ring of the alarm on larger errors; [] without ``feedback``."""
        return [] if self.feedback_ is None else self.feedback_.alarm.alarms_

    def _known_feedback(self) -> Feedback:
        if not self.feedback:
            raise ValueError(f"{type(self).__name__} keeps no errors so far: give feedback=True")
        check_is_fitted(self)
        assert self.feedback_ is not None
        return self.feedback_

    # ---- learning --------------------------------------------------------------------------------

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Forget everything, learn the rows once, in order, and :meth:`consolidate`.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
        y : array of shape (n,)
            Values, or labels: numbers, strings or booleans. The classes are those of y.
        sample_weight : array of shape (n,), optional
            Weights ≥ 0; a row of weight 0 changes nothing.
        groups : array of shape (n,), optional
            For a learner that remembers the targets (okl): the series that each row belongs to, as
            texts or numbers. Each series has a memory of its own targets; the model is learned
            from all rows.
        """
        learn(self, X, self._read_targets(y), sample_weight, whole=True, groups=groups)
        return self.consolidate()

    def _read_targets(self, y: ArrayLike | None) -> tuple[np.ndarray, DataError | None]:
        """Targets (n,), and the error of the first that cannot be learned."""
        raise NotImplementedError

    def _begin(
        self, d: int, y: np.ndarray, classes: Iterable[Hashable] | None, whole: bool
    ) -> None:
        """Begin with f = 0 over rows of d columns."""
        raise NotImplementedError

    def _check_classes(self, classes: Iterable[Hashable]) -> None:
        """Raise a ValueError unless these are the classes that the learner began with."""

    def _learn_rows(self, rows: Rows, a: int, out: list[Any]) -> None:
        """Learn rows, from row a of the block on; ``out`` gets what was predicted of them."""
        raise NotImplementedError

    def _attach_predictions(self, error: BaseException, out: list[Any]) -> None:
        """Let an error say what was predicted of the rows before it."""
        raise NotImplementedError

    # ---- checking --------------------------------------------------------------------------------

    def _check_scoring(self, X: MatrixLike) -> Matrix:
        if "model_" not in vars(self):
            check_is_fitted(self)
        X, error = check_rows(self, X, reset=False, least=0)
        if error is not None:
            raise error
        return X

    def _next_rows(
        self, X: MatrixLike, ahead: Ahead, groups: ArrayLike | None
    ) -> tuple[Matrix, Ahead, list[Hashable] | None]:
        """Checked rows, of which the first comes ``ahead`` rows after the next; their groups."""
        each = isinstance(ahead, np.ndarray) and ahead.dtype.kind == "i" and (ahead >= 0).all()
        if not each and (not isinstance(ahead, int | np.integer) or ahead < 0):
            raise ValueError(f"ahead={ahead!r} must be a whole number of at least 0")
        X, keys = self._check_scoring(X), None if groups is None else group_keys(groups)
        checked = self.takes_groups or keys is not None
        error = key_error(self, keys, X.shape[0]) if checked else None
        if error is not None:
            raise error
        return X, ahead, keys

    @locked
    def _scores(self, X: MatrixLike) -> np.ndarray:
        X = self._check_scoring(X)
        return self.model_.scores(X)

    def _next_scores(
        self, X: Matrix, ahead: Ahead, keys: list[Hashable] | None = None
    ) -> np.ndarray:
        """Scores (n, K) of checked rows that come next, in order, their labels not yet known."""
        P = self.model_.scores(X)
        return P if self.memory_ is None else self.memory_.predict(X, P, ahead, keys)

    def _next_row(self, X: np.ndarray) -> np.ndarray:
        """Scores (K,) of the row X (1, d), of the learner's dtype, that comes next."""
        if self.memory_ is None:
            return self.model_.score_row(X)
        return np.asarray(self._next_scores(X, 0)[0])

    @locked
    def feature_importances(
        self, X: MatrixLike, groups: Sequence[np.ndarray] | None = None
    ) -> np.ndarray:
        """How much each feature moves the scores around the rows X (n, d); (d,), summing to 1.

        The mean squared slope of f along the feature, in units of its standard deviation over X;
        see :mod:`onkel.learners.importance`. A few hundred rows like those to be predicted are
        enough. Features with the same information share their importance. ``groups`` holds the
        numbers of the features of each column; the importances are then those of the columns.
        """
        X = as_dense(self._check_scoring(X))
        return importances(self.model_.scores, X, groups)

    # ---- columns that come in mid-stream ---------------------------------------------------------

    @locked
    def add_columns(self, columns: int | str | Sequence[str], *, quietly: bool = False) -> Self:
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
        with signals_wait:
            self._undo_log.forget()
            for part in (self.model_, self.memory_):
                if part is not None:
                    (part.widen if quietly else part.add_columns)(n)
            self.n_features_in_ += n
        if known is not None:
            self.feature_names_in_: np.ndarray = np.array([*known, *names], dtype=object)
        return self

    @locked
    def consolidate(self) -> Self:
        """Fit once more on all rows kept: for a model that will be frozen, when all rows are there.

        The default learner may search for landmarks each time the rows have doubled, so a model of
        8 000 rows has at best the landmarks of 4 096. This searches once more, in 48 steps, over
        all rows that are still kept: all of the first 131 072, fewer where they take more than
        64 MB.
        From 8 rows a landmark on each landmark gets widths of its own where held-out rows are
        clearly better for it. From 576 to 1 023 rows, which no search has seen, it fits the widths
        of the columns to all of them. Then the rows are learned again, and trees are grown beside
        the landmarks where rows held out are predicted better for it, from 256 rows on. ``fit`` and
        the end of ``onkel learn`` do this by themselves.

        Use it after ``partial_fit``, when no rows will come for a while: it takes about as long as
        all searches before. The model goes on learning afterwards, and searches again when it is
        due. Do not use it between the rows of a stream whose predictions are to be strictly
        reproducible from the rows alone: it changes all that follow. With ``speed="fast"`` it only
        grows trees. It changes nothing before 256 rows, once the rows are no longer kept, and for
        learners that search nothing.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
            Nothing has been learned.

        Examples
        --------
        >>> import numpy as np
        >>> from onkel import OnlineKernelRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(-3, 3, (3000, 2))
        >>> y = np.sin(3 * X[:, 0]) * X[:, 1]
        >>> model = OnlineKernelRegressor(n_components=50).partial_fit(X[:2000], y[:2000])
        >>> def rmse():
        ...     return np.sqrt(np.mean((model.predict(X[2000:]) - y[2000:]) ** 2))
        >>> before = rmse()
        >>> model = model.consolidate()
        >>> bool(rmse() < 0.9 * before)
        True
        """
        check_is_fitted(self)
        self._undo_log.forget()
        self.model_.consolidate()
        return self

    # ---- learners of parts of a stream -----------------------------------------------------------

    @locked
    def fix_map(self) -> Self:
        """Freeze what was fitted on first rows, so that copies can learn parts of a stream apart.

        Landmarks, widths, penalties, bandwidths, bins and classes stay as they are. The default
        learner no longer begins anew when the stream changes, and drops the memory of the last
        labels, because parts of a stream have no common order. This cannot be undone.

        Raises
        ------
        MergeError
            The learner cannot be merged, or has learned too little for a map; the message says why.

        Examples
        --------
        See :meth:`merge`.
        """
        self._undo_log.forget()
        merging.fix_map(self)
        return self

    @locked
    def merge(self, other: Self, *, since: Self | None = None) -> Self:
        """Take in what another learner has learned, as if one had learned the rows of both.

        Where a learner keeps sums over rows, they add up: a + b - o, with o the learner ``since``.

        ==================  ========================================================================
        least squares       exact: the sums add, so the weights are those of one pass over all
                            rows, to rounding. With ``forgetting``, b's rows follow a's.
        online Newton       the sums add, each linearised at the scores of its own part.
        gradient rules      the weights are mixed, in proportion to the rows learned (Zinkevich et
                            al. 2010). AdaGrad's sums of squares add. A mean of P learners varies
                            less, but has moved only as far as one of them: less than one pass.
        cells               between the mean of both and the sum, by the precision that each
                            gained. Cells learn from the errors of their own part's model, and the
                            cells of a row share one error, so the result is near one pass, not
                            equal to it. Together they have less noise, so more is added to f.
        linear follower     mostly that of b, whose rows follow a's: it knows the last rows only.
        calibration         the mean of both, weighted by the precision gained.
        ==================  ========================================================================

        Parameters
        ----------
        other : estimator
            Of the same class and parameters, over the same map. It is left as it is.
        since : estimator, optional
            The learner that both went on from: the rows it had learned count once. Leave it out if
            no row was learned by both.

        Raises
        ------
        MergeError
            They differ in map, kernel, seed, classes, columns or parameters (the first difference
            is named); the map is not fixed; or learners of this kind cannot be merged. Nothing is
            changed then.

        Examples
        --------
        >>> import copy
        >>> import numpy as np
        >>> from onkel import OnlineKernelClassifier
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(-3, 3, (6000, 2))
        >>> y = np.sin(X[:, 0] * X[:, 1]) > 0
        >>> sample = OnlineKernelClassifier(n_components=100).fit(X[:2000], y[:2000]).fix_map()
        >>> parts = [copy.deepcopy(sample) for _ in range(2)]
        >>> for k, part in enumerate(parts):
        ...     _ = part.partial_fit(X[2000 + k:5000:2], y[2000 + k:5000:2])
        >>> whole = parts[0].merge(parts[1], since=sample)
        >>> whole.n_rows_, whole.score(X[5000:], y[5000:]) > 0.95
        (5000, True)

        Notes
        -----
        Source: Zinkevich, Weimer, Smola & Li 2010 (mixing).
        """
        with signals_wait:
            merging.merge(self, other, since)
            self._undo_log.forget()
        return self

    def _take_in_own(self, other: Self, since: Self | None) -> None:
        """Add what another learned beside its model."""

    # ---- saving ----------------------------------------------------------------------------------

    @locked
    def get_state(self) -> State:
        """A copy of everything, as a nested dict of arrays and plain values; see `from_state`."""
        return saving.state_of(self)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """A learner that continues, bit for bit, where that of :meth:`get_state` stood."""
        return saving.learner_from(cls, state)

    def _own_fields(self) -> Fields:
        """The attributes that are learned beside the model."""
        return {}

    def _n_outputs(self, state: State) -> int:
        """The number of outputs of a model with this fitted state."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the learner to one file, atomically; :func:`onkel.load` reads it."""
        from onkel.persistence import save

        save(self, path)

    def to_bytes(self) -> bytes:
        """The content of the file that `save` writes; :func:`onkel.from_bytes` reads it."""
        from onkel.persistence import to_bytes

        return to_bytes(self)

    @locked
    def export_onnx(self, path: str | os.PathLike[str]) -> None:
        """Write the learner as an ONNX graph, for runtimes without Python.

        The graph takes ``X`` (n, d) of the learner's ``dtype`` and gives ``prediction`` (n,), as
        ``predict`` does; for a classifier also ``decision``, (n,) for two classes, else
        (n, n_classes), and ``probabilities`` (n, n_classes) if ``predict_proba`` has them. It does
        not learn, has no memory, and does not refuse NaN. See docs/guide/export.md.

        Parameters
        ----------
        path : path-like
            Usually ending in ``.onnx``. An existing file is replaced.

        Raises
        ------
        ImportError
            The package onnx is missing: ``pip install 'onkel[onnx]'``.
        ExportError
            A part of the learner cannot be written as a graph; the message says which and why.
        ModelFileError
            The folder does not exist or cannot be written.
        """
        graphs.write_graph(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
