"""Nguyen et al. 2017 (RRF), Table 1: reparameterized features with few frequencies."""

from __future__ import annotations

from typing import Any

from onkel.experiments.entry import Experiment
from onkel.experiments.published import cell

__all__ = ["EXPERIMENTS"]

_IJCNN1 = {"gamma": 0.5, "learning_rate": 1.0, "learning_rate_gamma": 0.01, "loss": "hinge"}


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


# Searched on orders of their own over all rows; the grid is around the best of some 3 000 random
# points (loss, schedule, all steps, gamma, alpha, transformations of the inputs).
_COD_RNA = {
    "gamma": 2.0**-4,
    "learning_rate": 20.0,
    "learning_rate_gamma": 0.002,
    "schedule": "inverse_sqrt",
    "loss": "hinge",
}
_COD_RNA_GRID = {
    "gamma": (2.0**-6, 2.0**-5, 2.0**-4, 2.0**-3),
    "learning_rate": (5.0, 10.0, 20.0, 40.0),
    "learning_rate_gamma": (0.0005, 0.001, 0.002, 0.005),
}
_COD_RNA_NOTE = (
    "59 535 of the paper's 331 152 rows, already standardised; a short stream pays more for its "
    "first rows (about 7.7 % on the first tenth, 5.2 % on the last). Not within the limit, by one "
    "standard deviation of a run. Steps were searched on five orders of their own over all rows; "
    "searched on a random 10 %, as in the paper, they would be gamma = 1/32, η = 10, η_γ = 0.005 "
    "and the result 5.88 ± 0.07. Tried without gain: constant (6.0 at best) and 1/(αt) steps, the "
    "logistic (5.84) and the squared hinge loss (5.87), an L2 penalty, a step of the widths that "
    "falls as 1/√t (about 0.04 lower), inputs clipped, to [-1, 1], or asinh of them (5.9 and up). "
    "Fixed widths (η_γ = 0) give 5.99 ± 0.15. What helps: more frequencies (next row), orthogonal "
    "noise (5.75), AdaGrad on the weights (5.72), both (5.70)."
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
        step="issue",
        note="D = 100, hinge loss, inputs as they are, all log-widths 0 at the start.",
    ),
    _entry(
        "ijcnn1",
        "-400",
        parameters={"n_components": 400, **_IJCNN1},
        step="issue",
        note="As before with D = 400, which the paper doesn't print; fixed widths (η_γ = 0) give "
        "about one mistake in a hundred more.",
    ),
    _cod_rna(100, "", _COD_RNA_NOTE),
    _cod_rna(
        200,
        "-200",
        "As before with D = 200: the average over more frequencies takes most of the spread away.",
    ),
)
