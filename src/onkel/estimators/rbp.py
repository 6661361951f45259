"""RBP: the randomised budget perceptron."""

from __future__ import annotations

from typing import Any

from onkel.budgets import RandomRemoval
from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.estimators.support import OverSupportSet
from onkel.kernels import Kernel
from onkel.rules import Perceptron

__all__ = ["RBPClassifier", "RBPRegressor"]


class _RBP(OverSupportSet):
    """Support set with random removal × perceptron."""

    budget: int
    learning_rate: float

    def _make_rule(self) -> Perceptron:
        return Perceptron(self.learning_rate)

    def _make_budget(self) -> RandomRemoval:
        return RandomRemoval(self.budget)


class RBPClassifier(_RBP, OnlineClassifier):
    """Randomised budget perceptron: a full set drops one of its rows at random.

    ``f ← f + y κ(x, ·)`` on a wrong prediction (a score of 0 predicts +1); in multiclass +1 for the
    true class and -1 for the one predicted.

    Use it as the simplest budget there is, on streams that drift slowly. O(B·d) a row.

    Parameters
    ----------
    budget : int, default=100
        Most rows stored, B ≥ 1.
    learning_rate : float, default=1.0
        Step η > 0.
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
    >>> from onkel import RBPClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = RBPClassifier(gamma=2.0, random_state=0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.95

    Notes
    -----
    Source: Cavallanti, Cesa-Bianchi & Gentile 2007, Figure 3. The new row is never the one dropped.
    """

    loss = "perceptron"

    def __init__(
        self,
        budget: int = 100,
        learning_rate: float = 1.0,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.learning_rate = learning_rate
        self.kernel = kernel
        self.gamma = gamma
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state


class RBPRegressor(_RBP, OnlineRegressor):
    """Randomised budget perceptron for regression; see :class:`RBPClassifier`.

    ``f ← f + η sgn(y - f) κ(x, ·)`` where \\|y - f\\| > ε.

    Parameters
    ----------
    budget, kernel, gamma, n_warmup, dtype, random_state
        As in :class:`RBPClassifier`.
    learning_rate : float, default=0.1
        Step η > 0, in the target's units.
    epsilon : float, default=0.1
        Half-width ε ≥ 0 of the tube in which nothing is learned or stored, in the target's units.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import RBPRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = RBPRegressor(gamma=2.0, random_state=0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    1.00
    """

    loss = "epsilon_insensitive"

    def __init__(
        self,
        budget: int = 100,
        learning_rate: float = 0.1,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        epsilon: float = 0.1,
        n_warmup: int = 256,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.learning_rate = learning_rate
        self.kernel = kernel
        self.gamma = gamma
        self.epsilon = epsilon
        self.n_warmup = n_warmup
        self.dtype = dtype
        self.random_state = random_state
