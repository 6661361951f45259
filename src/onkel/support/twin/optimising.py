"""The SVM over the prototypes of the twin vector machine.

Prototype j stands for rows at s_j, of total weight ``mass[c, j]`` in each class c. Output k
is the SVM of class k against the rest (of +1 against -1 where K = 1) over these rows,

    max Σ_j (α⁺_j + α⁻_j) - ½ βᵀκ(S, S)β,  β = α⁺ - α⁻,  0 ≤ α^±_j ≤ C·(weight of that side at s_j),

solved by steps along the coordinate that moves most, starting from the solution for the last row.
``outputs`` holds f(s_j).
"""

from __future__ import annotations

from onkel.numerics.jit import jit, jit_inline


@jit_inline
def _bounds(mass, k, j, K, C):
    """The largest α⁺ and α⁻ of output k at prototype j."""
    if K == 1:
        return C * mass[1, j], C * mass[0, j]
    rest = 0.0
    for c in range(K):
        if c != k:
            rest += mass[c, j]
    return C * mass[k, j], C * rest


@jit
def optimise(size, par, twins):
    """Steps along the coordinate that moves most, until none moves by more than ``tol``."""
    plus, minus, mass, outputs = twins.plus, twins.minus, twins.mass, twins.outputs
    K, C = plus.shape[0], par.C
    for _ in range(par.max_steps):
        best, at_k, at_j, positive = par.tol, -1, -1, True
        for k in range(K):
            for j in range(size):
                high, low = _bounds(mass, k, j, K, C)
                up = min(max(plus[k, j] + 1.0 - outputs[k, j], 0.0), high) - plus[k, j]
                down = min(max(minus[k, j] + 1.0 + outputs[k, j], 0.0), low) - minus[k, j]
                if abs(up) > best:
                    best, at_k, at_j, positive = abs(up), k, j, True
                if abs(down) > best:
                    best, at_k, at_j, positive = abs(down), k, j, False
        if at_j < 0:
            break
        high, low = _bounds(mass, at_k, at_j, K, C)
        k, j = at_k, at_j
        before = plus[k, j] - minus[k, j]
        if positive:
            plus[k, j] = min(max(plus[k, j] + 1.0 - outputs[k, j], 0.0), high)
        else:
            minus[k, j] = min(max(minus[k, j] + 1.0 + outputs[k, j], 0.0), low)
        twins.A[k, j] = plus[k, j] - minus[k, j]
        move = plus[k, j] - minus[k, j] - before
        for i in range(size):
            outputs[k, i] += move * twins.gram[j, i]
