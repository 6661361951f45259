"""The default learner: exact second order, learned landmarks and widths, nothing to tune."""

from __future__ import annotations

from typing import Any

from onkel.annotations import MatrixLike, Seed
from onkel.default.challenger import RestartingModel
from onkel.default.corrected_by_cells import CorrectedModel, SecondModel
from onkel.default.remembering import Remembering
from onkel.default.with_search import ModelWithSearch
from onkel.default.without_search import ModelWithoutSearch
from onkel.explicit.model import ExplicitModel
from onkel.learners.classification import OnlineClassifier
from onkel.learners.declaration import Row, declared, learner, param
from onkel.learners.named.least_squares import predicted_with_std
from onkel.learners.regression import OnlineRegressor
from onkel.learners.representations import OverMap
from onkel.losses import Loss
from onkel.maps import LearnedLandmarks
from onkel.model.transaction import locked
from onkel.parameters import non_negative, one_of, whole
from onkel.rules import LeastSquares, LogisticNewton

#: rows that the search for landmarks sees, its steps at each doubling of the rows, and how many
#: times the work of learning all searches may take
SPEEDS = {
    "fast": (1_024, 0, 0.0),
    "balanced": (131_072, 12, 20.0),
    "accurate": (131_072, 42, 60.0),
}
#: the share of squared errors that a search of the model must promise to gain, and one of the
#: second model of a memory: there rows held out have neighbours in time that were learned, and the
#: next rows gain less than they do
LEAST_GAIN, LEAST_GAIN_OF_SECOND = 0.02, 0.05
# Most groups that a learner may be told to remember.
_MOST_GROUPS = 10**9
_RULES: dict[str, type[LeastSquares | LogisticNewton]] = {
    "squared": LeastSquares,
    "logistic": LogisticNewton,
}


@declared
class _OnlineKernel(OverMap):
    """Learned landmarks × least squares; the penalty λ is learned with the landmarks.

    Attributes
    ----------
    coef_ : ndarray of shape (1 or n_classes, B + 1)
        α and c.
    map_ : LearnedLandmarks
        With ``landmarks_`` (B, d), ``width_`` (d,) and ``ridge_``.

    Notes
    -----
    The landmarks are learned by gradients of the evidence, on a schedule of ours. Probabilities:
    see :mod:`onkel.default.calibration`. The recursion is always in float64.
    """

    _rows = (Row(
        "okl", "online kernel learner with learned landmarks, widths and penalty", "squared",
        "least squares", "learned landmarks", "Engel, Mannor & Meir 2004",
        "with landmarks as Snelson & Ghahramani 2006",
    ),)  # fmt: skip
    loss = "squared"
    #: it takes columns and targets in any units; an online scaler before it would only blur them
    scales_itself = True
    takes_groups = True

    n_components: int = param(
        default=500,
        doc="Number of landmarks B ≥ 1. More are better, cost O(B²) a row, and take up to 32·B² "
        "bytes, with trees 48·B². Rows kept for the last fit come on top: up to 64·B² bytes with "
        'speed="fast", else up to 64 MB. While it learns, a copy of the model is kept as well, to '
        "undo a block that fails.",
    )
    speed: str | float = param(
        default="balanced",
        kind='{"fast", "balanced", "accurate"} or float',
        doc='"fast": landmarks are chosen among the first 1 024 rows, widths and penalty are those '
        "of the first 512, in about a second; the last fit grows few trees, in a few seconds. "
        '"balanced": a search of 12 steps at 1 024, 2 048, '
        "..., 65 536 rows, with 24 more for widths of the landmarks' own; two thirds as many where "
        "a landmark has fewer than three rows, half as many at 131 072. "
        "A search is left out where a small one gains less than 2 % of the squared "
        "errors, or 4 % where only float64 will do. "
        '"accurate": 42 steps. A number ≥ 0: as "balanced", but all searches together take at most '
        'so many times the multiplications of learning; "balanced" itself takes at most 10 times, '
        "at half of the time each.",
    )
    restart: bool = param(
        default=True,
        doc="Follow a stream that changes: when the losses rise, a second model starts on the rows "
        "that come, and replaces the first as soon as it is better (see "
        ":mod:`onkel.default.challenger`). It costs time only then.",
    )
    forgetting: float = param(
        default=1.0,
        doc="In (0, 1]: each row's influence is multiplied by this with every further row. For "
        "streams that never stop changing: 0.9998 remembers about 5 000 rows.",
    )
    pairs: bool = param(
        default=True,
        doc="Add the cells of columns and pairs: up to half of the model's bytes, 4 µs a row; with "
        'loss="squared" only. Then there are trees, too: from the 4 608th row on, and others after '
        "the last fit (``consolidate``).",
    )
    memory: str | bool = param(
        default="auto",
        kind='{"auto", False}',
        doc="Let ``predict_then_learn`` and ``predict_next`` also use the labels learned so far: "
        "the last ones, their levels and period, the model's last errors; and, where that clearly "
        "helps, a second model of these and the row's columns together (see "
        ":mod:`onkel.default.remembering`). ``predict`` is a function of each row alone. With "
        "``class_weight`` there is no memory.",
    )
    max_groups: int = param(
        default=100_000,
        doc="Most groups (``groups=``) with a memory of their own: those seen last. 1 kB each.",
    )
    feedback: bool = True
    device: str = param(
        default="cpu",
        kind='{"cpu", "cuda"}',
        doc='"cuda": the products of the search, and those of blocks of rows with the matrix of '
        "least squares, are made on an NVIDIA GPU (``pip install 'onkel[cuda]'``). It is not "
        "saved: a loaded model learns on the processor.",
    )
    dtype: str = "float64"
    random_state: Seed = param(
        default=0, kind="int, RandomState or None", doc="Which rows the search holds out."
    )

    def _make_map(self) -> LearnedLandmarks:
        if isinstance(self.speed, str):
            rows, steps, budget = SPEEDS[one_of(self, "speed", SPEEDS)]
        else:
            (rows, steps, _), budget = SPEEDS["balanced"], non_negative(self, "speed")
        return LearnedLandmarks(
            self.n_components, rows, steps, budget, LEAST_GAIN, self._remembers, device=self.device
        )

    @property
    def _remembers(self) -> bool:
        """Whether predictions of the next rows use the labels so far."""
        # a memory of the labels would undo the weights of classes
        return self.memory is not False and getattr(self, "class_weight", None) is None

    def _make_rule(self) -> LeastSquares | LogisticNewton:
        if self.loss not in _RULES:
            raise ValueError(f"loss={self.loss!r} must be one of {', '.join(map(repr, _RULES))}")
        return _RULES[self.loss](1.0, self.forgetting, self.device)

    def _make_model(
        self,
        d: int,
        rule: Any,
        loss: Loss,
        epsilon: float,
        n_outputs: int,
        with_cells: type[CorrectedModel] | None = None,
        feature_map: LearnedLandmarks | None = None,
    ) -> Any:
        if self.average:
            raise ValueError(
                "average=True cannot be used here: the weights are the solution of all rows so far"
            )
        with_cells = with_cells or (ModelWithoutSearch if self.speed == "fast" else ModelWithSearch)
        corrected = self.pairs and isinstance(rule, LeastSquares)
        representation = with_cells if corrected else ExplicitModel
        parts = feature_map or self._new_map(d), rule, loss, epsilon, n_outputs
        return RestartingModel(*parts, representation) if self.restart else representation(*parts)

    @property
    def changes_(self) -> list[int]:
        """Rows learned each time a new model took over on a change of the stream; the last 64."""
        model = self.model_
        return model.changed_at if isinstance(model, RestartingModel) else []

    def _new_memory(self, d: int, n_outputs: int) -> Remembering | None:
        if self.memory not in ("auto", False):
            raise ValueError(f"memory={self.memory!r} must be 'auto' or False")
        most = whole(self, "max_groups", most=_MOST_GROUPS)
        if not self._remembers:
            return None
        if not isinstance(self, OnlineClassifier):
            return Remembering(self._make_second, d, None, most=most)
        log_odds = self.loss == "logistic"
        return Remembering(self._make_second, d, max(n_outputs, 2), log_odds, most)

    def _make_second(self, d: int) -> Any:
        """A least squares model of one output over rows of d columns."""
        rule, feature_map = LeastSquares(1.0, self.forgetting, self.device), self._new_map(d)
        assert isinstance(feature_map, LearnedLandmarks)
        # its targets are what the labels so far have left
        feature_map.labels_before, feature_map.least_gain = False, LEAST_GAIN_OF_SECOND
        if feature_map.search_steps:
            # which is little to choose by, and searches find widths, too
            feature_map.spare_work()
        return self._make_model(d, rule, Loss.SQUARED, 0.0, 1, SecondModel, feature_map)


@learner("n_components=50", score="0.97")
class OnlineKernelClassifier(_OnlineKernel, OnlineClassifier):
    """The default classifier, with nothing to tune: least squares over learned landmarks.

    f = c + Σ_j α_j κ(s_j, ·) with κ(x, s_j) = 1/(1 + ‖w_j ∘ (x - s_j)‖²). After every row, (c, α)
    is the exact least squares solution of all rows so far on their labels (±1, or indicators of the
    classes), with a penalty λ. The landmarks s, their widths w in every column, and λ are learned
    from the first rows: up to 512 rows from leave-one-out errors; then, each time the rows have
    doubled, by gradient steps on the evidence as long as held-out rows improve. From the
    131 072nd row on they are fixed. At first all landmarks share their widths; from 16·B rows on
    each landmark gets its own, if that predicts held-out rows better. Columns and targets may have
    any units; scaling them first changes nothing. asinh compresses columns with heavy tails
    (:mod:`onkel.maps.landmarks.fitted`). O(B·d + B²) a row, in matrix products.

    A correction a·s(x) is added to f; cells of one and of two columns learn it from f's residuals
    (jumps, single values, odd scales). The factor a grows as far as the cells have been right.
    Further cells remember the last 5 000 and the last 500 rows, and follow slow changes
    (:mod:`onkel.default.corrected_by_cells`). Where there are more columns than landmarks, or where
    it predicts the first rows better, a linear function of all columns has a share, too
    (:mod:`onkel.default.linear_part`). A linear model of the last rows follows a rule that keeps
    turning (:mod:`onkel.default.linear_follower`). From the 4 608th row on there are trees beside
    the landmarks, whose leaves go on learning (:mod:`onkel.default.early_trees`). ``fit`` and
    :meth:`consolidate` grow others from all rows kept, where they help
    (:mod:`onkel.default.last_trees`).

    Use it first. If it is too slow, ``speed="fast"`` leaves out the search, and fewer landmarks
    (``n_components``) make the rest cheaper; :class:`FOGDClassifier` learns many times more rows
    per second. With thousands of columns, use :class:`PAClassifier` where they are sparse, and
    :class:`FastfoodClassifier` where they are dense. For a model of a few kilobytes, use
    :class:`BSGDMClassifier`.
    """

    _calibrated = True

    loss: str = param(
        default="squared",
        kind='{"squared", "logistic"}',
        doc='"logistic": online Newton steps of the logistic loss '
        "(:class:`onkel.rules.LogisticNewton`), about as accurate on two classes, less accurate on "
        "more, and no faster; without cells and trees. See docs/results/second-order.md.",
    )


@declared
class OnlineKernelRegressor(_OnlineKernel, OnlineRegressor):
    """The default regressor: nothing to tune, with error bars.

    As :class:`OnlineKernelClassifier`, on the targets themselves, in any units;
    ``predict(X, return_std=True)`` also gives the predictive standard deviation √(σ²(1 + zᵀ P z)),
    σ² estimated from the innovations. It includes the noise and the uncertainty of the weights; far
    from all landmarks, where the features are 0, only the noise.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import OnlineKernelRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (2000, 1))
    >>> y = 100 + np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(2000)
    >>> model = OnlineKernelRegressor(n_components=50).fit(X, y)
    >>> mean, std = model.predict([[0.5]], return_std=True)
    >>> print(f"{mean[0]:.1f} ± {std[0]:.1f}")
    100.8 ± 0.1
    """

    @locked
    def predict(self, X: MatrixLike, return_std: bool = False) -> Any:
        """Values (n,) of the rows X (n, d); with ``return_std`` their standard deviations, too."""
        return predicted_with_std(self, X) if return_std else super().predict(X)
