"""Nguyen et al. 2017 (RRF), Table 1: reparameterized features with few frequencies."""

from __future__ import annotations

from typing import Any

from onkel.experiments.entry import Experiment
from onkel.experiments.published import cell

__all__ = ["EXPERIMENTS"]

_IJCNN1 = {"gamma": 0.5, "learning_rate": 1.0, "learning_rate_gamma": 0.01, "loss": "hinge"}


def _entry(dataset: str, n_components: int, suffix: str = "", **more: Any) -> Experiment:
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


EXPERIMENTS: tuple[Experiment, ...] = (
    _entry(
        "ijcnn1",
        100,
        parameters={"n_components": 100, **_IJCNN1},
        published=cell("rrf", 1, "ijcnn1", "rrf"),
        limit=3.7,
        step="issue",
        note="D = 100, hinge loss, inputs as they are, all log-widths 0 at the start.",
    ),
    _entry(
        "ijcnn1",
        400,
        "-400",
        parameters={"n_components": 400, **_IJCNN1},
        step="issue",
        note="As before with D = 400, which the paper doesn't print; fixed widths (η_γ = 0) give "
        "about one mistake in a hundred more.",
    ),
    _entry(
        "cod-rna",
        100,
        parameters={
            "n_components": 100,
            "gamma": 0.0625,
            "learning_rate": 20.0,
            "learning_rate_gamma": 0.003,
            "schedule": "inverse_sqrt",
        },
        published=cell("rrf", 1, "cod-rna", "rrf"),
        limit=5.7,
        step="search",
    ),
)
