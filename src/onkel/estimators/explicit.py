"""The open composition: any map with any rule and any loss."""

from __future__ import annotations

from typing import Any

from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.maps import FeatureMap, make_map
from onkel.rules import Rule, make_rule

__all__ = ["ExplicitKernelClassifier", "ExplicitKernelRegressor"]


class _Explicit:
    map: str | FeatureMap
    rule: str | Rule

    def _make_map(self) -> FeatureMap:
        return make_map(self.map)

    def _make_rule(self) -> Rule:
        return make_rule(self.rule)


class ExplicitKernelClassifier(_Explicit, OnlineClassifier):
    """A classifier of your own: a map, a rule and a loss.

    ``f(x) = w · z(x)``, ``f ← a·f + b·κ(x, ·)`` with (a, b) from the rule.

    Use it for what no paper has tried (Nyström × passive-aggressive, Fourier × AdaGrad, widths that
    are learned × least squares). For a published learner take its own class: its defaults are that
    paper's.

    Parameters
    ----------
    map : str or FeatureMap, default="fourier"
        "identity", "fourier", "nystroem", "adaptive_nystroem", "reparameterized", "aligned",
        "fastfood", "regenerated" or "learned_landmarks".
    rule : str or Rule, default="gradient"
        "gradient", "projected", "pegasos", "perceptron", "passive_aggressive", "adagrad",
        "norma", "least_squares", "newton" or "doubly_stochastic". Every map goes with every rule
        (NOGD's ``landmarks="support"`` with those that take one step along a row).
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
        The perceptron brings its own.
    class_weight : dict, "balanced" or None, default=None
    dtype : {"float32", "float64"}, default="float32"
    random_state : int, RandomState or None, default=None
        Given to the map where it has none of its own.

    Raises
    ------
    ValueError
        On ``fit``, for a rule and a loss (or a map) that cannot go together: the message says why.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from onkel import ExplicitKernelClassifier
    >>> from onkel.maps import NystroemFeatures
    >>> from onkel.rules import PassiveAggressive
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = ExplicitKernelClassifier(
    ...     map=NystroemFeatures(budget=50, gamma=2.0), rule=PassiveAggressive(C=0.1)
    ... )
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.96
    """

    def __init__(
        self,
        map: str | FeatureMap = "fourier",
        rule: str | Rule = "gradient",
        loss: str = "hinge",
        class_weight: Any = None,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.map = map
        self.rule = rule
        self.loss = loss
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state


class ExplicitKernelRegressor(_Explicit, OnlineRegressor):
    """A regressor of your own: a map, a rule and a loss; see :class:`ExplicitKernelClassifier`.

    Parameters
    ----------
    map, rule, dtype, random_state
        As in :class:`ExplicitKernelClassifier`.
    loss : {"squared", "absolute", "epsilon_insensitive"}, default="squared"
        Passive-aggressive needs "epsilon_insensitive"; the perceptron brings it.
    epsilon : float, default=0.0

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import ExplicitKernelRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = ExplicitKernelRegressor(map="nystroem", rule="least_squares").fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    1.00
    """

    def __init__(
        self,
        map: str | FeatureMap = "fourier",
        rule: str | Rule = "gradient",
        loss: str = "squared",
        epsilon: float = 0.0,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.map = map
        self.rule = rule
        self.loss = loss
        self.epsilon = epsilon
        self.dtype = dtype
        self.random_state = random_state
