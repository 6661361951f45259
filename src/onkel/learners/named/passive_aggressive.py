"""Budgeted passive-aggressive learners: BPA-S, BPA-P and BPA-NN."""

from __future__ import annotations

from onkel.budgets import BPANearest, BPAProjection, BPASimple
from onkel.learners import shared
from onkel.learners.classification import OnlineClassifier
from onkel.learners.declaration import Row, declared, learner
from onkel.learners.regression import OnlineRegressor
from onkel.learners.representations import OverSupportSet
from onkel.rules import PassiveAggressive

_STEP = "hinge, ε-insensitive", "passive-aggressive"


@declared
class _BPAS(OverSupportSet):
    """Support set × passive-aggressive (PA-I): the new row replaces another."""

    _rows = (Row(
        "bpa-s", "budgeted passive-aggressive, simple", *_STEP, "replace one",
        "Wang & Vucetic 2010", "BPA-S (closed form)",
    ),)  # fmt: skip
    C: float = shared.AGGRESSIVENESS
    budget: int = shared.BUDGET

    _make_rule = shared.by_name(PassiveAggressive)
    _make_budget = shared.by_name(BPASimple)


@learner("gamma=2.0", score="0.96")
class BPASClassifier(_BPAS, OnlineClassifier):
    """Budgeted passive-aggressive: the new row replaces the one that it represents best.

    Not full: ``f ← f + τ c κ(x, ·)``, τ = min(C, loss/(‖c‖² κ(x, x))). Full: the new row replaces
    row r with the weight ``β = α_r κ(s_r, x)/κ(x, x) + τ c``, r where that changes f least.

    Use it to avoid choosing a step size. It replaces neighbours, which keeps the set spread out. It
    follows noise in the labels: lower C there. O(B·d) a row.
    """

    loss: str = shared.HINGE_LOSS


@learner("gamma=2.0", score="0.99")
class BPASRegressor(_BPAS, OnlineRegressor):
    """Budgeted passive-aggressive for regression; see :class:`BPASClassifier`.

    c = sgn(y - f), loss = max(0, \\|y - f\\| - ε).
    """

    loss: str = shared.TUBE_LOSS
    epsilon: float = shared.TUBE


@declared
class _BPAP(OverSupportSet):
    """Support set × passive-aggressive (PA-I): a dropped row is projected onto the others.

    Notes
    -----
    :mod:`onkel.support.exchange.bpa` derives the closed form.
    """

    _rows = (Row(
        "bpa-p", "budgeted passive-aggressive, projecting", *_STEP, "project onto the others",
        "Wang & Vucetic 2010", "BPA-P",
    ),)  # fmt: skip
    C: float = shared.AGGRESSIVENESS
    budget: int = shared.BUDGET

    _make_rule = shared.by_name(PassiveAggressive)
    _make_budget = shared.by_name(BPAProjection)


@learner("gamma=2.0", score="0.96")
class BPAPClassifier(_BPAP, OnlineClassifier):
    """Budgeted passive-aggressive that projects a dropped row onto all other rows.

    Not full: ``f ← f + τ c κ(x, ·)``, τ = min(C, loss/(‖c‖² κ(x, x))). Full: the same step; then
    the row r is dropped whose projection onto the others and the new row loses least,
    ``‖α_r‖²/M_rr`` with M the inverse kernel matrix of all of them:
    ``α_i ← α_i - α_r M_ir/M_rr``.

    Use it where accuracy at a small budget counts more than time: it drops the row that the others
    replace best. O(B·d) a row, O(B²) a row that is added.
    """

    loss: str = shared.HINGE_LOSS


@learner("gamma=2.0", score="0.99")
class BPAPRegressor(_BPAP, OnlineRegressor):
    """Budgeted passive-aggressive, projecting, for regression; see :class:`BPAPClassifier`.

    c = sgn(y - f), loss = max(0, \\|y - f\\| - ε).
    """

    loss: str = shared.TUBE_LOSS
    epsilon: float = shared.TUBE


@declared
class _BPANN(OverSupportSet):
    """Support set × passive-aggressive (PA-I): a dropped row is projected onto its neighbour.

    Notes
    -----
    :mod:`onkel.support.exchange.bpa` derives the closed form.
    """

    _rows = (Row(
        "bpa-nn", "budgeted passive-aggressive, nearest neighbour", *_STEP,
        "project onto the neighbour", "Wang & Vucetic 2010", "BPA-NN",
    ),)  # fmt: skip
    C: float = shared.AGGRESSIVENESS
    budget: int = shared.BUDGET

    _make_rule = shared.by_name(PassiveAggressive)
    _make_budget = shared.by_name(BPANearest)


@learner("gamma=2.0", score="0.96")
class BPANNClassifier(_BPANN, OnlineClassifier):
    """Budgeted passive-aggressive that projects a dropped row onto its nearest neighbour.

    Not full: ``f ← f + τ c κ(x, ·)``, τ = min(C, loss/(‖c‖² κ(x, x))). Full: the same step; then
    one row r is dropped, and its part of f is projected onto the new row and the nearest neighbour
    of r. r is the row that loses least: ‖α_r‖² times its squared distance from the span of the two.

    Use it as a compromise between ``bpa-s``, which keeps less of a dropped row, and ``bpa-p``,
    which keeps more but takes O(B²) where this takes O(B). O(B·d) a row.
    """

    loss: str = shared.HINGE_LOSS


@learner("gamma=2.0", score="0.99")
class BPANNRegressor(_BPANN, OnlineRegressor):
    """Budgeted passive-aggressive, nearest neighbour, for regression; see :class:`BPANNClassifier`.

    c = sgn(y - f), loss = max(0, \\|y - f\\| - ε).
    """

    loss: str = shared.TUBE_LOSS
    epsilon: float = shared.TUBE
