"""Fastfood: random Fourier features by Hadamard transforms instead of a matrix.

The loops transform many rows side by side. A tile holds rows as its columns, so every butterfly
adds and subtracts contiguous rows of the tile. That vectorises whatever the size, and a permutation
moves whole rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from onkel.annotations import DTypeLike, Matrix, Out, Seed
from onkel.fields import Array, Fields, Number, Sizes, State, Whole, require
from onkel.kernels import Kernel, make_kernel
from onkel.maps.fourier import SpectralFeatures, sincos_block
from onkel.numerics.arrays import as_dense, next_power_of_two
from onkel.numerics.jit import jit, jit_inline
from onkel.numerics.threads import scratch

#: rows transformed side by side: two or four vector registers in float32
TILE = 16


@jit_inline
def _two_levels(U, i, h):
    """Butterflies of span h and 2h over rows i to i + 4h: half the traffic of two passes."""
    for j in range(i, i + h):
        for k in range(U.shape[1]):
            a, b, c, d = U[j, k], U[j + h, k], U[j + 2 * h, k], U[j + 3 * h, k]
            p, q, r, s = a + b, a - b, c + d, c - d
            U[j, k] = p + r
            U[j + h, k] = q + s
            U[j + 2 * h, k] = p - r
            U[j + 3 * h, k] = q - s


@jit
def hadamard(U):
    """U (m, r) ← H U in place for m a power of two, H_2m = [H_m, H_m; H_m, -H_m], H_1 = 1."""
    m, h = U.shape[0], 1
    while 4 * h <= m:
        for i in range(0, m, 4 * h):
            _two_levels(U, i, h)
        h *= 4
    if h < m:
        for j in range(h):
            for k in range(U.shape[1]):
                a, b = U[j, k], U[j + h, k]
                U[j, k] = a + b
                U[j + h, k] = a - b


@jit_inline
def _load(X, t, first, U):
    """The tile U (m, r) ← rows t to t + r of X from column ``first`` on, zeros below."""
    d = min(U.shape[0], X.shape[1] - first)
    U[d:, :] = 0.0
    for k in range(U.shape[1]):
        for j in range(d):
            U[j, k] = X[t + k, first + j]


@jit_inline
def _transform(x, b, signs, order, normals, U, V):
    """V ← H G Π H B x with the b-th B, Π and G."""
    for j in range(U.shape[0]):
        for k in range(U.shape[1]):
            U[j, k] = signs[b, j] * x[j, k]
    hadamard(U)
    for j in range(U.shape[0]):
        i = order[b, j]
        for k in range(U.shape[1]):
            V[j, k] = normals[b, j] * U[i, k]
    hadamard(V)


@jit
def fastfood_angles(X, first, signs, order, normals, lengths, angles):
    """angles (n, D) ← themselves + S H G Π H B x in turns, for columns ``first`` to first + m of X.

    ``signs``, ``order``, ``normals`` and ``lengths`` (blocks, m) are the diagonals of B, the
    permutations Π, and the diagonals of G and S; D ≤ blocks · m.
    """
    n, D = angles.shape
    m = signs.shape[1]
    for t in range(0, n, TILE):
        r = min(TILE, n - t)
        x, U, V = np.empty((m, r), X.dtype), np.empty((m, r), X.dtype), np.empty((m, r), X.dtype)
        _load(X, t, first, x)
        for b in range(signs.shape[0]):
            _transform(x, b, signs, order, normals, U, V)
            at = b * m
            for k in range(r):
                for j in range(min(m, D - at)):
                    angles[t + k, at + j] += lengths[b, j] * V[j, k]


_ARRAYS = ("_signs", "_order", "_normals", "_lengths")


@dataclass(eq=False, repr=False)
class FastfoodFeatures(SpectralFeatures):
    """z(x) = [cos v, sin v]/√D with v = √(2γ) S H G Π H B x/√m: O(D log d) a row, O(D) memory.

    B is a random diagonal of signs, Π a permutation, G a diagonal of normals, H the Hadamard
    matrix of size m, a power of two, the least from d up (x gets zeros), and S gives each row
    of the product the length that an independent N(0, I) would have. ⌈D/m⌉ such blocks are
    stacked. z(x)·z(x') estimates κ(x, x') without bias, with a little more variance than
    :class:`FourierFeatures` of as many frequencies.

    Use it for wide rows: from about a hundred columns on it is faster than a matrix product, and
    at thousands by an order of magnitude, without the d·D numbers of a matrix. For fewer columns
    take :class:`FourierFeatures`. Sparse rows are made dense.

    A column that comes in mid-stream takes the place of one of the zeros. When there are none left,
    a second product of the same size, drawn from the same seed, takes the next m columns; v is the
    sum of both.

    Parameters
    ----------
    n_components : int, default=400
        Number of frequencies D ≥ 1; the map has 2D features.
    kernel, gamma, n_warmup, random_state
        As of :class:`FourierFeatures`; the kernel must be radial.

    Attributes
    ----------
    gamma_ : float
    n_features_out_ : int
        2D.

    Raises
    ------
    ValueError
        On ``fit``, for a parameter out of its range. The message names it.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel.maps import FastfoodFeatures
    >>> X = np.random.default_rng(0).standard_normal((200, 12))
    >>> Z = FastfoodFeatures(2000, gamma=0.05, random_state=0).fit_transform(X)
    >>> K = np.exp(-0.05 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    >>> print(f"{np.abs(Z @ Z.T - K).max():.2f}")
    0.06

    Notes
    -----
    Source: Le, Sarlos & Smola 2013, their product V = S H G Π H B/(σ√m), with √(2γ) = 1/σ; for
    other radial kernels S has the lengths of their spectra. Features are cos and sin of v instead
    of e^{iv}. The second product for columns that come in mid-stream is ours.
    """

    name = "fastfood"

    n_components: int = 400
    kernel: str | Kernel = "gaussian"
    gamma: float | str = "median"
    n_warmup: int = 256
    random_state: Seed = None

    def start(self, d: int, dtype: DTypeLike) -> None:
        super().start(d, dtype)
        if not make_kernel(self.kernel).radial:
            raise ValueError(
                f"kernel={self.kernel!r} is not radial, and Fastfood's frequencies have random "
                "directions; use FourierFeatures or NystroemFeatures"
            )

    def fit_first(self, X: np.ndarray) -> None:
        super().fit_first(X)
        self.n_first_: int = self.n_features_in_
        for name in _ARRAYS:
            vars(self).pop(name, None)
        self._draw_missing()

    def add_columns(self, n: int) -> int | None:
        self.n_features_in_ += n
        if self._has_state():
            self._draw_missing()
        return None

    @property
    def _size(self) -> int:
        """m, the least power of two from the number of first columns up."""
        return next_power_of_two(self.n_first_ - 1)

    def _draw_missing(self) -> None:
        """A product for every m columns: the first, and those that came later."""
        have, need = self._n_products, -(-self.n_features_in_ // self._size)
        drawn = [self._draw(i) for i in range(have, need)]
        for name in _ARRAYS:
            held = [getattr(self, name)] if have else []
            setattr(self, name, np.concatenate([*held, *(d[name] for d in drawn)]))

    @property
    def _n_products(self) -> int:
        return len(vars(self).get("_signs", ()))

    def _draw(self, number: int) -> dict[str, np.ndarray]:
        """The diagonals and permutations, (1, blocks, m) each, of one product."""
        m, kernel = self._size, make_kernel(self.kernel)
        blocks = -(-self.n_components // m)
        rng = np.random.default_rng([self.seed_, number])
        normals = rng.standard_normal((blocks, m))
        # the lengths that N(0, I) has, over those of the rows of H G Π H B
        lengths = np.sqrt(rng.chisquare(m, (blocks, m)) / m)
        lengths /= np.sqrt((normals**2).sum(axis=1, keepdims=True))
        # one mixing for all products: a frequency has one τ
        mixing = kernel.mixing(np.random.default_rng(self.seed_), blocks * m).reshape(blocks, m)
        turns = np.sqrt(2.0 * self.gamma_ * mixing) / (2.0 * math.pi)
        signs = rng.choice([-1.0, 1.0], (blocks, m))
        order = np.array([rng.permutation(m) for _ in range(blocks)], np.int32)
        diagonals = {"_signs": signs, "_normals": normals, "_lengths": lengths * turns}
        drawn = {name: array.astype(self.dtype_) for name, array in diagonals.items()}
        return {name: array[None] for name, array in (drawn | {"_order": order}).items()}

    def state_fields(self) -> Fields:
        shape = "products", "blocks", "m"
        values = Array(self.dtype_, shape, low=-1e15, high=1e15)
        return {
            "gamma_": Number(low=0.0),
            "n_first_": Whole(low=1, high=self.n_features_in_),
            **dict.fromkeys(_ARRAYS, values),
            "_order": Array(np.int32, shape, low=0),
        }

    def check_state(self, state: State, sizes: Sizes) -> None:
        m = next_power_of_two(state["n_first"] - 1)
        wanted = -(-self.n_features_in_ // m), -(-self.n_components // m), m
        found = tuple(sizes[name] for name in ("products", "blocks", "m"))
        require(found == wanted, f"order: has shape {found}, not {wanted}")
        require(state["order"].max() < m, f"order: names places beyond {m}")

    def features(self, X: Matrix, out: Out = None) -> np.ndarray:
        X = as_dense(X)
        D = self.n_components
        Z = np.empty((len(X), 2 * D), self.dtype_) if out is None else out
        angles = scratch("angles", (len(X), D), self.dtype_)
        angles[:] = 0.0
        for i in range(self._n_products):
            arrays = (getattr(self, name)[i] for name in _ARRAYS)
            fastfood_angles(X, i * self._size, *arrays, angles)
        sincos_block(angles, 1.0 / math.sqrt(D), Z)
        return Z
