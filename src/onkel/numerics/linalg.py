"""Grams and Cholesky factors: outside the GIL, safe from rounding, and in blocks for fast solves.

SciPy's wrappers of BLAS and LAPACK hold the GIL while they compute, so that a second thread gains
nothing. Grams, factors and inverses of large matrices call the functions that SciPy exports to
Cython, through ctypes, which releases it. A call costs some microseconds more.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator
from functools import cache
from itertools import count
from typing import Any

import numpy as np
from scipy.linalg import cython_blas, cython_lapack
from scipy.linalg.blas import dtrsm, dtrsv
from scipy.linalg.lapack import dpotrs, dtrtri

from onkel.numerics.in_steps import finished
from onkel.numerics.jit import jit

_NOT_A_PLACE = "the matrix must be writeable and contiguous"
_NUMBER = {"f": ctypes.c_float, "d": ctypes.c_double}


def add_gram(C: np.ndarray, A: np.ndarray) -> None:
    """Add AᵀA of A (n, m) to the upper triangle of C (m, m), contiguous and of A's type."""
    rows = C.flags.c_contiguous
    _syrk(C.T if rows else C, A, b"L" if rows else b"U", 1.0)


def whole_gram(A: np.ndarray, out: np.ndarray) -> np.ndarray:
    """AᵀA (n, n) of A (m, n), both triangles, in ``out``, in row order and of A's type."""
    _syrk(out.T, A, b"L", 0.0)
    _mirror(out)
    return out


def lower_gram(A: np.ndarray) -> np.ndarray:
    """The lower triangle of AᵀA (n, n) of A (m, n), in Fortran order; the rest is 0."""
    C = np.zeros((A.shape[1], A.shape[1]), A.dtype, order="F")
    _syrk(C, A, b"L", 0.0)
    return C


def cholesky_lower(C: np.ndarray) -> bool:
    """The lower triangle of C (n, n), in Fortran order, becomes L of C = L Lᵀ.

    Returns whether there is such an L. For a matrix in row order pass its transpose: then its upper
    triangle becomes Lᵀ.
    """
    return _in_lower_triangle("potrf", C)


def _in_lower_triangle(name: str, C: np.ndarray) -> bool:
    """Whether LAPACK's routine succeeds there in C (n, n), in Fortran order, in place."""
    if not (C.flags.f_contiguous and C.flags.writeable):
        raise ValueError(_NOT_A_PLACE)
    n, info = ctypes.c_int(len(C)), ctypes.c_int(0)
    routine = _function(name, C.dtype.char, 5)
    routine(_ref(ctypes.c_char(b"L")), _ref(n), C.ctypes.data, _ref(n), _ref(info))
    return info.value == 0


def _invert(L: np.ndarray) -> None:
    """The lower triangle of L (n, n), a factor in Fortran order, becomes that of (L Lᵀ)⁻¹."""
    _invert_triangle(L, 0, len(L))
    _in_lower_triangle("lauum", L)


def _invert_triangle(L: np.ndarray, start: int, end: int) -> None:
    """The block of the lower triangle from ``start`` to ``end`` becomes its inverse."""
    number, kind, rows = _NUMBER[L.dtype.char], L.dtype.char, _ref(ctypes.c_int(len(L)))
    lower, as_it_is = _ref(ctypes.c_char(b"L")), _ref(ctypes.c_char(b"N"))
    if end - start <= _FEW_COLUMNS:
        n, info = ctypes.c_int(end - start), ctypes.c_int(0)
        at = L[start:, start:].ctypes.data
        _function("trtri", kind, 6)(lower, as_it_is, _ref(n), at, rows, _ref(info))
        return
    middle = (start + end) // 2
    _invert_triangle(L, start, middle)
    _invert_triangle(L, middle, end)
    # [[P, 0], [Q, R]] has the inverse [[P⁻¹, 0], [-R⁻¹ Q P⁻¹, R⁻¹]]
    m, n = ctypes.c_int(end - middle), ctypes.c_int(middle - start)
    Q = L[middle:, start:].ctypes.data
    for side, sign, first in ((b"L", -1.0, middle), (b"R", 1.0, start)):
        _function("trmm", kind, 11)(
            _ref(ctypes.c_char(side)), lower, as_it_is, as_it_is, _ref(m), _ref(n),
            _ref(number(sign)), L[first:, first:].ctypes.data, rows, Q, rows,
        )  # fmt: skip


def _syrk(C: np.ndarray, A: np.ndarray, triangle: bytes, keep: float) -> None:
    """A triangle of C ← AᵀA + keep·C; A's rows are the columns of a matrix in Fortran order."""
    A = np.ascontiguousarray(A)
    if not (C.flags.f_contiguous and C.flags.writeable):
        raise ValueError(_NOT_A_PLACE)
    if C.shape != (A.shape[1], A.shape[1]) or C.dtype != A.dtype:
        raise ValueError(f"a matrix {C.shape} of {C.dtype} cannot take AᵀA of {A.shape}, {A.dtype}")
    number = _NUMBER[A.dtype.char]
    m, n = ctypes.c_int(A.shape[1]), ctypes.c_int(A.shape[0])
    _function("syrk", A.dtype.char, 10)(
        _ref(ctypes.c_char(triangle)), _ref(ctypes.c_char(b"N")), _ref(m), _ref(n),
        _ref(number(1.0)), A.ctypes.data, _ref(m), _ref(number(keep)), C.ctypes.data, _ref(m),
    )  # fmt: skip


_ref: Callable[[Any], Any] = ctypes.byref


@cache
def _function(name: str, kind: str, n_arguments: int) -> Callable[..., None]:
    """The routine for numbers of a kind; all of its arguments are pointers."""
    full = {"f": "s", "d": "d"}[kind] + name
    module = cython_blas if full in cython_blas.__pyx_capi__ else cython_lapack
    capsule = module.__pyx_capi__[full]
    api = ctypes.pythonapi
    # prototypes of our own: the whole process shares those of ctypes.pythonapi
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    address_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", api)
    )
    address = address_of(capsule, name_of(capsule))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_arguments)(address)


# Columns of a block, and rows from which on a solve is done by matrix products.
_WIDTH, _FEW_ROWS = 48, 16
# LAPACK inverts a triangle of so many columns; of more it takes twice as long as products of
# matrices, as it multiplies by vectors.
_FEW_COLUMNS = 64
# Triangles are copied in tiles of this size.
_TILE = 32


def cholesky_upper(R: np.ndarray) -> np.ndarray:
    """Upper C with R = Cᵀ C, in row order, from the upper triangle of R (m, m).

    Where rounding left R indefinite, a little is added to its diagonal; NaN stay NaN.
    """
    return finished(cholesky_in_steps(R))[0]


def cholesky_in_steps(
    R: np.ndarray, failing: int = 0, least: float = 0.0
) -> Generator[bool, None, tuple[np.ndarray, int]]:
    """As :func:`cholesky_upper`, with the number of failed tries; each yields an unforeseen step.

    The first ``failing`` tries are left out: it is known that they would fail. ``least``: what is
    added to the diagonal first; less than the rounding of R would hardly help.
    """
    jitter = max((1e-7 if R.dtype == np.float32 else 1e-15) * float(np.trace(R)), least)
    for tries in count():
        if tries > failing:
            yield False
        if tries >= failing:
            C = np.zeros(R.shape, R.dtype)
            _copy_upper(R, C)
            if tries:
                C.flat[:: len(R) + 1] += jitter
            if cholesky_lower(C.T) or not np.isfinite(jitter):
                break
        jitter *= 10.0 if tries else 1.0
    return C, tries


def inverse_of_factor(C: np.ndarray) -> np.ndarray:
    """(CᵀC)⁻¹ of an upper C in row order, both triangles, in the precision of C."""
    inverse = C.copy(order="C")
    _invert(inverse.T)
    _mirror(inverse)
    return inverse


def inverse_in_place(A: np.ndarray) -> np.ndarray | None:
    """A⁻¹ in the place of a symmetric A (n, n) in row order, from its upper triangle.

    None where rounding left A indefinite: then it is lost.
    """
    if not cholesky_lower(A.T):
        return None
    _invert(A.T)
    _mirror(A)
    return A


@jit
def _mirror(A):
    """Copy what is above the diagonal to below it, tile by tile.

    Each is copied first: rows of 512 numbers share so few lines of the cache that to read by row
    and write by column takes ten times as long.
    """
    n, tile = len(A), np.empty((_TILE, _TILE), A.dtype)
    for top in range(0, n, _TILE):
        height = min(_TILE, n - top)
        for left in range(0, top, _TILE):
            for j in range(_TILE):
                for i in range(height):
                    tile[j, i] = A[left + j, top + i]
            for i in range(height):
                for j in range(_TILE):
                    A[top + i, left + j] = tile[j, i]
        for i in range(top, top + height):
            for j in range(top, i):
                A[i, j] = A[j, i]


@jit
def _copy_upper(R, C):
    """The upper triangle of R to C, tile by tile: one of them may be in column order."""
    n = len(C)
    for top in range(0, n, _TILE):
        for left in range(top, n, _TILE):
            for i in range(top, min(top + _TILE, n)):
                for j in range(max(left, i), min(left + _TILE, n)):
                    C[i, j] = R[i, j]


def solve_transposed(C: Any, blocks: list[tuple[slice, Any]], U: Any) -> None:
    """U becomes C⁻ᵀ U, with the inverses of C's diagonal blocks; arrays of any one library."""
    for part, inverse in blocks:
        if part.start:
            U[part] -= C[: part.start, part].T @ U[: part.start]
        U[part] = inverse.T @ U[part]


class BlockFactor:
    """Upper C (m, m) with R = Cᵀ C, in row order, and the inverses of its diagonal blocks."""

    def __init__(self, C: np.ndarray) -> None:
        self.C = np.ascontiguousarray(C)
        m = len(C)
        parts = [slice(a, min(a + _WIDTH, m)) for a in range(0, m, _WIDTH)]
        #: places in the diagonal, and the inverses
        self.blocks: list[tuple[slice, np.ndarray]] = [
            (part, dtrtri(C[part, part])[0]) for part in parts
        ]

    def __deepcopy__(self, memo: dict[int, object]) -> BlockFactor:
        # it never changes
        return self

    @classmethod
    def of(cls, R: np.ndarray) -> BlockFactor:
        """The factor of R, by :func:`cholesky_upper`."""
        return cls(cholesky_upper(R))

    def solve(self, B: np.ndarray) -> np.ndarray:
        """R⁻¹ B."""
        return np.asarray(dpotrs(self.C.T, B, lower=1)[0])

    def back(self, B: np.ndarray) -> np.ndarray:
        """C⁻¹ B."""
        if B.shape[1] == 1:
            return np.asarray(dtrsv(self.C.T, B[:, 0], lower=1, trans=1))[:, None]
        return np.asarray(dtrsm(1.0, self.C.T, B, lower=1, trans_a=1))

    def transposed(self, Z: np.ndarray) -> np.ndarray:
        """C⁻ᵀ Zᵀ (m, n) of rows Z (n, m)."""
        if len(Z) == 1:
            # three times as fast as the solver of many
            return np.asarray(dtrsv(self.C.T, Z[0], lower=1))[:, None]
        if len(Z) < _FEW_ROWS:
            return np.ascontiguousarray(dtrsm(1.0, self.C.T, Z.T, lower=1))
        U = np.array(Z.T, order="C")
        solve_transposed(self.C, self.blocks, U)
        return U
