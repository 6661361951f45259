"""The shared arithmetic of the hot loops against NumPy in double precision."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.maps.fourier import sincos_block
from onkel.numerics.jit import axpy, dot, first_least, jit
from onkel.numerics.pairwise import exp2, gaussian_block
from onkel.numerics.threads import scratch


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 8e-7), ("float64", 2e-15)])
@pytest.mark.parametrize("span", [0.5, 3.0, 1000.0])
def test_sincos_error_is_below_what_is_stated(dtype, tolerance, span):
    rng = np.random.default_rng(0)
    turns = rng.uniform(-span, span, (20, 50)).astype(dtype)
    turns[0, :5] = [0.0, 0.25, 0.5, -0.5, 0.75]
    Z = np.empty((20, 100), dtype)
    sincos_block(turns, 1.0, Z)
    # the fraction of a turn is exact, so the reference has no error of a large angle
    exact = 2.0 * np.pi * (turns.astype(np.longdouble) % 1)
    expected = np.concatenate([np.cos(exact), np.sin(exact)], axis=1)
    assert np.abs(Z - expected).max() < tolerance


def test_sincos_scale():
    turns = np.full((1, 3), 0.125)
    Z = np.empty((1, 6))
    sincos_block(turns, 2.0, Z)
    np.testing.assert_allclose(Z, np.sqrt(2.0))


def test_dot_and_axpy_work_on_rows():
    rng = np.random.default_rng(1)
    U, V = rng.standard_normal((3, 17)), rng.standard_normal((4, 17))
    assert dot(U, 1, V, 2) == pytest.approx(U[1] @ V[2])
    expected = V.copy()
    expected[3] += 0.5 * U[2]
    axpy(0.5, U, 2, V, 3)
    np.testing.assert_allclose(V, expected)


def test_scratch_is_reused_and_grows():
    a = scratch("test", (4, 5), np.float32)
    b = scratch("test", (2, 3), np.float32)
    assert np.shares_memory(a, b)
    assert scratch("test", (400, 50), np.float64).shape == (400, 50)


@jit
def _powers(u, out):
    for i in range(len(u)):
        out[i] = exp2(u[i])


def test_powers_of_two():
    u = np.concatenate([-np.geomspace(1e-7, 125.9, 2000), [0.0, -1.0, -0.5, -126.0]])
    u = u.astype(np.float32)
    out = np.empty_like(u)
    _powers(u, out)
    np.testing.assert_allclose(out, np.exp2(u.astype(np.float64)), rtol=2e-7)
    out = np.empty(3, np.float32)
    _powers(np.array([-127.0, -1e30, 1e-6], np.float32), out)
    np.testing.assert_array_equal(out, [0.0, 0.0, 1.0])


def test_gaussian_block_far_from_the_origin():
    rng = np.random.default_rng(2)
    X, S = (rng.standard_normal((n, 22)).astype(np.float32) + 100 for n in (37, 53))
    squared = ((X.astype(float)[:, None] - S.astype(float)) ** 2).sum(axis=-1)
    np.testing.assert_allclose(gaussian_block(X, S, 0.05), np.exp(-0.05 * squared), rtol=1e-5)


@pytest.mark.parametrize("size", [1, 7, 64, 203])
def test_first_least_is_argmin(size):
    rng = np.random.default_rng(size)
    U = rng.integers(0, 1 + size // 3, (3, 210)) / 7.0
    assert first_least(U, 1, size) == U[1, :size].argmin()
    U[1, 0] = np.inf
    assert first_least(U, 1, size) == U[1, :size].argmin()
