"""Exact rules over learned frequencies: the spectrum moves after some rows, not after each.

RRF (Nguyen et al. 2017) moves weights and widths by one gradient step a row. Here the weights are
exact for the current features. The spectrum θ (widths; for a mixture also means and shares) moves
along the same gradient at row 256, then whenever a fifth more rows (at least 256) have come: five
steps θ ← θ - α·Adam(∂loss/∂θ), α = 10 η_g/√(1 + t/N) (Newton: 3 η_g). The loss is that of the rows
kept, a uniform sample of up to 4 096 (or twice the number of features), at the weights of all rows.
These are the best ones, so that their own change adds nothing to the gradient.

A step changes all features, and the sums of least squares must follow. For the rows kept the new
features are z' = T z + e, with T the regression of the new on the old features. T z and e are
orthogonal over these rows, so the sums become T Σzzᵀ Tᵀ + Σ e eᵀ (and T Σzy + Σ e y), where the
second sums run over the rows kept. This is exact for the rows kept and for all rows to come; for
the other rows so far, T z stands for z'. As long as all rows are kept, least squares is exact. The
logistic loss takes e at the present f, not at the f of the time when the row came.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from onkel.annotations import Matrix
from onkel.exact.matrices import Known
from onkel.explicit.training_loop import TrainingLoop
from onkel.explicit.weights import Weights, regression
from onkel.fields import Fields, Like, Sizes, State, Whole, require
from onkel.maps.reparameterized import ReparameterizedFeatures
from onkel.model.warmup import KeptRows
from onkel.numerics.arrays import as_dense, end_of_counted, targets_of
from onkel.rules.base import RuleKind
from onkel.state import Part

_FIRST, _GROWTH = 256, 0.2
_STEPS = 5
# Step size over η_g. Weights of the logistic loss grow where the classes separate: there, steps of
# 10 overfit the rows kept (ijcnn1: more mistakes than with fixed frequencies).
_PACE = {RuleKind.LEAST_SQUARES: 10.0, RuleKind.NEWTON: 3.0}
_KEPT = 4096
# Adam's (Kingma & Ba 2015, Algorithm 1)
_BETA1, _BETA2 = 0.9, 0.99
# Slopes smaller than this share of all are rounding, and are not blown up to whole steps.
_SMALLEST = 1e-6
# Residuals as small as this share of the targets: nothing is left to learn.
_FITS = 1e-8
# Ridge of T, for each unit of weight.
_THETA = 1e-8


class LearnedSpectrum(TrainingLoop):
    """Learns rows by an exact rule, and moves the spectrum between them.

    Beside weights and map it holds the rows kept and the running means of the gradients.
    """

    map: ReparameterizedFeatures
    forgetting: float
    slopes: dict[Any, np.ndarray]
    squares: dict[Any, np.ndarray]

    def __init__(self, weights: Weights, feature_map: ReparameterizedFeatures) -> None:
        super().__init__(weights, feature_map)
        assert weights.matrix is not None
        m, self.forgetting = feature_map, weights.matrix.forgetting
        self.memory: float = np.inf if self.forgetting == 1.0 else 1.0 / (1.0 - self.forgetting)
        size = max(_KEPT, 2 * m.n_features_out_)
        self.kept: KeptRows = KeptRows(size, m.n_features_in_, m.dtype_, m.seed_, self.memory)
        self.due: int = _FIRST
        self.n_steps: int = 0
        #: running means of the slopes and of their squares, by attribute of the map
        self.slopes = {name: np.zeros(a.shape) for name, a in m.moving().items()}
        self.squares = {name: np.zeros(a.shape) for name, a in m.moving().items()}

    def learn(self, X: Matrix, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        rows, done = as_dense(X), 0
        while done < len(rows):
            stop = end_of_counted(weight, done, self.due - self.kept.count)
            part = slice(done, stop)
            super().learn(rows[part], y[part], weight[part], P[part])
            self.kept.add(rows[part], y[part], weight[part])
            count = self.kept.count
            if count == self.due:
                self.due = count + max(_FIRST, int(_GROWTH * min(count, self.memory)))
                for _ in range(_STEPS if self.map.widths_par_[0] > 0.0 else 0):
                    self._move()
            done = stop

    def _move(self) -> None:
        """Move the spectrum once, and carry sums and weights over to the new features."""
        m, kept, matrix = self.map, self.kept, self.weights.matrix
        assert matrix is not None
        ages = kept.count - 1 - kept.born
        weight = np.asarray(kept.weight * self.forgetting**ages)
        W = self.weights.W
        Y = targets_of(kept.y, len(W))
        Z = m.features(kept.X).astype(np.float64)
        curvature, goal, pull = matrix.linearized(Z @ W.T, Y, weight)
        if np.square(pull).sum() <= _FITS**2 * np.square(weight[:, None] * Y).sum():
            return
        self._step(m.slopes(kept.X.astype(np.float64), Z, pull @ W))
        new, root = m.features(kept.X).astype(np.float64), np.sqrt(curvature)[:, None]
        theta = _THETA * float(curvature.sum())
        T = regression(root * Z, root * new, theta).T
        self.weights.change_features(T, Known(new - Z @ T.T, goal, curvature, weight, theta))

    def _step(self, slopes: dict[str, np.ndarray]) -> None:
        """One step of the spectrum along ``slopes``, -∂loss/∂θ by attribute of the map."""
        eta, damping = self.map.widths_par_
        alpha = _PACE[self.weights.rule.kind] * eta
        if damping > 0.0:
            alpha /= np.sqrt(1.0 + self.kept.count / damping)
        self.n_steps += 1
        for name, slope in slopes.items():
            self.slopes[name] += (1.0 - _BETA1) * (slope - self.slopes[name])
            self.squares[name] += (1.0 - _BETA2) * (slope**2 - self.squares[name])
        whole = sum(float(squares.sum()) for squares in self.squares.values())
        shrunk = (1.0 - _BETA2**self.n_steps) ** 0.5 / (1.0 - _BETA1**self.n_steps)
        steps = {
            name: alpha * shrunk * mean / np.sqrt(self.squares[name] + _SMALLEST**2 * whole)
            for name, mean in self.slopes.items()
        }
        self.map.move(steps)

    def settled(self) -> bool:
        return False

    def add_output(self, position: int) -> None:
        self.kept.add_class(position, from_signs=self.weights.shape[0] == 1)

    def add_columns(self, n: int) -> None:
        self.kept.add_columns(n)
        for means in (self.slopes, self.squares):
            for name in ("log_width_", "mean_"):
                more = np.zeros((n, *means[name].shape[1:]))
                means[name] = np.concatenate([means[name], more])

    STATE: ClassVar[Fields] = {
        "due": Whole(),
        "n_steps": Whole(),
        "slopes": Like(),
        "squares": Like(),
        "kept": Part(),
    }

    def check_state(self, state: State, sizes: Sizes) -> None:
        for name, squares in state["squares"].items():
            require((squares >= 0.0).all(), f"squares/{name}: holds numbers below 0")

    def state_is_set(self) -> None:
        require(self.due > self.kept.count, f"due: is {self.due}, a row that has come")
