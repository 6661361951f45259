"""What exact least squares keeps: sums over all rows, and the rows since the last factorisation."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dtrtrs

from onkel.exact.on_device import gram_on_device
from onkel.fields import Array, Fields, Sizes, State, require
from onkel.merging import joined
from onkel.numerics.arrays import inserted
from onkel.numerics.devices import Device
from onkel.numerics.linalg import add_gram, cholesky_lower
from onkel.state import Stateful

#: for fewer rows SciPy's wrappers, which block other threads, are quicker to call
FEW_ROWS = 16
# outputs from which on a row's zeros are left out
_MANY_OUTPUTS = 32
# rows that there is room for at first
_FIRST_ROOM = 32
_SUMS = ("R", "b", "z_sum", "noise")
# the largest numbers in a loaded state, and the relative difference allowed between its matrices
_MOST, _MOST_OF_TARGETS, _ROUNDING = 1e150, 1e170, 1e-5
#: what :meth:`Sums.faded` gives for no rows
NOTHING = [0.0] * len(_SUMS)


def matrix(*shape: str) -> Array:
    """The field of a matrix, or vector, of numbers whose products are finite."""
    return Array(shape=shape, low=-_MOST, high=_MOST)


class Known(NamedTuple):
    """Rows whose features are known to change from z to T z + e, with e (n, m')."""

    e: np.ndarray
    goal: np.ndarray
    curvature: np.ndarray
    weight: np.ndarray
    #: θ where T is the ridge regression of the new features on z: Σ curvature·e (T z)ᵀ = θ T Tᵀ
    theta: float


class Sums(Stateful):
    """R = ridge·K₀ + Σ z zᵀ (m, m; upper triangle), b = Σ z y (m, K), Σ z, and the noise.

    ``prior`` is K₀ (m, m), the identity if None. With ``forgetting`` below 1, rows fade.
    """

    def __init__(
        self,
        m: int,
        n_outputs: int,
        ridge: float,
        forgetting: float,
        prior: np.ndarray | None = None,
        device: Device | None = None,
    ) -> None:
        self._device = device
        self.ridge: float = ridge
        self.forgetting: float = forgetting
        self.prior: np.ndarray = np.asfortranarray(np.eye(m) if prior is None else prior) * ridge
        self.R: np.ndarray = self.prior.copy(order="F")
        self.b: np.ndarray = np.zeros((m, n_outputs))
        self.z_sum: np.ndarray = np.zeros(m)
        #: Σ e²/(1 + zᵀ P z) over all rows, and their number
        self.noise: np.ndarray = np.zeros(2)

    def add(self, Zs: np.ndarray, Ys: np.ndarray) -> None:
        """Add rows, scaled by the roots of their weights, to R and b."""
        if len(Zs) < FEW_ROWS:
            self.R = dsyrk(1.0, Zs.T, beta=1.0, c=self.R, overwrite_c=1)
        elif self._device is not None:
            self.R += gram_on_device(Zs, self._device)
        else:
            add_gram(self.R, Zs)
        if len(Zs) == 1 and Ys.shape[1] > _MANY_OUTPUTS:
            # a row changes the sums of its class only
            (changed,) = Ys[0].nonzero()
            self.b[:, changed] += Zs[0][:, None] * Ys[0, changed]
        else:
            self.b += Zs.T @ Ys

    def __deepcopy__(self, memo: dict[int, object]) -> Sums:
        # the prior is replaced, never written to: copies share it
        memo[id(self.prior)] = self.prior
        copied = copy.copy(self)
        copied.__dict__ = copy.deepcopy(self.__dict__, memo)
        return copied

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

    def faded(self, rows: int) -> list[np.ndarray]:
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
        self.b = inserted(self.b, position)

    def add_features(self, where: list[int]) -> None:
        """Insert features before those of ``where``; they were 0 in all rows so far.

        Their penalty is ridge.
        """
        self.prior = np.asfortranarray(wider(self.prior, where, self.ridge))
        self.R = np.asfortranarray(wider(self.R, where, self.ridge))
        self.b = np.insert(self.b, where, 0.0, axis=0)
        self.z_sum = np.insert(self.z_sum, where, 0.0, axis=0)

    STATE: ClassVar[Fields] = {
        "R": matrix("m", "m"),
        # sums of targets, which may be large, by weight
        "b": Array(shape=("m", "K"), low=-_MOST_OF_TARGETS, high=_MOST_OF_TARGETS),
        "z_sum": matrix("m"),
        "noise": Array(shape=(2,), low=0.0, high=_MOST**2),
    }

    def state_sizes(self) -> Sizes:
        m, K = self.b.shape
        return {"m": m, "K": K}

    def state_is_set(self) -> None:
        self.R, self.b = np.asfortranarray(self.R), np.ascontiguousarray(self.b)


def wider(A: np.ndarray, where: list[int], diagonal: float) -> np.ndarray:
    """A (m, m) with rows and columns inserted before ``where``: 0 except on the ``diagonal``."""
    new = np.asarray(where) + np.arange(len(where))
    A = np.insert(np.insert(A, where, 0.0, axis=0), where, 0.0, axis=1)
    A[new, new] = diagonal
    return A


class RowsSince(Stateful):
    """Up to ``most`` rows beside the factor C: U = C⁻ᵀ Zᵀ (m, n), S = Uᵀ U + I = L Lᵀ, v (n, K).

    Room for rows doubles when it is needed: a small model of many takes little memory.
    """

    def __init__(self, m: int, n_outputs: int, most: int) -> None:
        self._most = most
        room = min(_FIRST_ROOM, most)
        self._U = np.empty((room, m))
        self._L = np.zeros((room, room), order="F")
        self._v = np.empty((room, n_outputs))
        self.count: int = 0

    @property
    def U(self) -> np.ndarray:
        """(m, n)."""
        return self._U[: self.count].T

    @property
    def L(self) -> np.ndarray:
        """(n, n)."""
        return self._L[: self.count, : self.count]

    @property
    def v(self) -> np.ndarray:
        """(n, K)."""
        return self._v[: self.count]

    def append(self, U: np.ndarray, L21: np.ndarray, L22: np.ndarray, v: np.ndarray) -> None:
        """Append n rows: their U (m, n), the rows [L21, L22] of L, and their v."""
        a, b = self.count, self.count + len(v)
        if b > len(self._v):
            more = min(self._most, max(b, 2 * len(self._v))) - len(self._v)
            self._U = np.pad(self._U, ((0, more), (0, 0)))
            self._L = np.asfortranarray(np.pad(self._L, (0, more)))
            self._v = np.pad(self._v, ((0, more), (0, 0)))
        self._U[a:b] = U.T
        self._L[a:b, :a] = L21
        self._L[a:b, a:b] = np.tril(L22) if len(v) > 1 else L22
        self._v[a:b] = v
        self.count = b

    def rows_of_L(self, U: np.ndarray) -> np.ndarray:
        """The rows L21 (n, count) that the columns of U (m, n) add to L."""
        if not self.count:
            return np.empty((U.shape[1], 0))
        n = self.count
        return np.asarray(dtrtrs(self._L[:n, :n], self._U[:n] @ U, lower=1)[0]).T

    def products(self, U: np.ndarray, gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """:meth:`rows_of_L`, and Z P Zᵀ of the rows, lower triangle (n, n).

        ``gram``: UᵀU, its lower triangle, which is returned where no row came before.
        """
        L21 = self.rows_of_L(U)
        return L21, gram - L21 @ L21.T if L21.size else gram

    def innovations(
        self, U: np.ndarray, gram: np.ndarray, residual: np.ndarray, keep: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """L22 (n, n) and v (n, K) of rows with U (m, n) and residuals Y - Z w₀; see :meth:`append`.

        ``gram``: UᵀU, its lower triangle, which may be overwritten. ``keep``: append the rows,
        unless they reach ``most``, where the matrix is factored anew.
        """
        L21, S = self.products(U, gram)
        if len(S) == 1:
            S += 1.0
        else:
            S.flat[:: len(S) + 1] += 1.0
        if len(S) < FEW_ROWS:
            L22, _ = dpotrf(S, lower=1, overwrite_a=1)
        else:
            L22 = np.asfortranarray(S)
            cholesky_lower(L22)
        v = solve_lower(L22, residual - L21 @ self._v[: self.count])
        if keep and self.count + len(v) < self._most:
            self.append(U, L21, L22, v)
        return L22, v

    def inner(self) -> np.ndarray:
        """U L⁻ᵀ v (m, K)."""
        return np.asarray(self.U @ solve_lower(self.L, self.v, transposed=True))

    def add_output(self, position: int) -> None:
        """Insert a class without rows at ``position``."""
        self._v = inserted(self._v, position)

    def add_features(self, where: list[int]) -> None:
        """Insert features before those of ``where``; they were 0 in all rows so far."""
        self._U = np.insert(self._U, where, 0.0, axis=1)

    STATE: ClassVar[Fields] = {
        "U": matrix("m", "rows"),
        "L": matrix("rows", "rows"),
        "v": matrix("rows", "K"),
    }

    def state_sizes(self) -> Sizes:
        return {"m": self._U.shape[1], "K": self._v.shape[1]}

    def check_state(self, state: State, sizes: Sizes) -> None:
        rows, most = sizes["rows"], self._most - 1
        require(rows <= most, f"U: holds {rows} rows since the anchor, not {most}")
        U, L = state["U"], state["L"]
        require((L.diagonal() > 0.0).all(), "L: is no factor; its diagonal must be above 0")
        require_equal("L", L @ L.T, U.T @ U + np.eye(rows))

    def set_fields(self, values: State) -> None:
        self.count, L = 0, values["L"]
        self.append(values["U"], np.empty((len(L), 0)), L, values["v"])


def solve_lower(L: np.ndarray, B: np.ndarray, transposed: bool = False) -> np.ndarray:
    """L⁻¹ B or L⁻ᵀ B of a lower triangular L with no 0 on its diagonal."""
    return np.asarray(dtrtrs(L, B, lower=1, trans=int(transposed))[0])


def require_equal(name: str, found: np.ndarray, wanted: np.ndarray) -> None:
    """Raise a ModelFileError if two matrices differ by more than rounding."""
    largest = np.abs(wanted).max(initial=0.0)
    near = np.abs(found - wanted).max(initial=0.0) <= _ROUNDING * largest
    require(near, f"{name}: is not the factor of the matrix that is saved with it")
