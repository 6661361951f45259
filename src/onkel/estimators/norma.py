"""NORMA: a truncated expansion and a tube or margin that adapts."""

from __future__ import annotations

from typing import Any

from onkel.budgets import OldestRemoval
from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.estimators.support import OverSupportSet
from onkel.kernels import Kernel
from onkel.rules import Norma

__all__ = ["NORMAClassifier", "NORMARegressor"]


class _NORMA(OverSupportSet):
    """Support set that drops its oldest × NORMA."""

    budget: int
    nu: float
    learning_rate: float
    schedule: str | float
    alpha: float

    def _make_rule(self) -> Norma:
        return Norma(self.nu, self.learning_rate, self.schedule, self.alpha)

    def _make_budget(self) -> OldestRemoval:
        return OldestRemoval(self.budget)


class NORMAClassifier(_NORMA, OnlineClassifier):
    """NORMA: decaying gradient descent that forgets its oldest terms, with a margin of its own.

    ``f ← (1 - η_t α) f + η_t y κ(x, ·)`` where y f < ρ, and ρ adapts so that a share ν of the rows
    falls short of it. The last B terms are kept: the others have decayed to (1 - ηα)^B at most.

    Use it on streams that drift: what is old fades. With α = 0 nothing fades, and what is dropped
    still counts.

    Parameters
    ----------
    budget : int, default=100
        Most rows stored, B ≥ 1.
    nu : float, default=0.4
        Share ν in (0, 1) of the rows that ends up outside of the tube, or short of the margin.
    learning_rate : float, default=0.1
        Step η > 0.
    schedule : {"constant", "inverse_sqrt", "inverse"} or float, default="constant"
        η_t = η, η/√t or 1/(αt); a number r in (0, 1] is η/t^r.
    alpha : float, default=0.01
        L2 penalty (α/2)‖f‖² ≥ 0.
    kernel : str or Kernel, default="gaussian"
        Any kernel of :mod:`onkel.kernels`.
    gamma : float or {"median", "scale"}, default="median"
        Width; the heuristics are fitted on the first ``n_warmup`` rows.
    loss : {"hinge"}, default="hinge"
    n_warmup : int, default=256
        Rows a bandwidth heuristic looks at.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the step by row; "balanced" uses the counts up to each row.
    dtype : {"float32", "float64"}, default="float32"
        Of the stored rows, the kernel values and the coefficients.

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
    >>> from onkel import NORMAClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = NORMAClassifier(gamma=2.0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.95

    Notes
    -----
    Source: Kivinen, Smola & Williamson 2004, sections III and V.
    """

    def __init__(
        self,
        budget: int = 100,
        nu: float = 0.4,
        learning_rate: float = 0.1,
        schedule: str | float = "constant",
        alpha: float = 0.01,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "hinge",
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
    ) -> None:
        self.budget = budget
        self.nu = nu
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype


class NORMARegressor(_NORMA, OnlineRegressor):
    """NORMA for regression, with a tube that adapts; see :class:`NORMAClassifier`.

    ``f ← (1 - η_t α) f + η_t sgn(y - f) κ(x, ·)`` where \\|y - f\\| > ε; ``ε ← ε + η_t (1 - ν)``
    there, ``ε ← ε - η_t ν`` elsewhere. ``epsilon`` is where the tube starts.

    Parameters
    ----------
    budget, nu, learning_rate, schedule, alpha, kernel, gamma, n_warmup, dtype
        As in :class:`NORMAClassifier`.
    loss : {"epsilon_insensitive"}, default="epsilon_insensitive"
    epsilon : float, default=0.1
        Half-width ε ≥ 0 of the tube in which nothing is learned or stored, in the target's units.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import NORMARegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = NORMARegressor(gamma=2.0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    0.99
    """

    def __init__(
        self,
        budget: int = 100,
        nu: float = 0.4,
        learning_rate: float = 0.1,
        schedule: str | float = "constant",
        alpha: float = 0.01,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "epsilon_insensitive",
        epsilon: float = 0.1,
        n_warmup: int = 256,
        dtype: str = "float32",
    ) -> None:
        self.budget = budget
        self.nu = nu
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.epsilon = epsilon
        self.n_warmup = n_warmup
        self.dtype = dtype
