"""The papers' grids of FOGD, NOGD and RRF on the data of the goals.

Budgets and numbers of frequencies are the papers', too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from onkel.experiments.grids import PENALTIES, RRF_STEPS, STEPS, WIDTHS
from onkel.experiments.own.goals import Goal
from onkel.experiments.search import Point

_WIDTHS = (1 / 128, *WIDTHS)
# budget of NOGD, frequencies of FOGD and of RRF where they are not the family's
_SIZES = {
    "cod-rna": (400, 1600, 100),
    "dna": (200, 800, 100),
    "satimage": (200, 800, 100),
    "usps": (200, 800, 100),
    "poker_sub125k": (400, 1600, 100),
    "airlines_late": (400, 1600, 100),
    "airlines_delay": (1000, 2000, 50),
    "casp": (400, 2000, 100),
}
_SIZE, _SIZE_REGRESSION = (100, 400, 100), (30, 450, 100)


def grid(goal: Goal, rival: str, inputs: str, n_rows: int) -> Iterator[Point]:
    """Parameters of the estimators to try; ``n_rows`` are all rows of the set.

    The papers' features are not normalised: their η is ours divided by D, their λ ours times D.
    """
    default = _SIZE if goal.task == "classification" else _SIZE_REGRESSION
    budget, n_fourier, n_rrf = _SIZES.get(goal.dataset, default)
    dtype = "float64" if inputs == "papers" else "float32"
    shared: Point = {"dtype": dtype}
    if goal.task == "regression" and inputs == "papers" and rival != "rrf":
        shared["epsilon"] = 0.1
    if rival == "rrf":
        yield from _rrf_grid(goal, n_rrf, n_rows, shared)
        return
    for gamma, eta in itertools.product(_WIDTHS, STEPS):
        if rival == "fogd":
            size: Point = {"n_components": n_fourier, "learning_rate": eta * n_fourier}
            if goal.task == "regression":
                size["learning_rate"] = eta
        else:
            size = {"n_components": budget, "rank": budget // 5, "learning_rate": eta}
        yield {**size, "gamma": gamma, **shared}


def _rrf_grid(goal: Goal, n_components: int, n_rows: int, shared: Point) -> Iterator[Point]:
    losses = ("hinge", "logistic") if goal.task == "classification" else ("squared", "absolute")
    for loss, gamma, eta, penalty in itertools.product(losses, WIDTHS, RRF_STEPS, PENALTIES):
        if eta * penalty / n_rows >= 1.0:
            continue  # the weights would change sign with every row
        yield {
            "n_components": n_components,
            "learning_rate": eta * n_components,
            "learning_rate_gamma": eta,
            "alpha": penalty / n_rows / n_components,
            "damping": 0.0,
            "gamma": gamma,
            "loss": loss,
            **shared,
        }
