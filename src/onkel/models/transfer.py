"""The support set whose dropped rows go on in random Fourier features."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.budgets.transfer import Transfer
from onkel.kernels import Kernel
from onkel.maps.fourier import FourierFeatures
from onkel.models.labels import outputs_with_class
from onkel.models.loops import SCALE
from onkel.models.support import SupportModel
from onkel.models.support_pieces import Slots
from onkel.models.transfer_loops import learn_transfer

__all__ = ["TransferModel"]


class TransferModel(SupportModel):
    """f_k(x) = Σ_j α_kj κ(s_j, x) + w̃_k·z(x), for :class:`~onkel.budgets.Transfer`."""

    budget: Transfer
    features: FourierFeatures
    carried: np.ndarray

    def __init__(
        self, kernel: Kernel, gamma: float | str, n_warmup: int, budget: Transfer, *args: Any
    ) -> None:
        budget.check_kernel(kernel)
        super().__init__(kernel, gamma, n_warmup, budget, *args)

    def _new_features(self) -> FourierFeatures:
        budget = self.budget
        features = FourierFeatures(
            budget.n_components,
            self.kernel,
            self.gamma_,
            budget.orthogonal,
            random_state=self.seed,
        )
        features.start(self.d, self.dtype)
        return features

    def _fit_first(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        super()._fit_first(X, y, weight)
        self.features = self._new_features()
        self.features.fit_first(X)

    def _reset(self) -> None:
        super()._reset()
        n_features = 2 * self.budget.n_components
        self.carried = np.zeros((self.n_outputs, n_features), self.dtype)

    @property
    def feature_coef(self) -> np.ndarray:
        """w̃, (K, 2D)."""
        return self.carried * self.dtype.type(self.state[SCALE])

    def get_state(self) -> dict[str, Any]:
        out = super().get_state()
        if self.ready:
            out |= {"features": self.features.get_state(), "carried": self.carried}
        return out

    def set_state(self, state: dict[str, Any]) -> None:
        super().set_state(state)
        if "carried" in state:
            self.carried = np.array(state["carried"], order="C")
            self.features = self._new_features()
            self.features.set_state(state["features"])

    def add_output(self, position: int) -> None:
        if self.ready:
            self.carried = outputs_with_class(self.carried, position)
        super().add_output(position)

    def add_columns(self, n: int) -> None:
        super().add_columns(n)
        if self.ready:
            self.features.add_columns(n)

    def scores(self, X: Any) -> np.ndarray:
        out = super().scores(X)
        if self.ready:
            out += self.features.features(X) @ self.feature_coef.T
        return out

    def _walk_block(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        n = len(X)
        self._reserve(n)
        Z = self.features.features(X)
        k = int(self.budget.n_transfer)
        changes = np.empty((2, 2 * n + k), np.int64)
        slots = Slots(self.A, self.info, self.gram, self.outputs, self.rng, self.counts, changes)
        arrays = self.S, self.carried, self.features._turns
        learn_transfer(
            self.panel(X), Z, X, *arrays, y, weight, slots, self.limit, k, *self.how(), P
        )
