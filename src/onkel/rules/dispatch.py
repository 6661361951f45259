"""How a compiled loop calls a rule by its number: to judge a row, and to step."""

from __future__ import annotations

from onkel.losses import Loss, evaluate_by_margin
from onkel.numerics.calling import FIRST_ADDRESS, call_rule
from onkel.numerics.jit import jit_inline
from onkel.rules.base import RuleKind, T
from onkel.rules.doubly_stochastic import doubly_step
from onkel.rules.gradient import gradient_step
from onkel.rules.norma import TUBE, adapt_tube
from onkel.rules.passive_aggressive import passive_aggressive_step


@jit_inline
def judge(context, P, t, y, q, c):
    """Loss of the scores in row t of P (n, K) for label y; writes c = -∂loss/∂p (K,).

    ``q`` is κ(x, x). A rule with its own tube or margin uses that.
    """
    rule, par, state, loss = context.rule, context.par, context.state, context.loss
    margin, epsilon = 1.0, context.epsilon
    if rule == RuleKind.NORMA:
        if loss <= Loss.PERCEPTRON:
            margin = state[TUBE]
        else:
            epsilon = state[TUBE]
    elif rule >= FIRST_ADDRESS and loss <= Loss.PERCEPTRON:
        norm = q if P.shape[1] == 1 else 2.0 * q
        margin, _ = call_rule(rule, 0, par, state, 0.0, 0.0, norm)
    value = evaluate_by_margin(loss, P, t, y, epsilon, margin, c)
    if rule == RuleKind.NORMA:
        adapt_tube(par, state, loss, value, c)
    return value


@jit_inline
def direction_sums(c, P, t):
    """(‖c‖², c·p) of row t."""
    c2 = 0.0
    cp = 0.0
    for k in range(c.shape[0]):
        c2 += c[k] * c[k]
        cp += c[k] * P[t, k]
    return c2, cp


@jit_inline
def step(context, weight, value, c2, q):
    """(a, b) of f ← a f + b c κ(x, ·) after a row of this weight.

    ``value`` is its loss, ``c2`` is ‖c‖² and ``q`` is κ(x, x).
    """
    rule, par, state = context.rule, context.par, context.state
    if rule == RuleKind.GRADIENT or rule == RuleKind.NORMA:
        return gradient_step(par, state[T], weight)
    if rule == RuleKind.PASSIVE_AGGRESSIVE:
        return passive_aggressive_step(par, weight, value, c2, q)
    if rule == RuleKind.DOUBLY_STOCHASTIC:
        return doubly_step(par, state[T], weight)
    if rule >= FIRST_ADDRESS:
        return call_rule(rule, 1, par, state, weight, value, c2 * q)
    # not a ValueError: undoing would take it for a row that cannot be learned
    raise NotImplementedError("unknown rule: rules/dispatch.py has no step for its number")
