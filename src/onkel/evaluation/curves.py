"""Learning curves of runs: a mean over the runs of each learner, drawn with matplotlib."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar
from zlib import crc32

import numpy as np

from onkel.metrics import Metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_FIRST_ROW = 16
"""Below this, a curve shows the luck of single rows, and would stretch the scale."""


class CurveRun(Protocol):
    """What a figure needs of a run."""

    name: str
    task: str
    curve: list[Any]

    @property
    def metric(self) -> Metric:
        """Main metric of the task."""


Run = TypeVar("Run", bound=CurveRun)


class MeanCurve(NamedTuple):
    """Rows, and the main metric's mean and sample standard deviation there."""

    rows: list[int]
    mean: np.ndarray
    std: np.ndarray


def by_name(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Runs grouped by name, in the order they first appear."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.name, []).append(run)
    return groups


def sample_std(values: Sequence[float]) -> float:
    """Sample standard deviation (n - 1 in the denominator); 0 for a single value."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def mean_curve(runs: Sequence[CurveRun]) -> MeanCurve:
    """The mean curve of one learner over its runs, at the checkpoints that all of them have."""
    points: dict[int, list[float]] = {}
    for run in runs:
        for row in run.curve:
            points.setdefault(row.n_rows, []).append(row.metrics[run.metric.name])
    shared = [n for n in sorted(points) if len(points[n]) == len(runs)]
    first = min(_FIRST_ROW, max(shared, default=0))
    rows = [n for n in shared if n >= first]
    mean = np.array([np.mean(points[n]) for n in rows])
    return MeanCurve(rows, mean, np.array([sample_std(points[n]) for n in rows]))


_LEGEND_ROWS = 20


def plot(
    results: Sequence[CurveRun],
    path: str | os.PathLike[str] | None = None,
    *,
    title: str = "",
    caption: str | None = None,
    size: tuple[float, float] = (8.0, 4.5),
) -> Figure:
    """Draw the main metric over the rows, one line per name.

    Runs of the same name (permutations of one learner) are drawn as their mean and a band of one
    sample standard deviation. A learner has the same colour, line and marker in every figure.

    Parameters
    ----------
    results : sequence of PrequentialResult
        Runs of the same task, at least one; else ValueError.
    path : path-like, optional
        Write the figure there: PNG, SVG or PDF by its ending.
    title, caption : str, optional
        Above and below the axes; by default the caption says what the lines and bands are, where
        there are several.
    size : tuple of float, default=(8.0, 4.5)
        Inches.

    Returns
    -------
    matplotlib.figure.Figure
        Not connected with pyplot, so nothing has to be closed.
    """
    if len({result.task for result in results}) != 1:
        raise ValueError("plot needs one or more runs, all of the same task")
    figure, axes = new_axes(size)
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
    most = max(map(len, groups.values()))
    if caption is None and len(results) > 1:
        caption = "Each row is predicted before it is learned."
        if most > 1:
            caption += f" Lines: means of {most} runs; bands: one standard deviation."
    if caption:
        figure.supxlabel(caption, fontsize=8, color="#555555", x=0.01, ha="left")
    if len(groups) > 1:
        columns = -(-len(groups) // _LEGEND_ROWS)
        figure.legend(loc="outside right upper", frameon=False, ncols=columns, fontsize=9)
    if path is not None:
        figure.savefig(path)
    return figure


def to_svg(figure: Figure) -> str:
    """A figure as an SVG element for an HTML page; the same figure gives the same text.

    Where the font lacks a letter, text is left to the browser, which has others.
    """
    try:
        return _svg(figure, "path", "error")
    except UserWarning:
        return _svg(figure, "none", "ignore")


def _svg(figure: Figure, letters: str, lacking: Literal["error", "ignore"]) -> str:
    import matplotlib

    buffer = io.StringIO()
    with (
        matplotlib.rc_context({"svg.hashsalt": "onkel", "svg.fonttype": letters}),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings(lacking, "Glyph ")
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def _style(axes: Axes, metric: Metric) -> None:
    from matplotlib.ticker import NullLocator

    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:,.6g}")
    axes.xaxis.set_minor_locator(NullLocator())
    unit = " (%)" if metric.unit == "%" else " (units of the target)"
    arrow = "lower is better" if metric.lower_is_better else "higher is better"
    axes.set_xlabel("rows learned")
    axes.set_ylabel(f"{metric.title}{unit}, so far\n{arrow}")
    axes.set_ylim(bottom=0, top=None if axes.dataLim.ymax > 0 else 1)


def new_axes(size: tuple[float, float]) -> tuple[Figure, Axes]:
    """A figure of this size in inches with one pair of axes, in the style of all figures."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=150, layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=9)
    return figure, axes


# Okabe and Ito's colours without the yellow, which is weak on white, and three of Tol's: they can
# be told apart by the colour-blind, too.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#882255",
    "#999933", "#332288",
)  # fmt: skip
_MARKERS = "osD^vP*X<>"
_LINES = ("-", "--", ":", "-.")
_STYLES = [
    {"color": colour, "linestyle": line, "marker": _MARKERS[(3 * i + j + k) % len(_MARKERS)]}
    for k, (i, line), (j, colour) in product(
        range(len(_MARKERS)), enumerate(_LINES), enumerate(COLOURS)
    )
]
_OF_ALGORITHMS = len(_LINES) * len(COLOURS)
"""The first styles are those of the table's algorithms, the others those of other names."""


def line_styles(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Matplotlib's arguments for each name.

    The style of an algorithm is that of its place in the table of algorithms, and that of another
    name follows from its letters: a learner looks the same in every figure. Where two of one figure
    would have one colour, the second takes the next style of a colour that is free, while there is
    one.
    """
    from onkel.algorithms import ALGORITHMS

    names = list(dict.fromkeys(names))
    places = {name: i for i, name in enumerate(ALGORITHMS) if name in names}
    for name in names:
        if name not in places:
            n = len(_STYLES) - _OF_ALGORITHMS
            first = crc32(name.encode()) % n
            tried = (_OF_ALGORITHMS + i % n for i in range(first, first + n))
            places[name] = next(i for i in tried if i not in places.values())
    styles: dict[str, dict[str, Any]] = {}
    for name in names:
        used = {style["color"] for style in styles.values()}
        used = set() if used.issuperset(COLOURS) else used
        own = (_STYLES[(places[name] + i) % len(_STYLES)] for i in range(len(_STYLES)))
        free = (s for s in own if s["color"] not in used and s not in styles.values())
        styles[name] = next(free)
    return styles
