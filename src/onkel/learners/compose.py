"""Compositions of your own: any map with any rule, any kernel with any rule and budget."""

from __future__ import annotations

from onkel.annotations import Seed
from onkel.budgets import BUDGETS, Budget, make_budget
from onkel.learners.classification import OnlineClassifier
from onkel.learners.declaration import declared, learner, param
from onkel.learners.regression import OnlineRegressor
from onkel.learners.representations import OverMap, OverSupportSet
from onkel.learners.shared import (
    CLASSIFICATION_LOSS,
    DEAD_ZONE,
    RANDOM_STATE,
    REGRESSION_LOSS,
    TUBE,
)
from onkel.maps import MAPS, FeatureMap, make_map
from onkel.rules import RULES, Rule, make_rule
from onkel.tables import listed


@declared
class _ExplicitKernel(OverMap):
    """Any map × any rule."""

    map: str | FeatureMap = param(
        default="fourier", doc=f"{listed(MAPS)}, or an object of :mod:`onkel.maps`."
    )
    rule: str | Rule = param(
        default="gradient",
        doc=f"{listed(RULES)}, or an object of :mod:`onkel.rules`. Every map goes with every rule "
        '(NOGD\'s ``landmarks="support"`` with those that take one step along a row). '
        "The passive-aggressive rule needs the hinge or the ε-insensitive loss; the perceptron "
        "brings its own.",
    )
    random_state: Seed = RANDOM_STATE

    def _make_map(self) -> FeatureMap:
        return make_map(self.map)

    def _make_rule(self) -> Rule:
        return make_rule(self.rule)


@declared
class ExplicitKernelClassifier(_ExplicitKernel, OnlineClassifier):
    """A classifier of your own: a map, a rule and a loss.

    ``f(x) = w · z(x)``, ``f ← a·f + b·κ(x, ·)`` with (a, b) from the rule.

    Use it for what no paper has tried (Nyström × passive-aggressive, Fourier × AdaGrad, learned
    widths × least squares). For a published learner use its own class: its defaults are those of
    the paper.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from onkel import ExplicitKernelClassifier
    >>> from onkel.maps import NystroemFeatures
    >>> from onkel.rules import PassiveAggressive
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = ExplicitKernelClassifier(
    ...     map=NystroemFeatures(n_components=50, gamma=2.0), rule=PassiveAggressive(C=0.1)
    ... )
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.96
    """

    loss: str = CLASSIFICATION_LOSS


@learner('map="nystroem", rule="least_squares"', score="1.00")
class ExplicitKernelRegressor(_ExplicitKernel, OnlineRegressor):
    """A regressor of your own: a map, a rule and a loss; see :class:`ExplicitKernelClassifier`."""

    loss: str = REGRESSION_LOSS
    epsilon: float = DEAD_ZONE


@declared
class _SupportKernel(OverSupportSet):
    """Any kernel × any rule × any budget."""

    rule: str | Rule = param(
        default="gradient",
        doc=f"{listed(name for name, rule in RULES.items() if not rule.by_feature)}, or an object "
        "of :mod:`onkel.rules`. The passive-aggressive rule and NORMA need the hinge or the "
        "ε-insensitive loss; the perceptron brings its own.",
    )
    budget: str | Budget = param(
        default="random",
        doc=f'{listed(BUDGETS)}; "merging" needs the Gaussian kernel, "transfer" a shift-invariant '
        "one. An object of :mod:`onkel.budgets` sets its size (100).",
    )
    random_state: Seed = RANDOM_STATE

    def _make_rule(self) -> Rule:
        return make_rule(self.rule)

    def _make_budget(self) -> Budget:
        return make_budget(self.budget)


@declared
class SupportKernelClassifier(_SupportKernel, OnlineClassifier):
    """A classifier of your own over a support set: a kernel, a rule, a budget and a loss.

    ``f(x) = Σ_j α_j κ(s_j, x)``, ``f ← a·f + b·κ(x, ·)`` with (a, b) from the rule; the budget
    decides what happens when the set is full.

    Use it for what no paper has tried (passive-aggressive with random removal, Pegasos with the
    smallest dropped). For a published learner use its own class: its defaults are those of the
    paper.

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

    loss: str = CLASSIFICATION_LOSS


@declared
class SupportKernelRegressor(_SupportKernel, OnlineRegressor):
    """A regressor of your own over a support set; see :class:`SupportKernelClassifier`.

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

    loss: str = REGRESSION_LOSS
    epsilon: float = TUBE
