"""The linear row beside every result: passive-aggressive on the same rows in the same orders."""

from __future__ import annotations

from onkel.experiments import lsokl, rrf
from onkel.experiments.entry import Experiment

__all__ = ["EXPERIMENTS"]


def _linear(entry: Experiment) -> Experiment:
    regression = entry.task == "regression"
    return Experiment(
        name=f"linear-{entry.dataset}-pa",
        paper="linear",
        table=0,
        dataset=entry.dataset,
        algorithm="pa",
        task=entry.task,
        parameters={"dtype": "float64"} | ({"epsilon": 0.1} if regression else {}),
        metric=entry.metric,
        n_first=entry.n_first,
        step="default",
    )


_BY_DATASET = {entry.dataset: entry for entry in (*lsokl.EXPERIMENTS, *rrf.EXPERIMENTS)}
EXPERIMENTS: tuple[Experiment, ...] = tuple(map(_linear, _BY_DATASET.values()))
