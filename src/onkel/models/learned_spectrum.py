"""Exact rules over frequencies that are learned: the spectrum moves between rows, not with each.

RRF (Nguyen et al. 2017) moves weights and widths by one gradient step a row. Here the weights are
exact in the features there are, and the spectrum θ (widths; of a mixture, means and shares too)
moves along the same gradient at row 256 and then whenever a fifth more rows have come, whatever the
blocks: five steps θ ← θ - α·Adam(∂loss/∂θ), α = 10 η_g/√(1 + t/N) (Newton: 3 η_g). The loss is that
of the rows kept, a uniform sample of up to 4 096, at the weights of all rows: at the best ones it
has no slope along them.

A step changes all features, and the sums of least squares must follow. For the rows kept the new
features are z' = T z + e, with T the regression of the new on the old over them; their T z and e
have nothing in common, so the sums become T Σzzᵀ Tᵀ + Σ e eᵀ (and T Σzy + Σ e y), the second sums
over the rows kept. That is exact for the rows kept and for all rows to come; the other rows so far
are taken for T z. As long as all rows are kept, least squares is exact for all; the logistic loss
takes their e where f is now, not where it was when they were met.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onkel._dense import as_dense
from onkel.models.kept_rows import KeptRows
from onkel.models.moving import regression
from onkel.models.recursive import Known
from onkel.rules.base import RuleKind

if TYPE_CHECKING:
    from onkel.maps.reparameterized import ReparameterizedFeatures
    from onkel.models.explicit import ExplicitModel

__all__ = ["LearnedSpectrum", "learn"]

_FIRST, _GROWTH = 256, 0.2
_STEPS = 5
# Over η_g. Weights of the logistic loss grow where classes are told apart: there, steps of 10
# follow the rows kept too closely (ijcnn1: more mistakes than with frequencies that stay).
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


class LearnedSpectrum:
    """When the spectrum moves and what that takes: rows kept, and the steps' running means."""

    def __init__(self, feature_map: ReparameterizedFeatures, rule: RuleKind, forgetting: float):
        m = feature_map
        self.map, self.forgetting, self.pace = m, forgetting, _PACE[rule]
        self.memory = np.inf if forgetting == 1.0 else 1.0 / (1.0 - forgetting)
        size = max(_KEPT, 2 * m.n_features_out_)
        self.kept = KeptRows(size, m.n_features_in_, m.dtype_, m.seed_, self.memory)
        self.due, self.n_steps = _FIRST, 0
        #: running means of the slopes and of their squares, by attribute of the map
        self.slopes = {name: np.zeros(a.shape) for name, a in m.moving().items()}
        self.squares = {name: np.zeros(a.shape) for name, a in m.moving().items()}

    def weights(self) -> np.ndarray:
        """What the rows kept count now."""
        ages = self.kept.count - 1 - self.kept.born
        return np.asarray(self.kept.weight * self.forgetting**ages)

    def plan(self) -> None:
        """Settle the row after which the spectrum moves next."""
        rows = min(self.kept.count, self.memory)
        self.due = self.kept.count + max(_FIRST, int(_GROWTH * rows))

    def step(self, slopes: dict[str, np.ndarray]) -> None:
        """One step of the spectrum along ``slopes``, -∂loss/∂θ by attribute of the map."""
        eta, damping = self.map.widths_par_
        alpha = self.pace * eta
        if damping > 0.0:
            alpha /= np.sqrt(1.0 + self.kept.count / damping)
        self.n_steps += 1
        for name, slope in slopes.items():
            self.slopes[name] += (1.0 - _BETA1) * (slope - self.slopes[name])
            self.squares[name] += (1.0 - _BETA2) * (slope**2 - self.squares[name])
        whole = sum(float(squares.sum()) for squares in self.squares.values())
        shrunk = (1.0 - _BETA2**self.n_steps) ** 0.5 / (1.0 - _BETA1**self.n_steps)
        self.map.move(
            {
                name: alpha * shrunk * mean / np.sqrt(self.squares[name] + _SMALLEST**2 * whole)
                for name, mean in self.slopes.items()
            }
        )

    def add_columns(self, n: int) -> None:
        """Rows so far had 0 in n columns more."""
        self.kept.add_columns(n)
        for means in (self.slopes, self.squares):
            for name in ("log_width_", "mean_"):
                more = np.zeros((n, *means[name].shape[1:]))
                means[name] = np.concatenate([means[name], more])

    def get_state(self) -> dict[str, Any]:
        """Named arrays and scalars."""
        state = {"due": self.due, "n_steps": self.n_steps, "kept": self.kept.get_state()}
        return state | {"slopes": self.slopes, "squares": self.squares}

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`."""
        self.due, self.n_steps = state["due"], state["n_steps"]
        self.slopes, self.squares = dict(state["slopes"]), dict(state["squares"])
        self.kept.set_state(state["kept"])


def learn(model: ExplicitModel, X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
    """Learn the rows X (n, d) in order; P (n, K) gets the scores before each."""
    spectrum, rows, done = model.spectrum, as_dense(X), 0
    assert spectrum is not None
    while done < len(rows):
        counted = np.flatnonzero(weight[done:] > 0.0)
        missing = spectrum.due - spectrum.kept.count
        reached = counted.size >= missing
        stop = done + int(counted[missing - 1]) + 1 if reached else len(rows)
        part = slice(done, stop)
        model.learn_features(model._block_features(rows[part]), y[part], weight[part], P[part])
        spectrum.kept.add(rows[part], y[part], weight[part])
        if reached:
            spectrum.plan()
            for _ in range(_STEPS if spectrum.map.widths_par_[0] > 0.0 else 0):
                _step(model, spectrum)
        done = stop


def _step(model: ExplicitModel, spectrum: LearnedSpectrum) -> None:
    """Move the spectrum once, and carry sums and weights over to the new features."""
    m, kept, matrix = spectrum.map, spectrum.kept, model.matrix
    assert matrix is not None
    weight, Y = spectrum.weights(), model.targets(kept.y)
    Z = m.features(kept.X).astype(np.float64)
    curvature, goal, pull = matrix.linearized(Z @ model.W.T, Y, weight)
    if np.square(pull).sum() <= _FITS**2 * np.square(weight[:, None] * Y).sum():
        return
    spectrum.step(m.slopes(kept.X.astype(np.float64), Z, pull @ model.W))
    new, root = m.features(kept.X).astype(np.float64), np.sqrt(curvature)[:, None]
    theta = _THETA * float(curvature.sum())
    T = regression(root * Z, root * new, theta).T
    model.W = matrix.change_features(T, Known(new - Z @ T.T, goal, curvature, weight, theta))
