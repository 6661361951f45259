"""How learners are told apart in figures: each has one colour, line and marker everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any
from zlib import crc32

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
    name follows from its letters: a learner looks the same in every figure. Where two would look
    alike in one figure, the second takes the next style.
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
    return {name: _STYLES[places[name]] for name in names}
