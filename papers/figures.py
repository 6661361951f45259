"""An experiment's figures in the paper's axes: one panel per data set, one line per learner."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from papers.cases import Experiment, Picture
from papers.results import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ACROSS = 4
# points of a curve between two markers
_EVERY = 5
_Line = tuple[Any, Any]


def draw(experiment: Experiment, results: Sequence[Result]) -> list[Figure]:
    """A figure for each of the experiment's pictures; none where nothing was measured."""
    found = [r for r in results if r.values]
    return [_figure(picture, found) for picture in experiment.pictures] if found else []


def _figure(picture: Picture, results: Sequence[Result]) -> Figure:
    from matplotlib.figure import Figure

    panels: dict[str, list[Result]] = {}
    for result in results:
        panels.setdefault(result.case.panel or result.case.dataset, []).append(result)
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    figure = Figure(figsize=(3.1 * across + 1.6, 2.5 * down + 0.3), dpi=110, layout="constrained")
    styles = line_styles(dict.fromkeys(_name(result) for result in results))
    axes = figure.subplots(down, across, squeeze=False).ravel()
    every = _EVERY if picture.over == "rows" else 1
    for place, (title, group) in zip(axes, panels.items(), strict=False):
        for name, (x, y) in _lines(picture, group).items():
            place.plot(
                x, y, label=name, markersize=3, linewidth=1.2, markevery=every, **styles[name]
            )
        _dress(place, picture, title)
    for place in axes[len(panels) :]:
        place.set_axis_off()
    handles = {
        text: line for place in axes
        for line, text in zip(*place.get_legend_handles_labels(), strict=True)
    }  # fmt: skip
    figure.legend(handles.values(), handles.keys(), loc="outside right upper", frameon=False,
                  fontsize=8)  # fmt: skip
    return figure


def _name(result: Result) -> str:
    return result.case.label or result.case.algorithm


def _lines(picture: Picture, results: Sequence[Result]) -> dict[str, _Line]:
    """Places and heights by name."""
    found: dict[str, _Line] = {}
    if picture.over == "rows":
        for result in results:
            line = 1 if picture.y == "value" and result.case.take != "bound" else 2
            if result.curve is not None:
                found[_name(result)] = (result.curve[0], result.curve[line])
        return found
    points: dict[str, list[tuple[float, float]]] = {}
    for result in results:
        height = result.mean if picture.y == "value" else float(np.median(result.seconds))
        points.setdefault(_name(result), []).append((result.case.x or 0.0, height))
    return {name: tuple(zip(*sorted(of_it), strict=True)) for name, of_it in points.items()}  # type: ignore[misc]


def _dress(axes: Any, picture: Picture, title: str) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axes.set_title(title, fontsize=9, loc="left")
    axes.set_xlabel(picture.x_label, fontsize=8)
    axes.set_ylabel(picture.y_label, fontsize=8)
    if picture.log_x:
        axes.set_xscale("log", base=2)
    else:
        axes.locator_params(axis="x", nbins=5)
    if picture.log_y:
        axes.set_yscale("log")
        # label the axis even if it spans less than a decade
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=8))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#e4e6ea", linewidth=0.6)
    axes.set_axisbelow(True)


def to_svg(figure: Figure) -> str:
    """A figure as an SVG element; the same figure gives the same text."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "papers"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


# Okabe and Ito's colours without the yellow, and three of Tol's: the colour-blind can tell them
# apart, too
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#882255",
            "#999933", "#332288")  # fmt: skip
_MARKERS, _STROKES = "osD^vP*X<>", ("-", "--", ":", "-.")


def line_styles(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Matplotlib's arguments for each name: no two look alike."""
    n = len(_COLOURS)
    return {
        name: {
            "color": _COLOURS[i % n],
            "linestyle": _STROKES[i // n % len(_STROKES)],
            "marker": _MARKERS[(3 * (i // n) + i) % len(_MARKERS)],
        }
        for i, name in enumerate(names)
    }
