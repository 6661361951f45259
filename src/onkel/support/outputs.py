"""Outputs at the stored rows and the norm of f, from the kept kernel matrix."""

from __future__ import annotations

from onkel.numerics.jit import jit_inline
from onkel.rules.base import SCALE, SQUARED_NORM
from onkel.support.budget import DIAGONAL


@jit_inline
def _output_at(A, gram, r, k, size):
    """f_k(s_r)/scale from the kept kernel matrix."""
    total = 0.0
    for j in range(size):
        total += A[k, j] * gram[r, j]
    return total


@jit_inline
def shift_outputs(s, size, sign, slots):
    """Subtract slot s from the outputs at the stored rows (sign -1), or add it (+1)."""
    A, gram, outputs = slots.A, slots.gram, slots.outputs
    for k in range(A.shape[0]):
        alpha = sign * A[k, s]
        for j in range(size):
            outputs[k, j] += alpha * gram[s, j]
        if sign > 0.0:
            outputs[k, s] = _output_at(A, gram, s, k, size)


@jit_inline
def refresh_outputs(size, A, gram, outputs):
    """f(s_j)/scale of all slots, from the kernel matrix."""
    for k in range(A.shape[0]):
        for j in range(size):
            outputs[k, j] = _output_at(A, gram, j, k, size)


@jit_inline
def norm_from_gram(size, slots, state):
    """‖f‖² computed anew from the kernel matrix."""
    A, gram = slots.A, slots.gram
    total = 0.0
    for r in range(size):
        for k in range(A.shape[0]):
            if A[k, r] != 0.0:
                total += A[k, r] * _output_at(A, gram, r, k, size)
    state[SQUARED_NORM] = state[SCALE] * state[SCALE] * total


@jit_inline
def norm_without(r, size, k_r, c, cp, slots, state):
    """(‖f - α_r κ_r‖², c·(f - α_r κ_r)(x)), from which the norm's update starts.

    ``k_r`` is κ(s_r, x) and ``cp`` is c·f(x).
    """
    A, scale = slots.A, state[SCALE]
    norm = state[SQUARED_NORM]
    for k in range(A.shape[0]):
        alpha = scale * A[k, r]
        output = scale * _output_at(A, slots.gram, r, k, size)
        norm += alpha * (alpha * slots.info[DIAGONAL, r] - 2.0 * output)
        cp -= c[k] * alpha * k_r
    return norm, cp
