"""Learners that are linear in the inputs: passive-aggressive (PA) and AdaGrad."""

from __future__ import annotations

from onkel.learners import shared
from onkel.learners.classification import OnlineClassifier
from onkel.learners.declaration import Row, declared, learner, param, param_of
from onkel.learners.regression import OnlineRegressor
from onkel.learners.representations import OverMap
from onkel.maps import IdentityFeatures
from onkel.rules import AdaGrad, PassiveAggressive

_FIT_INTERCEPT = param(default=True, doc="Learn an intercept.")


@declared
class _PA(OverMap):
    """Identity map × passive-aggressive.

    Attributes
    ----------
    coef_ : ndarray of shape (1 or n_classes, d + fit_intercept)
        Weights of the columns, then the intercept.
    """

    _rows = (Row(
        "pa", "linear passive-aggressive", "hinge, ε-insensitive", "passive-aggressive",
        "identity", "Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006",
        "Figure 1, sections 5 (regression) and 8 (multiclass)",
    ),)  # fmt: skip

    C: float = param_of(PassiveAggressive, "C")
    variant: str = param_of(PassiveAggressive, "variant")
    fit_intercept: bool = _FIT_INTERCEPT

    _make_map = shared.by_name(IdentityFeatures)
    _make_rule = shared.by_name(PassiveAggressive)


@learner("C=0.01", score="0.98", of="linear ")
class PAClassifier(_PA, OnlineClassifier):
    """Linear passive-aggressive classifier: the least change of w that repairs each row.

    ``w ← w + τ y x`` with τ = ℓ/‖x‖² (PA), min(C, ℓ/‖x‖²) (PA-I) or ℓ/(‖x‖² + 1/(2C)) (PA-II),
    ℓ = max(0, 1 - y w·x). O(d) a row, no step size.

    Use it as the linear baseline of every comparison, and where inputs are wide and nearly
    separable. It follows noise in the labels: lower C there.
    """

    loss: str = shared.HINGE_LOSS


@learner("C=10.0", score="1.00", of="linear ")
class PARegressor(_PA, OnlineRegressor):
    """Linear passive-aggressive regressor; see :class:`PAClassifier`.

    ``w ← w + τ sgn(y - w·x) x`` with ℓ = max(0, \\|y - w·x\\| - ε).
    """

    loss: str = shared.TUBE_LOSS
    epsilon: float = shared.TUBE


@declared
class _AdaGrad(OverMap):
    """Identity map × AdaGrad.

    Attributes
    ----------
    coef_ : ndarray of shape (1 or n_classes, d + fit_intercept)
        Weights of the columns, then the intercept.
    """

    _rows = (Row(
        "adagrad", "linear adaptive gradient", "any", "adaptive", "identity",
        "Duchi, Hazan & Singer 2011", "Figure 1, diagonal",
    ),)  # fmt: skip

    learning_rate: float = param(
        default=0.1, doc="Step size η > 0, divided by the root of each column's squared gradients."
    )
    alpha: float = param(default=0.0, doc="L2 penalty α ≥ 0.")
    fit_intercept: bool = _FIT_INTERCEPT

    _make_map = shared.by_name(IdentityFeatures)
    _make_rule = shared.by_name(AdaGrad)


@learner("", score="0.98", of="linear ")
class AdaGradClassifier(_AdaGrad, OnlineClassifier):
    """Linear AdaGrad classifier: gradient descent with a step size for every column.

    ``w_j ← w_j - η g_j/√(Σ_t g_tj²)`` with g the gradient of the loss (and of the penalty) in w.
    O(d) a row.

    Use it as a linear baseline where columns differ in scale or are mostly 0; use
    :class:`PAClassifier` to avoid choosing a step size.
    """

    loss: str = shared.CLASSIFICATION_LOSS


@learner("", score="1.00", of="linear ")
class AdaGradRegressor(_AdaGrad, OnlineRegressor):
    """Linear AdaGrad regressor; see :class:`AdaGradClassifier`.

    ``w_j ← w_j - η g_j/√(Σ_t g_tj²)``. Targets should be of order 1: steps are in their units.
    """

    loss: str = shared.REGRESSION_LOSS
    epsilon: float = shared.DEAD_ZONE
