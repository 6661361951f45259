"""Runs of one learner taken together: mean and spread over permutations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from onkel.evaluation.curves import by_name, sample_std
from onkel.evaluation.metrics import Metric
from onkel.evaluation.result import PrequentialResult


@dataclass(frozen=True)
class Summary:
    """One line of a comparison.

    Attributes
    ----------
    name : str
        Learner.
    metric : Metric
        Main metric of the task.
    mean, std : float
        Of the metric over the runs; the sample standard deviation (n - 1), 0 for a single run.
    runs, n_rows : int
        Number of runs, and rows of a run.
    rows_per_second, learn_seconds, seconds : float
        Medians over the runs. The first two count learning time only.
    model_bytes : int
        Largest over the runs.
    """

    name: str
    metric: Metric
    mean: float
    std: float
    runs: int
    n_rows: int
    rows_per_second: float
    learn_seconds: float
    seconds: float
    model_bytes: int

    @property
    def score(self) -> str:
        """Mean ± std as text."""
        mean = self.metric.format(self.mean)
        if self.runs == 1:
            return mean
        number, _, unit = mean.partition(" ")
        spread = f"{self.std:.2f}" if self.metric.unit == "%" else f"{self.std:.2g}"
        return f"{number} ± {spread}{' ' + unit if unit else ''}"


def summarize(results: Sequence[PrequentialResult]) -> list[Summary]:
    """One `Summary` per name, in the order of first appearance, not sorted by score."""
    return [_summary(name, runs) for name, runs in by_name(results).items()]


def best(summaries: Sequence[Summary]) -> set[str]:
    """Names of the best mean, and of every learner within its standard deviation of it.

    Empty for fewer than two learners, as then nothing was compared.
    """
    if len(summaries) < 2:
        return set()
    sign = 1.0 if summaries[0].metric.lower_is_better else -1.0
    top = min(summaries, key=lambda s: sign * s.mean)
    return {s.name for s in summaries if sign * (s.mean - top.mean) <= top.std}


def _summary(name: str, runs: list[PrequentialResult]) -> Summary:
    values = [run.value for run in runs]
    return Summary(
        name=name,
        metric=runs[0].metric,
        mean=fmean(values),
        std=sample_std(values),
        runs=len(runs),
        n_rows=runs[-1].n_rows,
        rows_per_second=median(run.rows_per_second for run in runs),
        learn_seconds=median(run.final.learn_seconds for run in runs),
        seconds=median(run.final.seconds for run in runs),
        model_bytes=max(run.final.model_bytes for run in runs),
    )
