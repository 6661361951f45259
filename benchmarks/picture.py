"""A picture of what a budget is worth or costs, both axes logarithmic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onkel.evaluation.curves import COLOURS

__all__ = ["over_budgets"]

Curve = tuple[str, Sequence[float], str]


def over_budgets(
    path: str, budgets: Sequence[int], curves: Iterable[Curve], labels: tuple[str, str]
) -> None:
    """Save the curves (name, values, style) over ``budgets``; ``labels`` of the two axes."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullLocator

    figure = Figure(figsize=(8.0, 4.5), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    for i, (name, values, style) in enumerate(curves):
        axes.plot(budgets, values, style, color=COLOURS[i % len(COLOURS)], label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_xticks(budgets, [str(b) for b in budgets])
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(path)
