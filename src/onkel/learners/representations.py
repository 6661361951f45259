"""Representations that learners share: f over the features of a map, and f over stored rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from onkel.budgets import Budget, model_of
from onkel.explicit.model import ExplicitModel
from onkel.kernels import Kernel, make_kernel
from onkel.learners.base import OnlineEstimator
from onkel.learners.declaration import declared
from onkel.learners.shared import ANY_KERNEL, AVERAGE, GAMMA, N_WARMUP
from onkel.losses import Loss
from onkel.maps import FeatureMap
from onkel.maps.base import draw_seed
from onkel.parameters import whole
from onkel.rules import Rule
from onkel.support.model import Space


@declared
class OverMap(OnlineEstimator):
    """f(x) = w·z(x) over the features z of a map: the learner names a rule and a map.

    Attributes
    ----------
    coef_ : ndarray of shape (1 or n_classes, m)
        Weights of the m features; one row for two classes and in regression.
    map_ : FeatureMap
        The fitted map of :mod:`onkel.maps`.
    """

    _representation = "explicit"
    average: bool = AVERAGE

    def _make_map(self) -> FeatureMap:
        raise NotImplementedError(f"{type(self).__name__} names no map")

    def _make_model(self, d: int, rule: Rule, loss: Loss, epsilon: float, n_outputs: int) -> Any:
        return ExplicitModel(self._new_map(d), rule, loss, epsilon, n_outputs, self.average)

    def _new_map(self, d: int) -> FeatureMap:
        """The learner's map, started for rows of d columns."""
        feature_map = clone(self._make_map())
        if feature_map.random_state is None:
            feature_map.set_params(random_state=self.random_state)
        feature_map.start(d, self.dtype)
        return feature_map

    @property
    def map_(self) -> Any:
        """The map of the model that predicts, fitted."""
        model: Any = self.model_
        return model.map


@declared
class OverSupportSet(OnlineEstimator):
    """f(x) = Σ_j α_j κ(s_j, x) over stored rows s_j: the learner names a rule and a budget.

    Attributes
    ----------
    support_vectors_ : ndarray of shape (n_support_, d)
        The stored rows.
    coef_ : ndarray of shape (1 or n_classes, n_support_)
        Their coefficients.
    gamma_ : float
        The kernel's width in use.
    n_support_ : int
        Number of stored rows.
    """

    _representation = "support set"
    kernel: str | Kernel = ANY_KERNEL
    gamma: float | str = GAMMA
    n_warmup: int = N_WARMUP
    average: bool = AVERAGE

    def _make_budget(self) -> Budget:
        raise NotImplementedError(f"{type(self).__name__} names no budget")

    def _make_model(self, d: int, rule: Rule, loss: Loss, epsilon: float, n_outputs: int) -> Any:
        space, budget = self._space(d), clone(self._make_budget())
        if self.average:
            budget.check_average()
        return model_of(budget)(space, budget, rule, loss, epsilon, n_outputs, self.average)

    def _space(self, d: int) -> Space:
        """The kernel's space, over rows of d columns."""
        n_warmup, seed = whole(self, "n_warmup", least=2), draw_seed(self.random_state)
        return Space(clone(make_kernel(self.kernel)), self.gamma, n_warmup, d, self.dtype, seed)

    @property
    def support_vectors_(self) -> np.ndarray:
        """The stored rows (size, d)."""
        return self._support_model().support.copy()

    @property
    def n_support_(self) -> int:
        """Number of stored rows."""
        return self._support_model().size

    @property
    def gamma_(self) -> float:
        """The kernel's width in use; NaN before the first row where it is fitted."""
        return self._support_model().gamma_

    def _support_model(self) -> Any:
        check_is_fitted(self)
        return self.model_
