"""How hot loops are compiled, and the arithmetic they share.

Every loop is a module-level function under :func:`jit`: compiled when first called, kept on disk
(`onkel.numerics.cache`), free of the GIL. ``NUMBA_DISABLE_JIT=1`` turns the same source into its
own reference implementation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numba
import numpy as np
from numba.core.registry import CPUDispatcher

from onkel.numerics.cache import place_of, stamp_of
from onkel.numerics.compiling import watch
from onkel.numerics.pieces import LoopLibraries, PieceLibrary, compiled_as, set_environments
from onkel.numerics.signals import signals_wait

# Sums may be reordered and contracted (that is what makes a dot product vectorise); NaN and
# infinity keep their meaning, so a loop stays right even where a caller forgot to refuse them.
_FASTMATH = {"reassoc", "contract", "nsz", "arcp"}
# A division by 0 gives inf, as in NumPy: a check of each would keep loops from being vectorised.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "fastmath": _FASTMATH,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}
# A product and a sum may still become one instruction, which they then do everywhere.
_IN_ORDER = {"contract", "nsz"}
# Each wrapper would hold another copy of the piece, and take as long to compile.
_OPTIONS_INLINE: dict[str, Any] = _OPTIONS | {
    "forceinline": True,
    "_nrt": False,
    "no_cpython_wrapper": True,
}


def jit(function: Callable[..., object]) -> Any:
    """Compile a hot loop whose sums may be reordered.

    A loop that writes an array must not add up a sum, too: where short arrays lie close together,
    another loop is taken, with another order (tests/numerics/test_sums_in_loops.py).
    """
    return _compiled(function, _OPTIONS)


def jit_inline(function: Callable[..., object]) -> Any:
    """Compile a piece of a hot loop; always inlined: a call would cost as much as its work.

    A piece counts no references: it is handed its arrays and makes none (the compiler refuses
    ``np.empty`` in it). Counting is two atomic operations for each array at each call, three times
    the work of a row with a support set of 200.
    """
    return _as_piece(_compiled(function, _OPTIONS_INLINE))


class _Loop(CPUDispatcher):  # type: ignore[misc]
    """A loop; signals wait until it is compiled or loaded.

    A signal in the middle would leave Numba's tables by half, and the next call would crash.
    """

    _options: dict[str, Any]
    _stamp: object

    def _compile_for_args(self, *args: Any, **kwargs: Any) -> Any:
        with signals_wait, watch:
            return super()._compile_for_args(*args, **kwargs)  # type: ignore[misc]

    @cached_property
    def _cache(self) -> Any:
        # asked for when compiled: it looks whether folders can be written, and most loops never run
        return place_of(self.py_func, self._options, self._stamp)

    def compile(self, sig: Any) -> Any:
        with compiled_as(LoopLibraries(self.py_func.__qualname__), self.targetctx):
            entry = super().compile(sig)
            set_environments(self)
        return entry


def _compiled(function: Callable[..., object], options: dict[str, Any]) -> Any:
    loop = numba.njit(function, **options)
    if isinstance(loop, CPUDispatcher):
        loop.__class__ = _Loop
        loop.__dict__ |= {"_options": options, "_stamp": stamp_of(function)}
        del loop.__dict__["_cache"]
    return loop


def jit_called(function: Callable[..., object]) -> Any:
    """Compile a part of hot loops that makes arrays or is seldom reached; it need not be inlined.

    Only loops call it. An entry for Python would take as long to compile as the part itself.
    """
    return _as_piece(_compiled(function, _OPTIONS | {"no_cpython_wrapper": True}))


def jit_in_order(function: Callable[..., object]) -> Any:
    """Compile a loop that rounds as it is written: its results don't depend on the shape."""
    return _compiled(function, _OPTIONS | {"fastmath": _IN_ORDER})


def jit_as_written(function: Callable[..., object]) -> Any:
    """Compile a loop of the columns: no operation is reordered or joined with another."""
    return _compiled(function, {"nogil": True, "no_cfunc_wrapper": True})


def jit_inline_in_order(function: Callable[..., object]) -> Any:
    """A piece of a loop under :func:`jit_in_order`."""
    return _as_piece(numba.njit(function, **_OPTIONS_INLINE | {"fastmath": _IN_ORDER}))


class _Piece(_Loop):  # type: ignore[misc]
    """A piece has no entry for Python; called from there, as by a test, it compiles one."""

    _entry: Any = None

    def __call__(self, *args: Any) -> Any:
        if self._entry is None:
            self._entry = _compiled(self.py_func, _OPTIONS)
        return self._entry(*args)

    def compile(self, sig: Any) -> Any:
        with compiled_as(PieceLibrary, self.targetctx):
            return CPUDispatcher.compile(self, sig)


def _as_piece(loop: Any) -> Any:
    if isinstance(loop, CPUDispatcher):
        loop.__class__ = _Piece
    return loop


# sin(πr)/r and cos(πr) as polynomials in r², |r| ≤ 1/2: minimax for float32, Taylor for float64.
_S0, _S1, _S2, _S3, _S4 = (
    np.float32(c)
    for c in (3.14159258003, -5.16770687833, 2.55003136721, -0.59804511227, 0.07722000447)
)
_C1, _C2, _C3, _C4, _C5 = (
    np.float32(c)
    for c in (-4.93480215608, 4.05870959954, -1.33521610183, 0.23495390927, -0.02442066991)
)
_SIN64 = (
    3.141592653589793, -5.16771278004997, 2.550164039877345, -0.5992645293207921,
    0.08214588661112823, -0.00737043094571435, 0.0004663028057676125, -2.1915353447830216e-05,
    7.952054001475513e-07, -2.2948428997269873e-08, 5.392664662608128e-10,
)  # fmt: skip
_COS64 = (
    1.0, -4.934802200544679, 4.058712126416768, -1.3352627688545895, 0.23533063035889312,
    -0.02580689139001406, 0.0019295743094039231, -0.00010463810492484571, 4.303069587032947e-06,
    -1.3878952462213771e-07, 3.604730797462501e-09,
)  # fmt: skip
_ONE, _TWO = np.float32(1.0), np.float32(2.0)


@jit_inline
def _sincos32(u, scale, cos, sin):
    k = np.float32(scale)
    for j in range(u.shape[0]):
        r = u[j] - np.rint(u[j])
        r2 = r * r
        s = ((((_S4 * r2 + _S3) * r2 + _S2) * r2 + _S1) * r2 + _S0) * r
        c = ((((_C5 * r2 + _C4) * r2 + _C3) * r2 + _C2) * r2 + _C1) * r2 + _ONE
        cos[j] = k * (_ONE - _TWO * s * s)
        sin[j] = k * (_TWO * s * c)


@jit_inline
def _sincos64(u, scale, cos, sin):
    for j in range(u.shape[0]):
        r = u[j] - np.rint(u[j])
        r2 = r * r
        s, c = _SIN64[10], _COS64[10]
        for n in range(9, -1, -1):
            s = s * r2 + _SIN64[n]
            c = c * r2 + _COS64[n]
        s *= r
        cos[j] = scale * (1.0 - 2.0 * s * s)
        sin[j] = scale * (2.0 * s * c)


@jit_inline
def sincos_turns(u, scale, cos, sin):
    """Write ``scale * cos(2πu)`` and ``scale * sin(2πu)`` for angles ``u`` in turns.

    Branch-free, so it vectorises: r = u - rint(u) is exact; with the half angle h = πr in
    [-π/2, π/2], cos 2h = 1 - 2 sin²h and sin 2h = 2 sin h cos h. Absolute error beside the
    rounding of u itself: below 8e-7 in float32, below 2e-15 in float64.
    """
    if u.itemsize == 4:
        _sincos32(u, scale, cos, sin)
    else:
        _sincos64(u, scale, cos, sin)


@jit
def sincos_part(angles, scale, start, Z):
    """Features ``start`` to ``start`` + m of a block Z (n, 2D), from their angles (n, m)."""
    m, D = angles.shape[1], Z.shape[1] // 2
    for t in range(angles.shape[0]):
        sincos_turns(angles[t], scale, Z[t, start : start + m], Z[t, D + start : D + start + m])


@jit_inline
def _cos32(u, scale, out):
    for j in range(u.shape[0]):
        r = u[j] - np.rint(u[j])
        r2 = r * r
        s = ((((_S4 * r2 + _S3) * r2 + _S2) * r2 + _S1) * r2 + _S0) * r
        out[j] = scale[j] * (_ONE - _TWO * s * s)


@jit_inline
def _cos64(u, scale, out):
    for j in range(u.shape[0]):
        r = u[j] - np.rint(u[j])
        r2 = r * r
        s = _SIN64[10]
        for n in range(9, -1, -1):
            s = s * r2 + _SIN64[n]
        s *= r
        out[j] = scale[j] * (1.0 - 2.0 * s * s)


@jit
def cos_block(turns, offset, scale, Z):
    """Features ``scale_j cos 2π(turns + offset_j)`` of a block, Z (n, D); overwrites ``turns``."""
    for t in range(turns.shape[0]):
        for j in range(turns.shape[1]):
            turns[t, j] += offset[j]
        if turns.itemsize == 4:
            _cos32(turns[t], scale, Z[t])
        else:
            _cos64(turns[t], scale, Z[t])


# The pieces below take a matrix and a row, not a view of the row: in a loop, which does count
# references, making a view costs as much as the arithmetic at these sizes.


@jit_inline
def dot(U, i, V, j):
    """Inner product of row i of U and row j of V, accumulated in their own precision."""
    total = U.dtype.type(0.0)
    for k in range(U.shape[1]):
        total += U[i, k] * V[j, k]
    return total


@jit_inline
def axpy(a, U, i, V, j):
    """Row j of V ← itself + a · row i of U, in the precision of V."""
    b = V.dtype.type(a)
    for k in range(U.shape[1]):
        V[j, k] += b * U[i, k]


@jit_inline
def first_least(U, i, size):
    """The place of the least of the first ``size`` values of row i of U, float64 and none below 0.

    Such numbers have the order of their bits read as integers. A minimum of integers vectorises;
    one of floats may not, because of NaN. Of equal values the first counts.
    """
    bits = U.view(np.int64)
    least = bits[i, 0]
    for j in range(1, size):
        least = min(least, bits[i, j])
    place = size
    for j in range(size):
        place = min(place, j if bits[i, j] == least else size)
    return place
