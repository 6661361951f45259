"""BPA-NN: budgeted passive-aggressive, nearest neighbour."""

from __future__ import annotations

from typing import Any

from onkel.budgets import BPANearest
from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.estimators.support import OverSupportSet
from onkel.kernels import Kernel
from onkel.rules import PassiveAggressive

__all__ = ["BPANNClassifier", "BPANNRegressor"]


class _BPANN(OverSupportSet):
    """Support set that gives a dropped row to its neighbour × passive-aggressive (PA-I)."""

    budget: int
    C: float

    def _make_rule(self) -> PassiveAggressive:
        return PassiveAggressive(self.C, "PA-I")

    def _make_budget(self) -> BPANearest:
        return BPANearest(self.budget)


class BPANNClassifier(_BPANN, OnlineClassifier):
    """Budgeted passive-aggressive that gives what it drops to the nearest row that stays.

    Not full: ``f ← f + τ c κ(x, ·)``, τ = min(C, loss/(‖c‖² κ(x, x))). Full: the same, and one row
    r goes; its part of f is projected onto the new row and the nearest neighbour of r. r is the one
    that loses least, ‖α_r‖² times its squared distance from the span of the two.

    Use it between ``bpa-s``, which keeps less of a dropped row, and ``bpa-p``, which keeps more and
    takes O(B²) where this takes O(B). O(B·d) a row.

    Parameters
    ----------
    budget : int, default=100
        Most rows stored, B ≥ 1.
    C : float, default=1.0
        Aggressiveness, > 0: the largest step.
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

    Raises
    ------
    ValueError
        On ``fit``, for a parameter out of its range: the message names it.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from onkel import BPANNClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = BPANNClassifier(gamma=2.0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.96

    Notes
    -----
    Source: Wang & Vucetic 2010, BPA-NN; see :mod:`onkel.budgets.exchange` for the closed form.
    """

    def __init__(
        self,
        budget: int = 100,
        C: float = 1.0,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "hinge",
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
    ) -> None:
        self.budget = budget
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype


class BPANNRegressor(_BPANN, OnlineRegressor):
    """Budgeted passive-aggressive, nearest neighbour, for regression; see :class:`BPANNClassifier`.

    c = sgn(y - f), loss = max(0, \\|y - f\\| - ε).

    Parameters
    ----------
    budget, C, kernel, gamma, n_warmup, dtype
        As in :class:`BPANNClassifier`.
    loss : {"epsilon_insensitive"}, default="epsilon_insensitive"
    epsilon : float, default=0.1
        Half-width ε ≥ 0 of the tube in which nothing is learned or stored, in the target's units.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import BPANNRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = BPANNRegressor(gamma=2.0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    0.99
    """

    def __init__(
        self,
        budget: int = 100,
        C: float = 1.0,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "epsilon_insensitive",
        epsilon: float = 0.1,
        n_warmup: int = 256,
        dtype: str = "float32",
    ) -> None:
        self.budget = budget
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.epsilon = epsilon
        self.n_warmup = n_warmup
        self.dtype = dtype
