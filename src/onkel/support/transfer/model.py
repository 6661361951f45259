"""The support set whose dropped rows are carried over into random Fourier features."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.maps.fourier import FourierFeatures
from onkel.model.labels import outputs_with_class
from onkel.rules.base import SCALE
from onkel.state import Array, Field, inside
from onkel.support.budgeted import BudgetModel
from onkel.support.slots import Rows, Slots
from onkel.support.transfer.budget import Transfer
from onkel.support.transfer.loop import Carried, learn_transfer


class TransferModel(BudgetModel):
    """f_k(x) = Σ_j α_kj κ(s_j, x) + w̃_k·z(x), for :class:`~onkel.budgets.Transfer`."""

    budget: Transfer
    features: FourierFeatures
    carried: np.ndarray

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

    def _fields(self) -> dict[str, Field]:
        n_features = 2 * self.budget.n_components
        return super()._fields() | {
            "carried": Array(dtype=self.dtype, shape=("n_outputs", n_features))
        }

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
        if self.ready:
            self.carried = np.array(state["carried"], order="C")
            self.features = self._new_features()
            with inside(state, "features") as features:
                self.features.set_state(features)

    def add_output(self, position: int) -> None:
        if self.ready:
            self.carried = outputs_with_class(self.carried, position)
        super().add_output(position)

    def add_columns(self, n: int) -> None:
        super().add_columns(n)
        if self.ready:
            self.features.add_columns(n)

    def is_finite(self) -> bool:
        finite = not self.ready or bool(np.isfinite(self.carried.sum()))
        return finite and super().is_finite()

    def scores(self, X: Any) -> np.ndarray:
        out = super().scores(X)
        if self.ready:
            out += self.features.features(X) @ self.feature_coef.T
        return out

    def _slots(self, n_changes: int) -> Slots:
        # each row fills a slot, each removal moves one; there are n + n_transfer removals at most
        return super()._slots(2 * n_changes + int(self.budget.n_transfer))

    def _learn(self, X: np.ndarray, rows: Rows, slots: Slots) -> None:
        carried = Carried(self.carried, self.features.features(X), self.features._turns)
        k = int(self.budget.n_transfer)
        learn_transfer(rows, X, self.S, slots, carried, self._limits(), k, self.context())
