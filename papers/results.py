"""Results of runs: values, their mean and spread, and how they compare with what was printed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from papers.cases import Case

#: the most of our deviation that counts, as a share of the printed value: a learner that diverges
#: in some orders must not agree with everything
_MOST_SPREAD = 0.05


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Values of several runs of one learner on one data set.

    Attributes
    ----------
    n_rows : int
    values : tuple of float
        The metric of every run.
    seconds : tuple of float
        Time of every run, predicting and learning.
    """

    n_rows: int
    values: tuple[float, ...]
    seconds: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over the runs; NaN without one."""
        return float(np.mean(self.values)) if self.values else float("nan")

    @property
    def std(self) -> float:
        """Sample standard deviation over the runs; 0 for one run, NaN if one is not finite."""
        if not math.isfinite(self.mean):
            return math.nan
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else 0.0


@dataclass(frozen=True, kw_only=True)
class Result(Measured):
    """The result of a case.

    Attributes
    ----------
    case : Case
        With the settings that were run, including those found by a search.
    comparable : bool
        Whether rows and protocol are the paper's.
    missing : str
        What is not on this machine, and where to get it; then nothing was run.
    failures : tuple of str
        What went wrong, for every run that failed.
    test_seconds : tuple of float
    curve : tuple of three arrays or None
        Places, mean values and mean seconds there.
    """

    case: Case
    comparable: bool = True
    missing: str = ""
    failures: tuple[str, ...] = ()
    test_seconds: tuple[float, ...] = ()
    curve: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    @property
    def verdict(self) -> str:
        """In words: how it compares with the published value, or with the limit set instead.

        "met": within two of the paper's standard deviations (where it prints none, of ours, which
        count up to 5 % of the printed value); "better": beyond that; "not met": on the wrong side
        of it. "loss differs": the paper learned with another loss. Where the rows differ: "within
        5.7", "over 5.7" if a limit is set, else "rows differ". "reference": nothing to compare
        with. "no data", "failed": there is no value.
        """
        if self.missing or not self.values:
            return "no data" if self.missing else "failed"
        cell, limit = self.case.published, self.case.limit
        if cell is not None and cell.loss and cell.loss != self.case.loss:
            return "loss differs"
        if cell is not None and self.comparable:
            own = min(self.std, _MOST_SPREAD * abs(cell.value))
            return self._against(cell.value, own if cell.std is None else cell.std)
        if limit is not None:
            return f"within {limit:g}" if self.mean <= limit else f"over {limit:g}"
        return "reference" if cell is None else "rows differ"

    @property
    def if_cut(self) -> str:
        """The verdict if the printed digits were cut and not rounded: the most they stand for.

        The authors' programs print 29.580 and .362 where Lu et al. have 29.5 and .3. A share of
        mistakes is then larger than printed, and so is an accuracy, which excuses nothing.
        """
        cell = self.case.published
        if cell is None or not cell.std:
            return self.verdict
        up = 0.0 if self.case.more_is_better else cell.unit
        most = replace(cell, value=cell.value + up, std=cell.std + cell.unit)
        return replace(self, case=replace(self.case, published=most)).verdict

    def _against(self, value: float, std: float) -> str:
        worse = value - self.mean if self.case.more_is_better else self.mean - value
        if worse > 2 * std or not np.isfinite(self.mean):
            return "not met"
        return "met" if worse >= -2 * std else "better"

    @property
    def searched(self) -> int | None:
        """Rows that the search of this run saw; None without one."""
        search = self.case.search if self.case.here else None
        if search is None or not self.values:
            return None
        return min(search.most or self.n_rows, int(np.ceil(search.share * self.n_rows)))

    @property
    def at_edge(self) -> tuple[str, ...]:
        """Parameters that the search of this run found at an end of their grid."""
        search = self.case.search if self.case.here else None
        found = []
        for joined, points in (search.grid if search and self.values else {}).items():
            for i, name in enumerate(joined.split(",")):
                values = [point[i] if "," in joined else point for point in points]
                ends = (min(values), max(values))
                found += [name] * (len(values) > 2 and self.case.parameters.get(name) in ends)
        return tuple(found)

    @property
    def failed(self) -> bool:
        """Whether a number that should be met isn't."""
        return self.verdict.startswith(("not", "over", "failed"))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        names = ("name", "dataset", "algorithm", "step", "metric", "limit", "panel", "x")
        cell = self.case.published
        return {
            **{name: getattr(self.case, name) for name in names},
            "parameters": dict(self.case.parameters),
            "n_rows": self.n_rows,
            "searched": self.searched,
            "comparable": self.comparable,
            "values": [_finite(value) for value in self.values],
            "mean": _finite(self.mean),
            "std": _finite(self.std),
            "published": None if cell is None else cell.value,
            "published_std": None if cell is None else cell.std,
            "verdict": self.verdict,
            "missing": self.missing,
            "failures": list(self.failures),
            "seconds": list(self.seconds),
            "test_seconds": list(self.test_seconds),
        }


def _finite(value: float) -> float | None:
    """JSON has neither NaN nor infinity."""
    return value if math.isfinite(value) else None


def result_of(case: Case, runs: Sequence[dict[str, Any]]) -> Result:
    """The result of a case from its runs, in their order."""
    good = [run for run in runs if "error" not in run]
    curves = [run["curve"] for run in good if run.get("curve")]
    return Result(
        case=case,
        n_rows=good[0]["rows"] if good else 0,
        values=tuple(float(run[case.take]) for run in good),
        seconds=tuple(run["seconds"] for run in good),
        test_seconds=tuple(run["test_seconds"] for run in good if "test_seconds" in run),
        comparable=case.same_rows and all(run["comparable"] for run in good),
        failures=tuple(run["error"] for run in runs if "error" in run),
        curve=tuple(np.mean(np.array(curves), axis=0)) if curves else None,  # type: ignore[arg-type]
    )
