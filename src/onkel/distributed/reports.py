"""Results of each partition, and of all of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from onkel.metrics import METRICS
from onkel.pipeline import StreamModel


@dataclass(frozen=True)
class PartReport:
    """The result of a partition."""

    #: file, part of a file, or number of the partition; "sample" for the sample
    name: str
    #: rows learned, or predicted
    n_rows: int
    #: by metric, the sum over its rows; in learning, each row is predicted before it is learned, by
    #: the copy of the model that learns it
    sums: dict[str, float]
    #: of reading and learning, or predicting
    seconds: float
    #: why the partition was left out
    error: Exception | None = None
    #: rows scored where these are not all: the sample's first row comes before any label, and
    #: rows that are predicted may have no target
    n_scored: int | None = None

    @property
    def failure(self) -> str | None:
        """Why the partition was left out, in words."""
        return None if self.error is None else str(self.error)

    @property
    def scored(self) -> int:
        """Rows scored."""
        return self.n_rows if self.n_scored is None else self.n_scored

    @property
    def metrics(self) -> dict[str, float]:
        """The value of each metric."""
        return _finished(self.sums, self.scored)


class _OfParts:
    """The results of all partitions together."""

    reports: list[PartReport]

    @property
    def n_rows(self) -> int:
        """Rows learned, or predicted."""
        return sum(report.n_rows for report in self.reports)

    @property
    def metrics(self) -> dict[str, float]:
        """The value of each metric over the rows with targets; see :class:`PartReport`."""
        scored = [report for report in self.reports if report.sums]
        names = scored[0].sums if scored else {}
        sums = {name: sum(report.sums[name] for report in scored) for name in names}
        return _finished(sums, sum(report.scored for report in scored))


@dataclass(frozen=True)
class Learned(_OfParts):
    """The result of `learn`."""

    #: the model of all rows; its map is fixed
    model: StreamModel
    #: the sample first, then the partitions in their order
    reports: list[PartReport]
    #: by stage: "sample", "parts" and "merge" are summed over the workers, "in all" is elapsed time
    seconds: dict[str, float] = field(default_factory=dict)
    #: of models sent: in each round those to merge, and their common start to each worker
    moved_bytes: int = 0

    @property
    def left_out(self) -> list[PartReport]:
        """The partitions that were left out, with the reasons."""
        return [report for report in self.reports if report.failure is not None]


@dataclass(frozen=True)
class Predicted(_OfParts):
    """The result of `predict`: the files it wrote, and a report of each partition."""

    files: list[str]
    reports: list[PartReport]


def _finished(sums: dict[str, float], rows: int) -> dict[str, float]:
    if not rows:
        return {}
    return {name: METRICS[name].finish(total / rows) for name, total in sums.items()}
