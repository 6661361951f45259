"""Streams as lines, learners as columns: the score, and in brackets rows per second."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onkel.evaluation.formatting import short
from onkel.experiments.results import Result
from onkel.experiments.showing.layout import Content, Layout, Line

_STREAM = ("stream", "rows", "published")
_Runs = dict[str, Result]


def content(results: Sequence[Result]) -> Content:
    """One line per stream; the least error is marked."""
    names = list(dict.fromkeys(result.case.algorithm for result in results))
    lines = []
    for stream, runs in _by_stream(results).items():
        one = next(iter(runs.values()))
        printed, n_rows = one.case.published, max(run.n_rows for run in runs.values())
        cells = [stream, f"{n_rows:,}", "" if printed is None else f"{printed.value:.4g}"]
        least = min((run.mean for run in runs.values() if run.values), default=None)
        marks = {
            i: "best" for i, name in enumerate(names, len(_STREAM))
            if runs[name].values and runs[name].mean == least
        }  # fmt: skip
        lines.append(Line([*cells, *(_cell(runs[name]) for name in names)], marks))  # type: ignore[arg-type]
    return Content((*_STREAM, *names), lines, _STREAM[:1])


def summary(results: Sequence[Result]) -> str:
    """What the numbers are, and where the default stands."""
    runs = max((len(r.values) for r in results), default=1)
    seeds = f", mean ± standard deviation of {runs} seeds where something is random" * (runs > 1)
    parts = [
        "Mistakes in percent, or root mean squared error; in brackets rows a second of "
        f"processor time. The first row is not scored{seeds}. Published: of the whole stream."
    ]
    streams = _by_stream(results).values()
    for name in ("default", "fast"):
        pairs = [(on[name].mean, _better(on)) for on in streams if name in on and on[name].values]
        known = [(own, best) for own, best in pairs if best is not None]
        if known:
            ahead = sum(own <= best for own, best in known)
            far = sum(own <= 0.95 * best for own, best in known)
            parts.append(
                f"{name}: no worse than the better of the last value and what is published on "
                f"{ahead} of {len(known)}, at least 5 % better on {far}."
            )
    return "\n".join(parts)


def _by_stream(results: Sequence[Result]) -> dict[str, _Runs]:
    found: dict[str, _Runs] = {}
    for result in results:
        found.setdefault(result.case.panel, {})[result.case.algorithm] = result
    return found


def _better(runs: _Runs) -> float | None:
    """The better of persistence and the published number of the same rows; None without either."""
    known = [runs["last"].mean] if "last" in runs and runs["last"].values else []
    printed = [r.case.published.value for r in runs.values() if r.case.published and r.comparable]
    return min([*known, *printed[:1]], default=None)


def _cell(run: Result) -> str:
    if not run.values:
        return "failed"
    value = f"{run.mean:.4g}" + (f" ± {run.std:.2g}" if len(run.values) > 1 else "")
    rate = run.n_rows / max(float(np.median(run.seconds)), 1e-9)
    return value if rate > 1e7 else f"{value} ({short(rate)})"


STREAMS_LAYOUT = Layout(content, summary)
