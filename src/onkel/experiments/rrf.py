"""Nguyen et al. 2017 (RRF), Table 1: reparameterized features, and what they are compared with.

Protocol of the others, on ijcnn1: B = 100, and 400 frequencies for FOGD; width, step and penalty
are searched on a random tenth of the rows, then one pass over all of them in 10 random orders. The
grids here are coarser than the paper's in the width and reach further in the step.
"""

from __future__ import annotations

from typing import Any

from onkel.experiments.entry import Experiment
from onkel.experiments.published import cell

_ROWS = 141_691
_GAMMAS = (2.0**-8, 2.0**-4, 2.0**-2, 1.0, 2.0**2)
_STEPS = (0.01, 0.05, 0.2, 0.5, 1.0)
#: λ, over the number of rows
_PENALTIES = tuple(2.0**k / _ROWS for k in (-2, 0, 2, 4, 6, 8, 10))
_BOUNDED: dict[str, Any] = {"budget": 100}

# Algorithm -> (what the protocol fixes, what the search found)
_FOUND: dict[str, tuple[dict[str, Any], dict[str, float]]] = {
    "perceptron": ({}, {"gamma": 4.0}),
    "ogd": ({}, {"gamma": 4.0, "learning_rate": 1.0}),
    "rbp": (_BOUNDED, {"gamma": 0.25}),
    "forgetron": (_BOUNDED, {"gamma": 0.25}),
    "projectron": ({**_BOUNDED, "eta": 0.0}, {"gamma": 1.0}),
    "projectron++": ({**_BOUNDED, "eta": 0.0}, {"gamma": 0.25}),
    "bpa-s": ({**_BOUNDED, "C": 1.0}, {"gamma": 0.25}),
    "bsgd-m": (_BOUNDED, {"gamma": 4.0, "alpha": 2.0**4 / _ROWS}),
    "bogd": ({**_BOUNDED, "bound": "all"}, {"gamma": 0.25, "learning_rate": 0.01}),
    "fogd": ({"n_components": 400}, {"gamma": 1.0, "learning_rate": 1.0}),
    "nogd": ({"n_components": 100, "rank": 20}, {"gamma": 0.25, "learning_rate": 0.5}),
    "dualsgd": ({**_BOUNDED, "n_components": 200}, {"gamma": 1.0, "alpha": 2.0**4 / _ROWS}),
}
_GRIDS = {"gamma": _GAMMAS, "learning_rate": _STEPS, "alpha": _PENALTIES}
# the set of stored rows grows to tens of thousands: fewer orders
_FEW_RUNS = {"perceptron": 3, "ogd": 3}
_NOTES = {
    "bogd": "The best step of the grid is so small that the larger class is predicted throughout: "
    "9.57 % of the rows are of the other."
}

# the paper's constant steps, log-widths 0 at the start
_IJCNN1 = {
    "gamma": 0.5,
    "learning_rate": 1.0,
    "learning_rate_gamma": 0.01,
    "damping": 0.0,
    "loss": "hinge",
}


def _entry(dataset: str, algorithm: str, suffix: str = "", **more: Any) -> Experiment:
    return Experiment(
        name=f"rrf-1-{dataset}-{algorithm}{suffix}",
        paper="rrf",
        table=1,
        dataset=dataset,
        algorithm=algorithm,
        task="binary",
        metric="mistakes",
        published=None if suffix == "-400" else cell("rrf", 1, dataset, algorithm),
        **more,
    )


def _baseline(algorithm: str) -> Experiment:
    fixed, found = _FOUND[algorithm]
    return _entry(
        "ijcnn1",
        algorithm,
        parameters={**fixed, **found},
        n_runs=_FEW_RUNS.get(algorithm, 10),
        grid={name: _GRIDS[name] for name in found},
        search_share=0.1,
        note=_NOTES.get(algorithm, ""),
    )


# The best of a grid over all rows, on orders that are not reported; the grid is around the best of
# some 3 000 random points (loss, schedule, all steps, gamma, alpha, scaling of the inputs).
_COD_RNA = {
    "gamma": 2.0**-4,
    "learning_rate": 20.0,
    "learning_rate_gamma": 0.032,
    "damping": 10.0,
    "orthogonal": True,
    "schedule": "inverse_sqrt",
    "loss": "hinge",
}
_COD_RNA_GRID = {
    "gamma": (2.0**-5, 2.0**-4),
    "learning_rate": (5.0, 10.0, 20.0, 40.0),
    "learning_rate_gamma": (0.032, 0.064, 0.128),
    "damping": (10.0, 100.0),
}
_COD_RNA_NOTE = (
    "59 535 of the paper's 331 152 rows, already standardised; a short stream pays more for its "
    "first rows. With the paper's search (a random 10 % of the rows: gamma = 1/32, η = 10, "
    "η_γ = 0.064) 5.69 ± 0.05 on these orders and 5.71 on others. Independent noise in place of "
    "orthogonal costs 0.03 to 0.05. Tried without gain: constant steps of weights and widths as "
    "in the paper (6.0 at best), of the widths alone (5.80), 1/(αt) steps, the logistic (5.84) and "
    "the squared hinge loss (5.87), an L2 penalty, inputs clipped, in [-1, 1], or asinh of them "
    "(5.9 and up). Fixed widths (η_γ = 0) give 5.99 ± 0.15."
)


def _cod_rna(n_components: int, suffix: str, note: str) -> Experiment:
    return _entry(
        "cod-rna",
        "rrf",
        suffix,
        parameters={"n_components": n_components, **_COD_RNA},
        limit=5.7,
        grid=_COD_RNA_GRID,
        note=note,
    )


EXPERIMENTS: tuple[Experiment, ...] = (
    *map(_baseline, _FOUND),
    _entry(
        "ijcnn1",
        "rrf",
        parameters={"n_components": 100, **_IJCNN1},
        limit=3.7,
        step="prior",
        note="Hinge loss, inputs as they are, all log-widths 0 at the start, constant steps as in "
        "the paper. Fixed widths (η_γ = 0) give 4.73 ± 0.30, damped steps (N = 10 000) 3.14.",
    ),
    _entry(
        "ijcnn1",
        "rrf",
        "-400",
        parameters={"n_components": 400, **_IJCNN1},
        step="prior",
        note="As before with D = 400, which the paper doesn't print. Fixed widths give "
        "3.48 ± 0.12, damped steps 2.26.",
    ),
    _cod_rna(100, "", _COD_RNA_NOTE),
    _cod_rna(
        200,
        "-200",
        "As before with D = 200: the average over more frequencies takes most of the spread away.",
    ),
)
