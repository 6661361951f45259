"""The common factor of the coefficients, so that ``f ← a·f`` costs one multiplication."""

from __future__ import annotations

from onkel.numerics.jit import jit_inline
from onkel.rules.base import SCALE

# Outside this range W is multiplied by the factor, long before W / factor could overflow float32.
_SMALLEST_SCALE, _LARGEST_SCALE = 1e-6, 1e6


@jit_inline
def folds(a, state):
    """Whether ``rescale`` by a would multiply the common factor into the coefficients."""
    scale = state[SCALE] * a
    return scale < _SMALLEST_SCALE or scale > _LARGEST_SCALE


@jit_inline
def rescale(W, a, state):
    """f ← a·f."""
    scale = state[SCALE] * a
    if folds(a, state):
        factor = W.dtype.type(scale)
        for k in range(W.shape[0]):
            for j in range(W.shape[1]):
                W[k, j] *= factor
        scale = 1.0
    state[SCALE] = scale
