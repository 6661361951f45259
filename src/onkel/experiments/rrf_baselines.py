"""Nguyen et al. 2017 (RRF), Table 1: the learners that RRF is compared with, on ijcnn1.

Protocol: B = 100, and 400 frequencies for FOGD; width, step and penalty are searched on a random
tenth of the rows, then one pass over all of them in 10 random orders. The grids here are coarser
than the paper's in the width and reach further in the step.
"""

from __future__ import annotations

from typing import Any

from onkel.experiments.entry import Experiment
from onkel.experiments.published import cell

__all__ = ["EXPERIMENTS"]

_ROWS = 141_691
_GAMMAS = (2.0**-8, 2.0**-4, 2.0**-2, 1.0, 2.0**2)
_STEPS = (0.01, 0.05, 0.2, 0.5, 1.0)
#: λ, over the number of rows
_PENALTIES = tuple(2.0**k / _ROWS for k in (-2, 0, 2, 4, 6, 8, 10))
_BOUNDED: dict[str, Any] = {"budget": 100}

# algorithm -> (what the protocol fixes, what the search found)
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
    "nogd": ({**_BOUNDED, "rank": 20}, {"gamma": 0.25, "learning_rate": 0.5}),
    "dualsgd": ({**_BOUNDED, "n_components": 200}, {"gamma": 1.0, "alpha": 2.0**4 / _ROWS}),
}
_GRIDS = {"gamma": _GAMMAS, "learning_rate": _STEPS, "alpha": _PENALTIES}
# the set of stored rows grows to tens of thousands: fewer orders
_FEW_RUNS = {"perceptron": 3, "ogd": 3}
_NOTES = {
    "bogd": "The best step of the grid is so small that the larger class is predicted throughout: "
    "9.57 % of the rows are of the other."
}


def _entry(algorithm: str) -> Experiment:
    fixed, found = _FOUND[algorithm]
    return Experiment(
        name=f"rrf-1-ijcnn1-{algorithm}",
        paper="rrf",
        table=1,
        dataset="ijcnn1",
        algorithm=algorithm,
        task="binary",
        metric="mistakes",
        parameters={**fixed, **found},
        published=cell("rrf", 1, "ijcnn1", algorithm),
        n_runs=_FEW_RUNS.get(algorithm, 10),
        grid={name: _GRIDS[name] for name in found},
        search_share=0.1,
        note=_NOTES.get(algorithm, ""),
    )


EXPERIMENTS: tuple[Experiment, ...] = tuple(map(_entry, _FOUND))
