"""Forgetron: shrink, then drop the oldest."""

from __future__ import annotations

from typing import Any

from onkel.budgets import ShrinkOldest
from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.estimators.support import OverSupportSet
from onkel.kernels import Kernel
from onkel.rules import Perceptron

__all__ = ["ForgetronClassifier", "ForgetronRegressor"]


class _Forgetron(OverSupportSet):
    """Support set that shrinks and drops its oldest × perceptron."""

    budget: int
    variant: str
    learning_rate: float

    def _make_rule(self) -> Perceptron:
        return Perceptron(self.learning_rate)

    def _make_budget(self) -> ShrinkOldest:
        return ShrinkOldest(self.budget, self.variant)


class ForgetronClassifier(_Forgetron, OnlineClassifier):
    """Forgetron: f shrinks before its oldest row is dropped, so that little is lost.

    ``f ← f + y κ(x, ·)`` on a wrong prediction (a score of 0 predicts +1); in multiclass +1 for the
    true class and -1 for the one predicted.
    With B rows stored ``f ← φ f`` and the oldest goes; φ ≤ 1 is the largest that keeps the damage
    of all removals below 15/32 of the mistakes.

    Use it on streams that drift, and where a mistake bound counts. O(B·d) a row, for B² kernel
    values kept.

    Parameters
    ----------
    budget : int, default=100
        Most rows stored, B ≥ 1.
    variant : {"self-tuned", "basic", "greedy", "lsokl"}, default="self-tuned"
        How far f shrinks: by what the mistakes allow, or by a factor of B and ‖f‖ alone. "greedy"
        first looks for a row, from the oldest on, that can go without shrinking. "lsokl" is for
        repeating the numbers of Lu et al. 2016 (see the notes).
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
    >>> from onkel import ForgetronClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = ForgetronClassifier(gamma=2.0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.95

    Notes
    -----
    Source: Dekel, Shalev-Shwartz & Singer 2008, sections 4 and 5; "greedy" as in the Cognitive
    Foundry. The quadratic for φ is solved for its first crossing whatever the sign of its leading
    coefficient; programs that take the other root let coefficients grow, and "lsokl" does as they.
    """

    loss = "perceptron"

    def __init__(
        self,
        budget: int = 100,
        variant: str = "self-tuned",
        learning_rate: float = 1.0,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
    ) -> None:
        self.budget = budget
        self.variant = variant
        self.learning_rate = learning_rate
        self.kernel = kernel
        self.gamma = gamma
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype


class ForgetronRegressor(_Forgetron, OnlineRegressor):
    """Forgetron for regression; see :class:`ForgetronClassifier`.

    ``f ← f + η sgn(y - f) κ(x, ·)`` where \\|y - f\\| > ε.

    Parameters
    ----------
    budget, variant, kernel, gamma, n_warmup, dtype
        As in :class:`ForgetronClassifier`.
    learning_rate : float, default=0.1
        Step η > 0, in the target's units.
    epsilon : float, default=0.1
        Half-width ε ≥ 0 of the tube in which nothing is learned or stored, in the target's units.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import ForgetronRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = ForgetronRegressor(gamma=2.0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    1.00
    """

    loss = "epsilon_insensitive"

    def __init__(
        self,
        budget: int = 100,
        variant: str = "self-tuned",
        learning_rate: float = 0.1,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        epsilon: float = 0.1,
        n_warmup: int = 256,
        dtype: str = "float32",
    ) -> None:
        self.budget = budget
        self.variant = variant
        self.learning_rate = learning_rate
        self.kernel = kernel
        self.gamma = gamma
        self.epsilon = epsilon
        self.n_warmup = n_warmup
        self.dtype = dtype
