"""How learners are told apart in figures: each has one colour, line and marker everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count, product
from typing import Any

__all__ = ["COLOURS", "line_styles"]

# Okabe and Ito's colours without the yellow, which is weak on white, and three of Tol's: they can
# be told apart by the colour-blind, too.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#882255",
    "#999933", "#332288",
)  # fmt: skip
_MARKERS = "osD^vP*X<>"
_LINES = ("-", "--", ":", "-.")
_STYLES = [
    {"color": colour, "linestyle": line, "marker": _MARKERS[(3 * i + j) % len(_MARKERS)]}
    for (i, line), (j, colour) in product(enumerate(_LINES), enumerate(COLOURS))
]


def line_styles(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Matplotlib's arguments for each name.

    The style of an algorithm is that of its place in the table of algorithms, so that it is the
    same in every figure. Other names take the first styles that are left.
    """
    from onkel.algorithms import ALGORITHMS

    names = list(dict.fromkeys(names))
    places = {name: i for i, name in enumerate(ALGORITHMS) if name in names}
    free = (i for i in count() if i not in places.values())
    others = dict(zip((name for name in names if name not in places), free, strict=False))
    return {name: _STYLES[(places | others)[name] % len(_STYLES)] for name in names}
