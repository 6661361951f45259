"""OLK with a fixed budget."""

from __future__ import annotations

from typing import Any

from onkel.budgets import BoundedRemoval, Budget, FixedRandom
from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.estimators.support import OverSupportSet
from onkel.kernels import Kernel
from onkel.rules import ProjectedGradient

__all__ = ["OLKFixedClassifier", "OLKFixedRegressor"]


class _OLKFixed(OverSupportSet):
    """Support set with unbiased random removal × projected gradient."""

    budget: int
    radius: float
    learning_rate: float
    schedule: str | float
    removal: str

    def _make_rule(self) -> ProjectedGradient:
        return ProjectedGradient(self.radius, self.learning_rate, self.schedule)

    def _make_budget(self) -> Budget:
        if self.removal == "uniform":
            return FixedRandom(self.budget)
        if self.removal == "weighted":
            return BoundedRemoval(self.budget, "nonuniform", max_weight=float("inf"))
        raise ValueError(f"removal={self.removal!r} must be 'uniform' or 'weighted'")


class OLKFixedClassifier(_OLKFixed, OnlineClassifier):
    """OLK within a budget: a full set drops one of its terms at random.

    ``f ← Π(Σ_{i≠r} α_i/(1 - p_i) κ_i - η_t ∂loss/∂f κ(x, ·))``, r drawn with the probabilities p:
    f is unchanged in expectation, then projected onto ‖f‖ ≤ U. What is dropped is noise on f: take
    a small radius with a small budget.

    Use it where f is to be unbiased within a budget.

    Parameters
    ----------
    budget : int, default=100
        Most rows stored, B ≥ 1.
    radius : float, default=10.0
        U > 0: f stays in the ball ‖f‖ ≤ U.
    learning_rate : float, default=2.0
        Step η > 0.
    schedule : {"constant", "inverse_sqrt", "inverse"} or float, default="inverse_sqrt"
        η_t = η, η/√t or 1/(αt); a number r in (0, 1] is η/t^r.
    removal : {"weighted", "uniform"}, default="weighted"
        One of small weight rather goes, with the probabilities that disturb f least,
        p_i = 1 - (B-1)‖α_i κ_i‖/Σ_j‖α_j κ_j‖ among the B stored; needs B ≥ 2. O(B) a row that is
        added, once all terms have come to be of one size; more before, for ‖f‖. Or any of the B + 1
        goes with the same chance, and the others are multiplied by (B+1)/B: terms that stay long
        grow without end but for the ball, and regret is all but linear (docs/regret.md).
    kernel : str or Kernel, default="gaussian"
        Any kernel of :mod:`onkel.kernels`.
    gamma : float or {"median", "scale"}, default="median"
        Width; the heuristics are fitted on the first ``n_warmup`` rows.
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
        In multiclass the true class against the best wrong one, and softmax. The logistic loss
        stores every row.
    n_warmup : int, default=256
        Rows a bandwidth heuristic looks at.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the step by row; "balanced" uses the counts up to each row.
    dtype : {"float32", "float64"}, default="float32"
        Of the stored rows, the kernel values and the coefficients.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    support_vectors_ : ndarray of shape (n_support_, d)
    coef_ : ndarray of shape (1 or n_classes, n_support_)
    gamma_ : float
    n_support_, n_rows_, n_features_in_, nbytes_ : int

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from onkel import OLKFixedClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = OLKFixedClassifier(gamma=2.0, random_state=0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.96

    Notes
    -----
    Source: He & Kwok 2014, second strategy. The public text breaks off before the algorithm; both
    forms are derived from its Proposition 1: no change of f in expectation. The regret that it
    states, O(√T) with a budget of order √T, is what "weighted" shows on targets without noise; with
    noise it takes a budget of order T^(3/4) (docs/regret.md).
    """

    def __init__(
        self,
        budget: int = 100,
        radius: float = 10.0,
        learning_rate: float = 2.0,
        schedule: str | float = "inverse_sqrt",
        removal: str = "weighted",
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "hinge",
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.radius = radius
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.removal = removal
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state


class OLKFixedRegressor(_OLKFixed, OnlineRegressor):
    """OLK within a budget for regression; see :class:`OLKFixedClassifier`.

    The update of :class:`OLKFixedClassifier`, for rows with \\|y - f\\| > ε.

    Parameters
    ----------
    budget, radius, learning_rate, schedule, removal, kernel, gamma, n_warmup, dtype, random_state
        As in :class:`OLKFixedClassifier`.
    loss : {"squared", "absolute", "epsilon_insensitive"}, default="squared"
        The squared loss is (y - f)²/2.
    epsilon : float, default=0.1
        Half-width ε ≥ 0 of the tube in which nothing is learned or stored, in the target's units.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import OLKFixedRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = OLKFixedRegressor(gamma=2.0, random_state=0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    0.99
    """

    def __init__(
        self,
        budget: int = 100,
        radius: float = 10.0,
        learning_rate: float = 2.0,
        schedule: str | float = "inverse_sqrt",
        removal: str = "weighted",
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "squared",
        epsilon: float = 0.1,
        n_warmup: int = 256,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.radius = radius
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.removal = removal
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.epsilon = epsilon
        self.n_warmup = n_warmup
        self.dtype = dtype
        self.random_state = random_state
