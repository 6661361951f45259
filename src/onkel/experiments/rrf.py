"""Nguyen et al. 2017 (RRF), Table 1: reparameterized features with few frequencies."""

from __future__ import annotations

from typing import Any

from onkel.experiments.entry import Experiment
from onkel.experiments.published import cell

__all__ = ["EXPERIMENTS"]

# the paper's constant steps, log-widths 0 at the start
_IJCNN1 = {
    "gamma": 0.5,
    "learning_rate": 1.0,
    "learning_rate_gamma": 0.01,
    "damping": 0.0,
    "loss": "hinge",
}


def _entry(dataset: str, suffix: str = "", **more: Any) -> Experiment:
    return Experiment(
        name=f"rrf-1-{dataset}-rrf{suffix}",
        paper="rrf",
        table=1,
        dataset=dataset,
        algorithm="rrf",
        task="binary",
        metric="mistakes",
        **more,
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
        suffix,
        parameters={"n_components": n_components, **_COD_RNA},
        published=cell("rrf", 1, "cod-rna", "rrf"),
        limit=5.7,
        grid=_COD_RNA_GRID,
        note=note,
    )


EXPERIMENTS: tuple[Experiment, ...] = (
    _entry(
        "ijcnn1",
        parameters={"n_components": 100, **_IJCNN1},
        published=cell("rrf", 1, "ijcnn1", "rrf"),
        limit=3.7,
        step="prior",
        note="Hinge loss, inputs as they are, all log-widths 0 at the start, constant steps as in "
        "the paper. Fixed widths (η_γ = 0) give 4.73 ± 0.30, damped steps (N = 10 000) 3.14.",
    ),
    _entry(
        "ijcnn1",
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
