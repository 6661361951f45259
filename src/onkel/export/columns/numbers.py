"""Columns of numbers and of times: their features, and what fills gaps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from onkel.columns.column import EXACT, GAP, TIME_PARTS, VALUE
from onkel.columns.encoding import Encoder
from onkel.columns.features import DAY, MONDAY, QUARTER, YEAR
from onkel.export.columns.block import Block, statistics_of
from onkel.export.functions import asinh, concat, filled, looked_up, pick, where
from onkel.export.graph import Value

# π/2 is the sum of both.
_QUARTER_TURN, _REST = 0.5 * math.pi, 6.123233995736766e-17


def number(
    encoder: Encoder, k: int, x: Value, missing: str, means: Mapping[int, np.ndarray]
) -> Iterator[Block]:
    """A number less its origin; if it has codes, also their statistics ``means`` (codes, J)."""
    yield from _with_gaps(encoder, k, x, x - encoder.columns[k].origin, missing)
    j = encoder.layout.get(k, EXACT)
    if j in means:
        code_of = {v: code for code, v in enumerate(encoder.layout.repeated[k].values, 1)}
        table = statistics_of(range(1 + len(code_of)), means[j])
        yield Block(pick(table, looked_up(x, code_of)), [(j, i) for i in range(table.shape[1])])


def time(encoder: Encoder, k: int, x: Value, missing: str) -> Iterator[Block]:
    """The seven features of a moment."""
    return _with_gaps(encoder, k, x, _time_features(x, encoder.columns[k].origin), missing)


def fill_of(encoder: Encoder, missing: str) -> np.ndarray:
    """What fills a gap in each feature, (n_features,); NaN if nothing does."""
    fill = np.full(encoder.n_features, np.nan if missing in ("error", "skip") else 0.0)
    if missing in ("mean", "auto") and encoder.means is not None:
        # features that came later have no mean yet
        fill[: len(encoder.means)] = encoder.means
    return fill


def _with_gaps(encoder: Encoder, k: int, x: Value, values: Value, missing: str) -> Iterator[Block]:
    """The features of x; where x is NaN, their fill values, and 1 in the feature that marks it."""
    column, layout = encoder.columns[k], encoder.layout
    first = layout.get(k, VALUE)
    own = list(range(first, first + (len(TIME_PARTS) if column.kind == "time" else 1)))
    fill = np.zeros(len(own)) if column.late else fill_of(encoder, missing)[own]
    gone = x.of("IsNaN", bool)
    if not np.isnan(fill).any():
        values = where(gone, fill, values)
    yield Block(values, [(j, 0) for j in own])
    gap = layout.get(k, GAP)
    if gap >= 0:
        yield Block(gone.to(x.dtype) if missing == "auto" else filled(x, 0.0, 1), [(gap, 0)])


def _time_features(seconds: Value, origin: float) -> Value:
    """As :func:`onkel.columns.features.time_features`, (n, 7)."""
    days, since = seconds / DAY, (seconds - origin) / DAY
    weekday = _rest(days.of("Floor") + MONDAY, 7.0)
    circles = [_circle(_rest(days, 1.0)), _circle(weekday / 7.0)]
    year = where(since.of("Abs") < QUARTER, 0.0, _circle(_rest(days, YEAR) / YEAR))
    return concat(asinh(since), *circles, year)


def _circle(turns: Value) -> Value:
    """Sine and cosine (n, 2) of angles (n, 1) in turns, from 0 to 1.

    Near 0, as at midnight and noon, they must agree with NumPy to the last digit: the default's
    cells may split there. So each is the sine of the distance to its next 0, which is exact.
    """
    angle = turns * (2.0 * math.pi)
    to_half = where((angle - math.pi).of("Abs") < 1.0, _way(angle, 2), angle)
    to_quarter = where(angle < math.pi, _way(angle, 1), -_way(angle, 3))
    return concat(to_half.of("Sin"), to_quarter.of("Sin"))


def _way(angle: Value, quarters: int) -> Value:
    """The distance from an angle to a number of quarter turns."""
    return -(angle - quarters * _QUARTER_TURN) + quarters * _REST


def _rest(x: Value, period: float) -> Value:
    """x modulo a period, at least 0."""
    return x - (x / period).of("Floor") * period
