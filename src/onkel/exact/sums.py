"""The sums that least squares is computed from, over all rows so far."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import dsyrk

from onkel.merging import joined
from onkel.numerics.linalg import add_gram

#: for fewer rows SciPy's wrappers, which block other threads, are quicker to call
FEW_ROWS = 16
_SUMS = ("R", "b", "z_sum", "noise")
#: what :meth:`Sums.faded` gives for no rows
NOTHING = [0.0] * len(_SUMS)


class Known(NamedTuple):
    """Rows whose features are known to change from z to T z + e, with e (n, m')."""

    e: np.ndarray
    goal: np.ndarray
    curvature: np.ndarray
    weight: np.ndarray
    #: θ where T is the ridge regression of the new features on z: Σ curvature·e (T z)ᵀ = θ T Tᵀ
    theta: float


class Sums:
    """R = ridge·K₀ + Σ z zᵀ (m, m; upper triangle), b = Σ z y (m, K), Σ z, and the noise.

    ``prior`` is K₀ (m, m), the identity if None. With ``forgetting`` below 1, rows fade.
    """

    def __init__(
        self, m: int, n_outputs: int, ridge: float, forgetting: float, prior: Any = None
    ) -> None:
        self.ridge, self.forgetting = ridge, forgetting
        self.prior = np.asfortranarray(np.eye(m) if prior is None else prior) * ridge
        self.R = self.prior.copy(order="F")
        self.b = np.zeros((m, n_outputs))
        self.z_sum = np.zeros(m)
        #: Σ e²/(1 + zᵀ P z) over all rows, and their number
        self.noise = np.zeros(2)

    def add(self, Zs: np.ndarray, Ys: np.ndarray) -> None:
        """Add rows, scaled by the roots of their weights, to R and b."""
        if len(Zs) < FEW_ROWS:
            self.R = dsyrk(1.0, Zs.T, beta=1.0, c=self.R, overwrite_c=1)
        else:
            add_gram(self.R, Zs)
        self.b += Zs.T @ Ys

    def fade(self, rows: int) -> None:
        """Fade all sums by ``rows`` rows."""
        self.fade_matrix(rows)
        self.fade_rest(rows)

    def fade_matrix(self, rows: int) -> None:
        """Fade R and b by ``rows`` rows."""
        if self.forgetting < 1.0 and rows:
            fade = self.forgetting**rows
            self.R *= fade
            self.b *= fade
            # the penalty is no row and does not fade
            self.R += (1.0 - fade) * self.prior

    def fade_rest(self, rows: int) -> None:
        """Fade Σ z and the noise by ``rows`` rows."""
        if self.forgetting < 1.0 and rows:
            self.z_sum *= self.forgetting**rows
            self.noise *= self.forgetting**rows

    def change_features(self, T: np.ndarray, known: Known | None) -> None:
        """Give all rows so far the features T z (m'), not z (m), and ``known`` rows T z + e."""
        sums = np.triu(self.R - self.prior)
        sums += np.triu(sums, 1).T
        if known is not None:
            # Σ curvature (e (T z)ᵀ + T z eᵀ)
            sums.flat[:: len(sums) + 1] += 2.0 * known.theta
        self.prior = np.asfortranarray(np.eye(len(T)) * self.ridge)
        self.R = np.asfortranarray(self.prior + T @ sums @ T.T)
        self.b, self.z_sum = T @ self.b, T @ self.z_sum
        if known is not None:
            root = np.sqrt(known.curvature)[:, None]
            self.add(root * known.e, root * known.goal)
            self.z_sum += known.weight @ known.e

    def faded(self, rows: int) -> list[Any]:
        """All sums faded by ``rows`` more rows, R without its penalty."""
        fade = self.forgetting**rows
        own = (getattr(self, name) for name in _SUMS[1:])
        return [(self.R - self.prior) * fade, *(sums * fade for sums in own)]

    def join(self, parts: Iterable[list[Any]], kept: float) -> None:
        """Become the joined sums of :meth:`faded` parts; see :func:`onkel.merging.joined`."""
        for name, *sums in zip(_SUMS, *parts, strict=True):
            setattr(self, name, joined(sums, kept))
        self.R = np.asfortranarray(self.prior + self.R)

    def add_class(self, position: int) -> None:
        """Insert a class without rows at ``position``.

        Two classes were one output of targets ±1; their indicators are (1 ± y)/2.
        """
        if self.b.shape[1] == 1:
            both = [self.z_sum[:, None] - self.b, self.z_sum[:, None] + self.b]
            self.b = 0.5 * np.concatenate(both, axis=1)
        self.b = np.insert(self.b, position, 0.0, axis=1)

    def add_features(self, where: list[int]) -> None:
        """Insert features before those of ``where``; they were 0 in all rows so far.

        Their penalty is ridge.
        """
        self.prior = np.asfortranarray(wider(self.prior, where, self.ridge))
        self.R = np.asfortranarray(wider(self.R, where, self.ridge))
        self.b = np.insert(self.b, where, 0.0, axis=0)
        self.z_sum = np.insert(self.z_sum, where, 0.0, axis=0)

    def get_state(self) -> dict[str, Any]:
        """The sums by name."""
        return {name: getattr(self, name) for name in _SUMS}

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`."""
        self.R = np.asfortranarray(np.array(state["R"]))
        for name in _SUMS[1:]:
            setattr(self, name, np.ascontiguousarray(np.array(state[name])))


def wider(A: np.ndarray, where: list[int], diagonal: float) -> np.ndarray:
    """A (m, m) with rows and columns inserted before ``where``: 0 except on the ``diagonal``."""
    new = np.asarray(where) + np.arange(len(where))
    A = np.insert(np.insert(A, where, 0.0, axis=0), where, 0.0, axis=1)
    A[new, new] = diagonal
    return A
