"""The papers' grids of FOGD, NOGD and RRF on the data of the goals.

Steps as in Lu et al. 2016 ({2, ..., 0.0002}; regression: around 0.1), widths and steps as in Nguyen
et al. 2017 (section 4.3), which also has RRF's penalties; budgets and numbers of frequencies are
the papers'.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from onkel.experiments.goals import Goal

_WIDTHS = (1 / 128, *(2.0**k for k in (-8, -4, -2, 0, 2, 4, 8)))
_STEPS = (2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002)
_RRF_WIDTHS = _WIDTHS[1:]
_RRF_STEPS = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
_RRF_PENALTIES = tuple(2.0**k for k in range(-4, 17, 2))
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

Point = dict[str, Any]


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
    for gamma, eta in itertools.product(_WIDTHS, _STEPS):
        if rival == "fogd":
            size: Point = {"n_components": n_fourier, "learning_rate": eta * n_fourier}
            if goal.task == "regression":
                size["learning_rate"] = eta
        else:
            size = {"n_components": budget, "rank": budget // 5, "learning_rate": eta}
        yield {**size, "gamma": gamma, **shared}


def _rrf_grid(goal: Goal, n_components: int, n_rows: int, shared: Point) -> Iterator[Point]:
    losses = ("hinge", "logistic") if goal.task == "classification" else ("squared", "absolute")
    for loss, gamma, eta, penalty in itertools.product(
        losses, _RRF_WIDTHS, _RRF_STEPS, _RRF_PENALTIES
    ):
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
