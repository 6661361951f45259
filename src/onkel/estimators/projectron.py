"""The Projectron."""

from __future__ import annotations

from typing import Any

from onkel.budgets import Projection
from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.estimators.support import OverSupportSet
from onkel.kernels import Kernel
from onkel.rules import Perceptron

__all__ = ["ProjectronClassifier", "ProjectronRegressor"]


class _Projectron(OverSupportSet):
    """Support set with projection onto its span × perceptron."""

    budget: int | None
    eta: float
    learning_rate: float

    def _make_rule(self) -> Perceptron:
        return Perceptron(self.learning_rate)

    def _make_budget(self) -> Projection:
        return Projection(self.budget, self.eta)


class ProjectronClassifier(_Projectron, OnlineClassifier):
    """Projectron: what the stored rows can say of a new row moves their coefficients instead.

    On a wrong prediction ``f ← f + y Pκ(x, ·)`` where the residual ‖κ(x, ·) - Pκ(x, ·)‖ ≤ η or the
    set is full, P the projection onto the span of the stored rows; else the row is stored, with y.
    In multiclass +1 for the true class and -1 for the one predicted.

    Use it where nothing that was learned may be forgotten: no row is ever dropped. On a stream that
    drifts a full set can't follow into new regions. O(B·d + B²) a row.

    Parameters
    ----------
    budget : int or None, default=100
        Most rows stored, B ≥ 1; None for no other bound than η.
    eta : float, default=0.0
        Largest residual η ≥ 0 that is projected away before the set is full; with 0 every mistake
        is stored until then (the LSOKL programs). In units of √κ(x, x).
    learning_rate : float, default=1.0
        Step > 0.
    kernel : str or Kernel, default="gaussian"
        Any kernel of :mod:`onkel.kernels`.
    gamma : float or {"median", "scale"}, default="median"
        Width; the heuristics are fitted on the first ``n_warmup`` rows.
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
    >>> from onkel import ProjectronClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = ProjectronClassifier(gamma=2.0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.95

    Notes
    -----
    Source: Orabona, Keshet & Caputo 2009.
    """

    loss = "perceptron"

    def __init__(
        self,
        budget: int | None = 100,
        eta: float = 0.0,
        learning_rate: float = 1.0,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
    ) -> None:
        self.budget = budget
        self.eta = eta
        self.learning_rate = learning_rate
        self.kernel = kernel
        self.gamma = gamma
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype


class ProjectronRegressor(_Projectron, OnlineRegressor):
    """Projectron for regression; see :class:`ProjectronClassifier`.

    ``f ← f + η sgn(y - f) Pκ(x, ·)`` where \\|y - f\\| > ε, η the learning rate.

    Parameters
    ----------
    budget, eta, kernel, gamma, n_warmup, dtype
        As in :class:`ProjectronClassifier`.
    learning_rate : float, default=0.1
        Step > 0, in the target's units.
    epsilon : float, default=0.1
        Half-width ε ≥ 0 of the tube in which nothing is learned or stored, in the target's units.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import ProjectronRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = ProjectronRegressor(gamma=2.0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    1.00
    """

    loss = "epsilon_insensitive"

    def __init__(
        self,
        budget: int | None = 100,
        eta: float = 0.0,
        learning_rate: float = 0.1,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        epsilon: float = 0.1,
        n_warmup: int = 256,
        dtype: str = "float32",
    ) -> None:
        self.budget = budget
        self.eta = eta
        self.learning_rate = learning_rate
        self.kernel = kernel
        self.gamma = gamma
        self.epsilon = epsilon
        self.n_warmup = n_warmup
        self.dtype = dtype
