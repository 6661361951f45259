"""Least squares over learned features, and cells of columns for what they leave over.

f(x) is corrected in stages, each a share a of what cells s have learned of the residuals that the
stages before leave:

    f(x) + a₀ s₀(x) + a₁ s₁(x) + a₂ s₂(x).

s₀ has a cell for every pair of columns, and remembers as much as f does; s₁ and s₂ have columns
alone, in a few bins, and remember the last 5 000 and 500 rows or so. Where a stream changes slowly
they follow; where it stays, their shares stay near 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onkel._dense import as_dense
from onkel.losses import Loss
from onkel.maps.base import FeatureMap, next_power_of_two
from onkel.models.explicit import ExplicitModel
from onkel.models.pair_bins import PairBins
from onkel.models.pair_cells import PairCells, residuals_with_class
from onkel.models.warmup import Warmup
from onkel.rules.base import Rule

__all__ = ["CorrectedModel"]

# Columns and bins are chosen from so many rows, and anew at every power of two up to the last.
_FIRST_ROWS, _LAST_ROWS = 64, 1024
# The cells hold up to so many times B² numbers, as many as the two matrices of least squares.
_CELLS = 2
# Forgetting factors of the stages, beside that of f.
_TIDES = (1.0, 0.9998, 0.998)
# Rows kept for the choice take this much memory at most; of fewer than the first, none is made.
_KEPT_BYTES = 16 << 20


def _next_choice(n: int) -> int:
    return max(_FIRST_ROWS, next_power_of_two(n))


class CorrectedModel(ExplicitModel):
    """f(x) + Σ a s(x): see :mod:`onkel.models.pair_cells`.

    The parameters are those of :class:`onkel.models.explicit.ExplicitModel`; the rule is least
    squares.
    """

    def __init__(
        self, feature_map: FeatureMap, rule: Rule, loss: Loss, epsilon: float, n_outputs: int
    ) -> None:
        super().__init__(feature_map, rule, loss, epsilon, n_outputs)
        self.stages = [PairCells(PairBins.none(), n_outputs)]
        fitting = _KEPT_BYTES // (feature_map.n_features_in_ * 8)
        last = next_power_of_two(min(_LAST_ROWS, fitting)) // 2
        self.choice = Warmup(last, _next_choice) if last >= _FIRST_ROWS else None
        #: of the rows kept for the choice
        self.residuals = np.empty((0, n_outputs))

    # ---- learning ------------------------------------------------------------------------------

    def learn(self, X: Any, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn the rows in order; returns the scores (n, K) before each was learned."""
        P = super().learn(X, y, weight)
        R = self.targets(y) - P
        done = 0
        while self.choice is not None and done < len(P):
            end, due = self.choice.until_refit(weight, done)
            part = slice(done, end)
            P[part] += self._correct(X[part], R[part], weight[part])
            self._keep(X[part], y[part], R[part], weight[part])
            if due:
                self._choose()
            done = end
        P[done:] += self._correct(X[done:], R[done:], weight[done:])
        return P

    def _correct(self, X: Any, R: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn the residuals R of rows X, stage by stage; returns Σ a s of each row before."""
        out = np.zeros(R.shape)
        for stage in self.stages:
            out += stage.learn(X, R - out, weight)
        return out

    def _keep(self, X: Any, y: np.ndarray, R: np.ndarray, weight: np.ndarray) -> None:
        assert self.choice is not None
        self.choice.keep(as_dense(X), y, weight)
        self.residuals = np.concatenate([self.residuals, R[weight > 0.0]])

    def _choose(self) -> None:
        """Cut the columns anew and learn the rows kept again.

        The columns are those that say most about the targets: of so few rows' residuals most is
        noise. Nor are cells begun anew, or made to forget, when the map is fitted anew later: what
        they have learned of its former residuals was measured to be worth keeping.
        """
        assert self.choice is not None
        X, y, weight = self.choice.rows()
        budget = self.map.budget  # type: ignore[attr-defined]
        bins = PairBins.of(X, self.targets(y), _CELLS * budget**2 // (self.n_outputs + 1))
        first, *later = self._forgetting
        self.stages = [PairCells(bins, self.n_outputs, first)]
        self.stages[0].learn(X, self.residuals, weight)
        if self.choice.complete:
            self.choice, self.residuals = None, np.empty((0, self.n_outputs))
            few = bins.alone()
            self.stages += [PairCells(few, self.n_outputs, forgetting) for forgetting in later]

    @property
    def _forgetting(self) -> list[float]:
        """Of each stage."""
        return [float(self.par[1]) * tide for tide in _TIDES]

    # ---- the rest of a model -------------------------------------------------------------------

    def scores(self, X: Any) -> np.ndarray:
        """f(x) + Σ a s(x) of each row, (n, K) in float64."""
        return sum((stage.scores(X) for stage in self.stages), super().scores(X))

    def variance(self, X: Any) -> np.ndarray:
        """Predictive variance (n,): of f, times the share of its squared errors that was left."""
        return super().variance(X) * math.prod(stage.left for stage in self.stages)

    def add_output(self, position: int) -> None:
        if self.choice is not None:
            self.choice.add_class(position, from_signs=self.n_outputs == 1)
        super().add_output(position)
        for stage in self.stages:
            stage.add_output(position)
        self.residuals = residuals_with_class(self.residuals, position)

    def add_columns(self, n: int) -> None:
        super().add_columns(n)
        if self.choice is not None:
            self.choice.add_columns(n)

    def get_state(self) -> dict[str, Any]:
        """Named arrays and scalars from which :meth:`set_state` goes on bit for bit."""
        stages = {f"stage_{i}": stage.get_state() for i, stage in enumerate(self.stages)}
        state = {**super().get_state(), **stages}
        if self.choice is not None:
            state |= {"choice": self.choice.get_state(), "residuals": self.residuals}
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Take the state of a model of the same map, rule and loss."""
        super().set_state(state)
        self.stages = [
            PairCells.from_state(state[f"stage_{i}"], forgetting)
            for i, forgetting in enumerate(self._forgetting)
            if f"stage_{i}" in state
        ]
        self.choice, self.residuals = None, np.empty((0, self.n_outputs))
        if "choice" in state:
            self.choice = Warmup.from_state(state["choice"], _next_choice)
            self.residuals = np.array(state["residuals"])
