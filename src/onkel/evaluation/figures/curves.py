"""Curves of prequential runs, drawn with matplotlib without a display."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onkel.evaluation.curves import CurveRun, by_name, mean_curve
from onkel.evaluation.figures.styles import line_styles
from onkel.evaluation.metrics import Metric

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEGEND_ROWS = 20


def plot(
    results: Sequence[CurveRun],
    path: str | os.PathLike[str] | None = None,
    *,
    title: str = "",
    size: tuple[float, float] = (8.0, 4.5),
) -> Figure:
    """Draw the main metric over the rows, one line per name.

    Runs of the same name (permutations of one learner) are drawn as their mean and a band of one
    sample standard deviation. A learner has the same colour, line and marker in every figure.

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
    >>> from onkel.learners import PAClassifier
    >>> from onkel.evaluation import prequential
    >>> from onkel.evaluation.figures.curves import plot
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> figure = plot([prequential(PAClassifier(), (X, X[:, 0] > 0))])
    >>> figure.axes[0].get_xlabel()
    'rows learned'
    """
    from matplotlib.figure import Figure

    if len({result.task for result in results}) != 1:
        raise ValueError("plot needs one or more runs, all of the same task")
    figure = Figure(figsize=size, dpi=150, layout="constrained")
    axes = figure.add_subplot()
    groups = by_name(results)
    styles = line_styles(groups)
    for name, runs in groups.items():
        rows, mean, std = mean_curve(runs)
        style = styles[name]
        axes.plot(rows, mean, label=name, markersize=4, linewidth=1.6, **style)
        if len(runs) > 1:
            axes.fill_between(
                rows, mean - std, mean + std, color=style["color"], alpha=0.15, linewidth=0
            )
    _style(axes, results[0].metric)
    if title:
        axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    if len(groups) > 1:
        columns = -(-len(groups) // _LEGEND_ROWS)
        figure.legend(loc="outside right upper", frameon=False, ncols=columns, fontsize=9)
    if path is not None:
        figure.savefig(path)
    return figure


def to_svg(figure: Figure) -> str:
    """A figure as an SVG element for an HTML page; the same figure gives the same text."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "onkel"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def _style(axes: Any, metric: Metric) -> None:
    from matplotlib.ticker import NullLocator

    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:,.6g}")
    axes.xaxis.set_minor_locator(NullLocator())
    unit = " (%)" if metric.unit == "%" else " (units of the target)"
    arrow = "lower is better" if metric.lower_is_better else "higher is better"
    axes.set_xlabel("rows learned")
    axes.set_ylabel(f"{metric.title}{unit}, so far\n{arrow}")
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=9)
