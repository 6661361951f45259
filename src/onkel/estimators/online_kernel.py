"""The learner to reach for: exact second order, learned landmarks and widths, nothing to tune."""

from __future__ import annotations

from typing import Any

from onkel.estimators.calibrated import CalibratedClassifier
from onkel.estimators.uncertain import UncertainRegressor
from onkel.losses import Loss
from onkel.maps import LearnedLandmarks
from onkel.models.corrected import CorrectedModel
from onkel.models.explicit import ExplicitModel
from onkel.models.restarting import RestartingModel
from onkel.rules import LeastSquares, LogisticNewton

__all__ = ["OnlineKernelClassifier", "OnlineKernelRegressor"]

#: rows that the search for landmarks sees, and its steps each time the rows have doubled
SPEEDS = {"fast": (1_024, 0), "balanced": (131_072, 24), "accurate": (131_072, 64)}


_RULES = {"squared": LeastSquares, "logistic": LogisticNewton}


class _OnlineKernel:
    """Learned landmarks × least squares; λ is learned with the landmarks."""

    #: features and targets are taken in any units: a scaler that is still learning would only blur
    scales_itself = True
    loss: str
    budget: int
    speed: str
    restart: bool
    forgetting: float
    pairs: bool
    model_: Any

    def _make_map(self) -> LearnedLandmarks:
        if self.speed not in SPEEDS:
            raise ValueError(f"speed={self.speed!r} must be one of {', '.join(map(repr, SPEEDS))}")
        return LearnedLandmarks(self.budget, *SPEEDS[self.speed])

    def _make_rule(self) -> LeastSquares | LogisticNewton:
        if self.loss not in _RULES:
            raise ValueError(f"loss={self.loss!r} must be one of {', '.join(map(repr, _RULES))}")
        return _RULES[self.loss](1.0, self.forgetting)

    def _make_model(self, d: int, rule: Any, loss: Loss, epsilon: float, n_outputs: int) -> Any:
        corrected = self.pairs and self.loss == "squared"
        representation = CorrectedModel if corrected else ExplicitModel
        parts = self._new_map(d), rule, loss, epsilon, n_outputs  # type: ignore[attr-defined]
        return RestartingModel(*parts, representation) if self.restart else representation(*parts)


class OnlineKernelClassifier(_OnlineKernel, CalibratedClassifier):
    """The default classifier: nothing to tune, more accurate than any tuned first-order learner.

    f = c + Σ_j α_j κ(s_j, ·) with κ(x, s_j) = 1/(1 + ‖w_j ∘ (x - s_j)‖²). After every row, (c, α)
    is the exact least squares solution of all rows so far on their labels (±1, or indicators of the
    classes), with a penalty λ. The landmarks s, their widths w in every column, and λ are learned
    from the first rows: up to 512 rows from the errors of leaving each out, then, each time the
    rows have doubled, up the evidence as far as rows held out get better; from the 131 072nd row on
    they stay. Widths are common to all landmarks at first; with 16·B rows and more each landmark
    has its own, if rows held out are predicted better with them. Columns and targets are taken in
    any units; to scale them before changes nothing. Columns with heavy tails are drawn in by asinh
    (:mod:`onkel.maps.heavy_tails`). O(B·d + B²) a row, in matrix products.

    To f comes a·s(x): what f leaves over of the labels is learned by cells of one and of two
    columns (jumps, single values, odd scales), and counts as far as it has been right. Cells that
    remember the last 5 000 and the last 500 rows follow in the same way what changes slowly
    (:mod:`onkel.models.corrected`).

    Use it first. Where it is too slow, ``speed="fast"`` leaves out the search, a smaller ``budget``
    makes the rest cheaper, and :class:`FOGDClassifier` learns many times more rows per second; with
    thousands of columns, or a few kilobytes of memory, use the budget learners.

    Parameters
    ----------
    budget : int, default=500
        Number of landmarks B ≥ 1: the model takes up to 32·B² bytes; more is better and costs B² a
        row.
    speed : {"fast", "balanced", "accurate"}, default="balanced"
        "fast": landmarks are the first rows, widths and penalty those of the first 512, in a
        quarter of a second.
        "balanced": a search of 24 steps at 1 024, 2 048, ..., 32 768 rows, 20 s in all, and of
        fewer at 65 536 and 131 072, 10 s more.
        "accurate": 64 steps.
    restart : bool, default=True
        Follow a stream that changes: when the losses rise, a second model begins anew on the rows
        that come, and replaces the first as soon as it is better (see
        :mod:`onkel.models.restarting`). It costs time only then.
    forgetting : float, default=1.0
        In (0, 1]: each row's influence is multiplied by this with every further row. For streams
        that never stop changing: 0.9998 remembers about 5 000 rows.
    pairs : bool, default=True
        Add the cells of columns and pairs: up to half of the model's bytes, 4 µs a row; with
        ``loss="squared"`` only.
    loss : {"squared", "logistic"}, default="squared"
        "logistic": online Newton steps of the logistic loss (:class:`onkel.rules.LogisticNewton`),
        which are as accurate and no faster; see docs/second-order.md.
    class_weight : dict, "balanced" or None, default=None
    dtype : {"float64", "float32"}, default="float64"
        Of the features; the recursion is always in float64.
    random_state : int, RandomState or None, default=0
        Which rows the search holds out.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1 or n_classes, B + 1)
        α and c.
    map_ : LearnedLandmarks
        With ``landmarks_`` (B, d), ``width_`` (d,) and ``ridge_``.
    n_rows_, n_features_in_, nbytes_ : int

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from onkel import OnlineKernelClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = OnlineKernelClassifier(budget=50)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.97

    Notes
    -----
    Source: Engel, Mannor & Meir 2004 (recursive least squares with kernels); Snelson & Ghahramani
    2006 (landmarks by gradients of the evidence); the schedule is ours. Probabilities: see
    :mod:`onkel.models.calibration`.
    """

    def __init__(
        self,
        budget: int = 500,
        speed: str = "balanced",
        restart: bool = True,
        forgetting: float = 1.0,
        pairs: bool = True,
        loss: str = "squared",
        class_weight: Any = None,
        dtype: str = "float64",
        random_state: Any = 0,
    ) -> None:
        self.budget = budget
        self.speed = speed
        self.restart = restart
        self.forgetting = forgetting
        self.pairs = pairs
        self.loss = loss
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state


class OnlineKernelRegressor(_OnlineKernel, UncertainRegressor):
    """The default regressor: nothing to tune, with error bars.

    As :class:`OnlineKernelClassifier`, on the targets themselves, in any units;
    ``predict(X, return_std=True)`` also gives the predictive standard deviation √(σ²(1 + zᵀ P z)),
    σ² estimated from the innovations. It covers noise and weights; far from all landmarks, where
    the features are 0, it knows the noise alone.

    Parameters
    ----------
    budget, speed, restart, forgetting, pairs, dtype, random_state
        As in :class:`OnlineKernelClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import OnlineKernelRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (2000, 1))
    >>> y = 100 + np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(2000)
    >>> model = OnlineKernelRegressor(budget=50).fit(X, y)
    >>> mean, std = model.predict([[0.5]], return_std=True)
    >>> print(f"{mean[0]:.2f} ± {std[0]:.2f}")
    100.84 ± 0.10

    Notes
    -----
    Source: as :class:`OnlineKernelClassifier`.
    """

    loss = "squared"

    def __init__(
        self,
        budget: int = 500,
        speed: str = "balanced",
        restart: bool = True,
        forgetting: float = 1.0,
        pairs: bool = True,
        dtype: str = "float64",
        random_state: Any = 0,
    ) -> None:
        self.budget = budget
        self.speed = speed
        self.restart = restart
        self.forgetting = forgetting
        self.pairs = pairs
        self.dtype = dtype
        self.random_state = random_state
