"""The loop of transfer: rows that leave the support set become part of a weight vector W."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from onkel.numerics.jit import axpy, dot, jit, jit_inline, sincos_turns
from onkel.rules.base import SCALE
from onkel.support.moving import move_of, scale_by
from onkel.support.removal.smallest import smallest_slot
from onkel.support.slots import CHANGED, REMOVED, SIZE, catch_up, place, score


class Carried(NamedTuple):
    """The part of f over random features, and how features come from a row."""

    W: np.ndarray  # (K, 2D) weights, over the same scale as the coefficients
    Z: np.ndarray  # (n, 2D) features of the rows of a sub-block
    turns: np.ndarray  # (d, D) frequencies in turns


@jit
def _features_of(S, s, turns, angles, z):
    """z (1, 2D) ← z(s) of stored row s; ``angles`` (1, D) is scratch."""
    D = turns.shape[1]
    angles[0, :] = 0.0
    for i in range(S.shape[1]):
        if S[s, i] != 0.0:
            axpy(S[s, i], turns, i, angles, 0)
    sincos_turns(angles[0], 1.0 / math.sqrt(D), z[0, :D], z[0, D:])


@jit_inline
def _fill(s, last, slots, S):
    """Slot s ← slot ``last``, noted as a change."""
    A, info, changes = slots.A, slots.info, slots.changes
    for j in range(A.shape[0]):
        A[j, s] = A[j, last]
    for i in range(info.shape[0]):
        info[i, s] = info[i, last]
    for i in range(S.shape[1]):
        S[s, i] = S[last, i]
    i = slots.counts[CHANGED]
    changes[0, i], changes[1, i] = s, last
    slots.counts[CHANGED] += 1


@jit
def _carry_over(k, slots, S, carried):
    """The k lightest rows leave the support set for W; the last slots move into theirs."""
    A, counts, W, turns = slots.A, slots.counts, carried.W, carried.turns
    angles, z = np.empty((1, turns.shape[1]), W.dtype), np.empty((1, W.shape[1]), W.dtype)
    work = np.empty((1, A.shape[1]))
    for _ in range(k):
        s = smallest_slot(A, slots.info, counts[SIZE], work)
        _features_of(S, s, turns, angles, z)
        for j in range(A.shape[0]):
            axpy(A[j, s], z, 0, W, j)
        counts[SIZE] -= 1
        counts[REMOVED] += 1
        if s < counts[SIZE]:
            _fill(s, counts[SIZE], slots, S)


@jit_inline
def _score(t, rows, slots, carried, state):
    score(rows.panel, t, slots.A, slots.counts[SIZE], state, rows.P, t)
    for j in range(rows.P.shape[1]):
        rows.P[t, j] += state[SCALE] * dot(carried.W, j, carried.Z, t)


@jit
def learn_transfer(rows, X, S, slots, carried, limits, k, context):
    """Learn the rows X (n, d) of one sub-block; a full set gives up k rows at once."""
    K, state = rows.P.shape[1], context.state
    c, new = np.empty(K), np.empty(K)
    slots.counts[CHANGED] = 0
    for t in range(rows.P.shape[0]):
        catch_up(rows.panel, t, slots)
        _score(t, rows, slots, carried, state)
        move = move_of(context, rows, t, c)
        # W is scaled along with A: it is passed in place of the outputs at stored rows
        scale_by(slots.A, carried.W, move.a, state)
        if move.b > 0.0:
            if slots.counts[SIZE] == limits.size:
                _carry_over(k, slots, S, carried)
            for j in range(K):
                new[j] = move.b * c[j]
            s = slots.counts[SIZE]
            place(s, rows, t, new, slots, state)
            for i in range(S.shape[1]):
                S[s, i] = X[t, i]
