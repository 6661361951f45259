"""Routines of BLAS and LAPACK that release the GIL.

SciPy's wrappers hold the GIL while they compute, so that a second thread gains nothing. These call
the functions that SciPy exports to Cython, through ctypes, which releases it. A call costs some
microseconds more, so they are for large matrices.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import cython_blas, cython_lapack

_NUMBER = {"f": ctypes.c_float, "d": ctypes.c_double}


def add_gram(C: np.ndarray, A: np.ndarray) -> None:
    """Add AᵀA of A (n, m) to the upper triangle of C (m, m), contiguous and of A's type."""
    rows = C.flags.c_contiguous
    _syrk(C.T if rows else C, A, b"L" if rows else b"U", 1.0)


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
    _check(C)
    n, info = ctypes.c_int(len(C)), ctypes.c_int(0)
    potrf = _function("potrf", C.dtype.char, 5)
    potrf(_ref(ctypes.c_char(b"L")), _ref(n), C.ctypes.data, _ref(n), _ref(info))
    return info.value == 0


def _syrk(C: np.ndarray, A: np.ndarray, triangle: bytes, keep: float) -> None:
    """A triangle of C ← AᵀA + keep·C; A's rows are the columns of a matrix in Fortran order."""
    A = np.ascontiguousarray(A)
    _check(C)
    if C.shape != (A.shape[1], A.shape[1]) or C.dtype != A.dtype:
        raise ValueError(f"a matrix {C.shape} of {C.dtype} cannot take AᵀA of {A.shape}, {A.dtype}")
    number = _NUMBER[A.dtype.char]
    m, n = ctypes.c_int(A.shape[1]), ctypes.c_int(A.shape[0])
    _function("syrk", A.dtype.char, 10)(
        _ref(ctypes.c_char(triangle)), _ref(ctypes.c_char(b"N")), _ref(m), _ref(n),
        _ref(number(1.0)), A.ctypes.data, _ref(m), _ref(number(keep)), C.ctypes.data, _ref(m),
    )  # fmt: skip


def _check(C: np.ndarray) -> None:
    if not (C.flags.f_contiguous and C.flags.writeable):
        raise ValueError("the matrix must be writeable and contiguous")


_ref: Callable[[Any], Any] = ctypes.byref


@cache
def _function(name: str, kind: str, n_arguments: int) -> Callable[..., None]:
    """The routine for numbers of a kind; all of its arguments are pointers."""
    full = {"f": "s", "d": "d"}[kind] + name
    module = cython_lapack if name == "potrf" else cython_blas
    capsule = module.__pyx_capi__[full]
    api = ctypes.pythonapi
    # prototypes of our own: the whole process shares those of ctypes.pythonapi
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    address_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", api)
    )
    address = address_of(capsule, name_of(capsule))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_arguments)(address)
