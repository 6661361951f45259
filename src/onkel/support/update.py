"""The update of f after a row, in all loops over a support set: the rule's step, scale and ball."""

from __future__ import annotations

import math
from typing import NamedTuple

from onkel.model.common_factor import folds, rescale
from onkel.numerics.jit import jit_inline
from onkel.rules.base import ALPHA, PENDING, RADIUS, SCALE, SQUARED_NORM, T
from onkel.rules.dispatch import direction_sums, judge, step


class Update(NamedTuple):
    """f ← a f + b c κ(x, ·); b is 0 where f does not move along c."""

    a: float
    b: float
    c2: float  # ‖c‖²
    cp: float  # c·f(x), before the update


@jit_inline
def update_of(context, rows, t, c):
    """The :class:`Update` of row t, whose scores are known; writes c = -∂loss/∂p (K,)."""
    weight, state = rows.weight[t], context.state
    if weight == 0.0:
        return Update(1.0, 0.0, 0.0, 0.0)
    state[T] += 1.0
    q = rows.q[t]
    value = judge(context, rows.P, t, rows.y[t], q, c)
    c2, cp = direction_sums(c, rows.P, t)
    if c2 == 0.0 and context.par[ALPHA] == 0.0:
        return Update(1.0, 0.0, 0.0, 0.0)
    a, b = step(context, weight, value, c2, q)
    return Update(a, b if c2 > 0.0 else 0.0, c2, cp)


@jit_inline
def scale_by(A, outputs, a, state):
    """f ← a f; its norm and its outputs at the stored rows follow."""
    if a != 1.0:
        scale = state[SCALE] * a
        rescale(A, a, state)
        state[SQUARED_NORM] *= a * a
        if state[SCALE] != scale:
            # ``rescale`` multiplied the scale into A: do the same to the outputs
            for k in range(outputs.shape[0]):
                for j in range(outputs.shape[1]):
                    outputs[k, j] *= scale


@jit_inline
def add_to_totals(slots, a, state):
    """Before f ← a f: where that multiplies the common factor into A, bring the sums up to date."""
    if slots.since.shape[0] > 0 and folds(a, state):
        for j in range(slots.since.shape[0]):
            for k in range(slots.A.shape[0]):
                slots.total[k, j] += (state[PENDING] - slots.since[j]) * slots.A[k, j]
            slots.since[j] = 0.0
        state[PENDING] = 0.0


@jit_inline
def onto_ball(slots, context):
    """Project f onto the rule's ball, where it has one."""
    state, radius = context.state, context.par[RADIUS]
    if radius > 0.0 and state[SQUARED_NORM] > radius * radius:
        a = radius / math.sqrt(state[SQUARED_NORM])
        add_to_totals(slots, a, state)
        scale_by(slots.A, slots.outputs, a, state)
        state[SQUARED_NORM] = radius * radius
