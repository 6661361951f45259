"""Curves of prequential runs, drawn with matplotlib without a display."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onkel.evaluation.result import PrequentialResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "plot"]

# Okabe and Ito's colours, told apart by the colour-blind, without the yellow (weak on white).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_MARKERS = "osD^vP*"
_FIRST_ROW = 16
"""Below, a curve shows the luck of single rows, and would stretch the scale."""


def plot(
    results: Sequence[PrequentialResult],
    path: str | os.PathLike[str] | None = None,
    *,
    title: str = "",
    size: tuple[float, float] = (8.0, 4.5),
) -> Figure:
    """Draw the main metric over the rows, one line a run.

    Runs of the same name (permutations of one learner) are drawn as their mean and a band of one
    standard deviation.

    Parameters
    ----------
    results : sequence of PrequentialResult
        Runs of the same task, at least one.
    path : path-like, optional
        Write the figure there: PNG, SVG or PDF by its ending.
    title : str, optional
        Above the axes.
    size : tuple of float, default=(8.0, 4.5)
        Inches.

    Returns
    -------
    matplotlib.figure.Figure
        Not connected with pyplot, so nothing has to be closed.

    Raises
    ------
    ValueError
        If there is no run, or runs of different tasks.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel.estimators import PAClassifier
    >>> from onkel.evaluation import prequential
    >>> from onkel.evaluation.figure import plot
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> figure = plot([prequential(PAClassifier(), (X, X[:, 0] > 0))])
    >>> figure.axes[0].get_xlabel()
    'rows learned'
    """
    from matplotlib.figure import Figure

    if len({result.task for result in results}) != 1:
        raise ValueError("plot needs one or more runs, all of the same task")
    metric = results[0].metric
    figure = Figure(figsize=size, dpi=150, layout="constrained")
    axes = figure.add_subplot()
    for i, (name, runs) in enumerate(by_name(results).items()):
        _draw(axes, name, runs, i)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:,.6g}")
    axes.xaxis.set_minor_locator(_none())
    unit = " (%)" if metric.unit == "%" else " (units of the target)"
    arrow = "lower is better" if metric.lower_is_better else "higher is better"
    axes.set_xlabel("rows learned")
    axes.set_ylabel(f"{metric.title}{unit}, so far\n{arrow}")
    _style(axes)
    if title:
        axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    if len(by_name(results)) > 1:
        axes.legend(frameon=False)
    if path is not None:
        figure.savefig(path)
    return figure


def to_svg(figure: Figure) -> str:
    """A figure as an SVG element to stand in HTML.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Figure.

    Returns
    -------
    str
        Beginning with ``<svg``, the same for the same figure.
    """
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "onkel"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def by_name(results: Sequence[PrequentialResult]) -> dict[str, list[PrequentialResult]]:
    """Runs grouped by name, in the order they first appear."""
    groups: dict[str, list[PrequentialResult]] = {}
    for result in results:
        groups.setdefault(result.name, []).append(result)
    return groups


def _draw(axes: Any, name: str, runs: list[PrequentialResult], i: int) -> None:
    import numpy as np

    points: dict[int, list[float]] = {}
    for run in runs:
        for row in run.curve:
            points.setdefault(row.n_rows, []).append(row.metrics[run.metric.name])
    shared = [n for n in sorted(points) if len(points[n]) == len(runs)]
    first = min(_FIRST_ROW, max(shared, default=0))
    rows = [n for n in shared if n >= first]
    mean = np.array([np.mean(points[n]) for n in rows])
    spread = np.array([np.std(points[n]) for n in rows])
    colour = COLOURS[i % len(COLOURS)]
    marker = _MARKERS[i % len(_MARKERS)]
    axes.plot(rows, mean, color=colour, marker=marker, markersize=4, linewidth=1.6, label=name)
    if len(runs) > 1:
        axes.fill_between(rows, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0)


def _style(axes: Any) -> None:
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=9)


def _none() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()
