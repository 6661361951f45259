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


# Searched on a random 10 % of the rows, as in the paper, on 20 orders. The grid is around the best
# of some 3 000 random points (loss, schedule, all steps, gamma, alpha, scaling of the inputs).
_COD_RNA = {
    "gamma": 2.0**-5,
    "learning_rate": 10.0,
    "learning_rate_gamma": 0.064,
    "damping": 10.0,
    "schedule": "inverse_sqrt",
    "loss": "hinge",
}
_COD_RNA_GRID = {
    "gamma": (2.0**-6, 2.0**-5, 2.0**-4, 2.0**-3),
    "learning_rate": (5.0, 10.0, 20.0, 40.0),
    "learning_rate_gamma": (0.008, 0.016, 0.032, 0.064),
    "damping": (10.0, 100.0, 1000.0),
}
_COD_RNA_NOTE = (
    "59 535 of the paper's 331 152 rows, already standardised; a short stream pays more for its "
    "first rows. Not within the limit, by less than one standard deviation of a run. Steps were "
    "searched on a random 10 %, as in the paper; searched on all rows (other orders than these) "
    "they would be gamma = 1/16, η = 20, η_γ = 0.032 and the result 5.72 ± 0.10. Tried without "
    "gain: constant steps of weights and widths as in the paper (6.0 at best), of the widths alone "
    "(5.80), 1/(αt) steps, the logistic (5.84) and the squared hinge loss (5.87), an L2 penalty, "
    "inputs clipped, in [-1, 1], or asinh of them (5.9 and up). Fixed widths (η_γ = 0) give "
    "5.99 ± 0.15. What helps: more frequencies (next row); orthogonal noise, which the map doesn't "
    "offer (5.69 ± 0.05 at these settings); a little, AdaGrad on the weights."
)


def _cod_rna(n_components: int, suffix: str, note: str) -> Experiment:
    return _entry(
        "cod-rna",
        suffix,
        parameters={"n_components": n_components, **_COD_RNA},
        published=cell("rrf", 1, "cod-rna", "rrf"),
        limit=5.7,
        grid=_COD_RNA_GRID,
        search_share=0.1,
        note=note,
    )


EXPERIMENTS: tuple[Experiment, ...] = (
    _entry(
        "ijcnn1",
        parameters={"n_components": 100, **_IJCNN1},
        published=cell("rrf", 1, "ijcnn1", "rrf"),
        limit=3.7,
        step="issue",
        note="Hinge loss, inputs as they are, all log-widths 0 at the start, constant steps as in "
        "the paper. Fixed widths (η_γ = 0) give 4.73 ± 0.30, damped steps (N = 10 000) 3.14.",
    ),
    _entry(
        "ijcnn1",
        "-400",
        parameters={"n_components": 400, **_IJCNN1},
        step="issue",
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
