"""PA: the linear passive-aggressive learner."""

from __future__ import annotations

from typing import Any

from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.maps import IdentityFeatures
from onkel.rules import PassiveAggressive

__all__ = ["PAClassifier", "PARegressor"]


class _PA:
    """Identity map × passive-aggressive."""

    C: float
    variant: str
    fit_intercept: bool

    def _make_map(self) -> IdentityFeatures:
        return IdentityFeatures(self.fit_intercept)

    def _make_rule(self) -> PassiveAggressive:
        return PassiveAggressive(self.C, self.variant)


class PAClassifier(_PA, OnlineClassifier):
    """Linear passive-aggressive classifier: the least change of w that repairs each row.

    ``w ← w + τ y x`` with τ = ℓ/‖x‖² (PA), min(C, ℓ/‖x‖²) (PA-I) or ℓ/(‖x‖² + 1/(2C)) (PA-II),
    ℓ = max(0, 1 - y w·x). O(d) a row, no step size.

    Use it as the linear baseline of every comparison, and where inputs are wide and nearly
    separable. It follows noise in the labels: lower C there.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, > 0.
    variant : {"PA", "PA-I", "PA-II"}, default="PA-I"
    loss : {"hinge"}, default="hinge"
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None, default=None
        Multiplies C by row.
    dtype : {"float32", "float64"}, default="float32"

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1 or n_classes, d + fit_intercept)
    n_rows_, n_features_in_, nbytes_ : int

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from onkel import PAClassifier
    >>> X, y = make_classification(2000, random_state=0)
    >>> model = PAClassifier(C=0.01)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.98

    Notes
    -----
    Source: Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006, Figure 1 and section 8.
    """

    def __init__(
        self,
        C: float = 1.0,
        variant: str = "PA-I",
        loss: str = "hinge",
        fit_intercept: bool = True,
        class_weight: Any = None,
        dtype: str = "float32",
    ) -> None:
        self.C = C
        self.variant = variant
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.dtype = dtype


class PARegressor(_PA, OnlineRegressor):
    """Linear passive-aggressive regressor; see :class:`PAClassifier`.

    ``w ← w + τ sgn(y - w·x) x`` with ℓ = max(0, \\|y - w·x\\| - ε).

    Parameters
    ----------
    C, variant, fit_intercept, dtype
        As in :class:`PAClassifier`.
    loss : {"epsilon_insensitive"}, default="epsilon_insensitive"
    epsilon : float, default=0.1
        Half-width ε ≥ 0 of the tube in which nothing is learned, in the target's units.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from onkel import PARegressor
    >>> X, y = make_regression(2000, random_state=0)
    >>> model = PARegressor(C=10.0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    1.00

    Notes
    -----
    Source: Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006, section 5.
    """

    def __init__(
        self,
        C: float = 1.0,
        variant: str = "PA-I",
        loss: str = "epsilon_insensitive",
        epsilon: float = 0.1,
        fit_intercept: bool = True,
        dtype: str = "float32",
    ) -> None:
        self.C = C
        self.variant = variant
        self.loss = loss
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept
        self.dtype = dtype
