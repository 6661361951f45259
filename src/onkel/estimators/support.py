"""Learners over a support set: what they share, and the open composition."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from onkel.budgets import Budget, make_budget
from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.kernels import Kernel, make_kernel
from onkel.losses import Loss
from onkel.maps.base import draw_seed
from onkel.maps.fourier import check_count
from onkel.models.families import model_of
from onkel.models.support import SupportModel
from onkel.rules import Rule, make_rule

__all__ = ["OverSupportSet", "SupportKernelClassifier", "SupportKernelRegressor"]


class OverSupportSet:
    """f(x) = Σ_j α_j κ(s_j, x) over stored rows s_j: the learner names a rule and a budget."""

    kernel: str | Kernel
    gamma: float | str
    n_warmup: int
    dtype: str
    model_: SupportModel

    def _make_budget(self) -> Budget:
        raise NotImplementedError(f"{type(self).__name__} names no budget")

    def _make_model(
        self, d: int, rule: Rule, loss: Loss, epsilon: float, n_outputs: int
    ) -> SupportModel:
        check_count(self, "n_warmup", least=2)
        budget = clone(self._make_budget())
        return model_of(budget)(
            clone(make_kernel(self.kernel)),
            self.gamma,
            self.n_warmup,
            budget,
            rule,
            loss,
            epsilon,
            n_outputs,
            d,
            self.dtype,
            draw_seed(getattr(self, "random_state", 0)),
        )

    @property
    def support_vectors_(self) -> np.ndarray:
        """The stored rows (size, d)."""
        check_is_fitted(self)
        return self.model_.support.copy()

    @property
    def n_support_(self) -> int:
        """Number of stored rows."""
        check_is_fitted(self)
        return self.model_.size

    @property
    def gamma_(self) -> float:
        """The kernel's width in use; NaN before the first row where it is fitted."""
        check_is_fitted(self)
        return getattr(self.model_, "gamma_", np.nan)


class _Open(OverSupportSet):
    rule: str | Rule
    budget: str | Budget

    def _make_rule(self) -> Rule:
        return make_rule(self.rule)

    def _make_budget(self) -> Budget:
        return make_budget(self.budget)


class SupportKernelClassifier(_Open, OnlineClassifier):
    """A classifier of your own over a support set: a kernel, a rule, a budget and a loss.

    ``f(x) = Σ_j α_j κ(s_j, x)``, ``f ← a·f + b·κ(x, ·)`` with (a, b) from the rule; the budget says
    what gives way when the set is full.

    Use it for what no paper has tried (passive-aggressive with random removal, Pegasos with the
    smallest dropped). For a published learner take its own class: its defaults are that paper's.

    Parameters
    ----------
    kernel : str or Kernel, default="gaussian"
        Any kernel of :mod:`onkel.kernels`.
    gamma : float or {"median", "scale"}, default="median"
        Width; the heuristics are fitted on the first ``n_warmup`` rows.
    rule : str or Rule, default="gradient"
        "gradient", "projected", "norma", "pegasos", "perceptron" or "passive_aggressive".
    budget : str or Budget, default="random"
        "none", "random", "oldest", "smallest", "most_redundant", "shrink_oldest", "bounded",
        "stochastic", "fixed_random", "bpa_simple", "bpa_nearest", "bpa_projection",
        "smallest_projection", "projection", "merging" (Gaussian kernel) or "transfer"
        (shift-invariant kernels); an object of :mod:`onkel.budgets` sets its size (100).
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
        The perceptron brings its own.
    n_warmup : int, default=256
        Rows a bandwidth heuristic looks at.
    class_weight : dict, "balanced" or None, default=None
    dtype : {"float32", "float64"}, default="float32"
    random_state : int, RandomState or None, default=None
        Where the budget chooses at random.

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
        On ``fit``, for a rule that cannot go with the loss or the budget: the message says why.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from onkel import SupportKernelClassifier
    >>> from onkel.budgets import RandomRemoval
    >>> from onkel.rules import PassiveAggressive
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = SupportKernelClassifier(
    ...     gamma=2.0, rule=PassiveAggressive(C=0.1), budget=RandomRemoval(200), random_state=0
    ... )
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.96
    """

    def __init__(
        self,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        rule: str | Rule = "gradient",
        budget: str | Budget = "random",
        loss: str = "hinge",
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.rule = rule
        self.budget = budget
        self.loss = loss
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state


class SupportKernelRegressor(_Open, OnlineRegressor):
    """A regressor of your own over a support set; see :class:`SupportKernelClassifier`.

    Parameters
    ----------
    kernel, gamma, rule, budget, n_warmup, dtype, random_state
        As in :class:`SupportKernelClassifier`.
    loss : {"squared", "absolute", "epsilon_insensitive"}, default="squared"
        Passive-aggressive and NORMA need "epsilon_insensitive"; the perceptron brings it.
    epsilon : float, default=0.1
        Rows with \\|y - f\\| ≤ epsilon are not learned, and not stored.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import SupportKernelRegressor
    >>> from onkel.budgets import OldestRemoval
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = SupportKernelRegressor(gamma=2.0, budget=OldestRemoval(200)).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    0.99
    """

    def __init__(
        self,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        rule: str | Rule = "gradient",
        budget: str | Budget = "random",
        loss: str = "squared",
        epsilon: float = 0.1,
        n_warmup: int = 256,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.rule = rule
        self.budget = budget
        self.loss = loss
        self.epsilon = epsilon
        self.n_warmup = n_warmup
        self.dtype = dtype
        self.random_state = random_state
