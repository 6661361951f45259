"""Columns of a table as the learner's features: numbers, times and texts, gaps filled, and scaled.

A column becomes one block of features or several, each with its place among the encoder's features.
A text is looked up in a table with a row of features for each value.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from onkel.columns.categories import NOTHING, Categories
from onkel.columns.column import CODE, EXACT, GAP, TIME_PARTS, VALUE, WORDS, Column
from onkel.columns.encoding import Encoder
from onkel.columns.features import DAY, MARCH, MONDAY, PERIODS, QUARTER, TO_MARCH, YEAR
from onkel.columns.notation import GAPS
from onkel.columns.running import AWAY, HEAVY, MEAN, SQUARES
from onkel.columns.scaling import OnlineScaler
from onkel.errors import ExportError
from onkel.export.functions import asinh, concat, filled, looked_up, pick, where
from onkel.export.graph import Graph, Value

#: the encoder's feature, and the index of its statistic
Place = tuple[int, int]


class Block(NamedTuple):
    """Features (n, p) and the place of each."""

    values: Value
    places: list[Place]


class Reading(NamedTuple):
    """How columns are read."""

    #: how missing values are treated
    missing: str
    #: type of the features
    dtype: np.dtype
    #: the statistics (codes, J) of each code, by the feature that holds the codes
    means: Mapping[int, np.ndarray]
    #: texts to expect, by column name, where some share features by a hash
    values: Mapping[str, Collection[str]]


def statistics_of(codes: Sequence[int], means: np.ndarray) -> np.ndarray:
    """The rows of ``means`` (all codes, J) for some codes; 0 for a code never learned from."""
    known = np.array([code < len(means) for code in codes])
    table = np.zeros((len(codes), means.shape[1]))
    table[known] = means[np.asarray(codes)[known]]
    return table


# π/2 is the sum of both.
_QUARTER_TURN, _REST = 0.5 * math.pi, 6.123233995736766e-17


def number(encoder: Encoder, k: int, x: Value, reading: Reading) -> Iterator[Block]:
    """A number less its origin; if it has codes, also their statistics."""
    yield from _with_gaps(encoder, k, x, x - encoder.columns[k].origin, reading.missing)
    j = encoder.layout.get(k, EXACT)
    if j in reading.means:
        code_of = {v: code for code, v in enumerate(encoder.layout.repeated[k].values, 1)}
        table = statistics_of(range(1 + len(code_of)), reading.means[j])
        yield Block(pick(table, looked_up(x, code_of)), [(j, i) for i in range(table.shape[1])])


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
    day, time = (seconds / DAY).of("Floor"), _rest(seconds, DAY) / DAY
    since = (seconds - origin) / DAY
    in_year = day + MARCH
    for period in PERIODS:
        before = ((in_year * 4.0 + 3.0) / period).of("Floor")
        in_year = in_year - (before * period / 4.0).of("Floor")
    phase = _rest(in_year + TO_MARCH + time, YEAR) / YEAR
    circles = [_circle(time), _circle(_rest(day + MONDAY, 7.0) / 7.0)]
    year = where(since.of("Abs") < QUARTER, 0.0, _circle(phase))
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


def text(encoder: Encoder, k: int, x: Value, reading: Reading) -> Block:
    """The features of a text: those of its value, and the statistics of its code."""
    own, column, missing = encoder.layout.categories[k], encoder.columns[k], reading.missing
    none = np.zeros((0, 0)) if encoder.statistics else None
    means = reading.means.get(encoder.layout.get(k, CODE), none)
    values = reading.values.get(column.name)
    if values is None:
        _refuse_hashed(column, own, means, k in encoder.layout.words)
    # values that have a code of their own, then the others
    others = [NOTHING, *(value.strip() for value in values or ())]
    code_of = own.codes | dict(zip(others, own.of(others).tolist(), strict=True))
    # row 0 is for values never learned from, the last one for gaps that are refused
    codes = [0, *dict.fromkeys(code for code in code_of.values() if code)]
    table, places = _features(encoder, k, codes, means)
    row_of = {code: row for row, code in enumerate(codes)}
    rows = {value: row_of[code] for value, code in code_of.items()}
    gap = rows[NOTHING] if missing == "auto" and not column.late else 0
    if missing in ("error", "skip") and not column.late:
        gap = len(codes)
    rows |= dict.fromkeys(_read_as_gaps(encoder, k), gap)
    return Block(pick(table.astype(reading.dtype), looked_up(x, rows)), places)


def words(encoder: Encoder, k: int, x: Value, reading: Reading) -> Block:
    """The statistics of a text by its words, for each of the texts to expect; as :func:`text`."""
    first = encoder.layout.get(k, WORDS)
    means, values = reading.means[first], reading.values[encoder.columns[k].name]
    known = list(dict.fromkeys(value.strip() for value in values))
    codes = encoder.layout.words[k].of(known)
    n_words = np.maximum((codes > 0).sum(axis=1), 1)[:, None]
    own = statistics_of(codes.ravel().tolist(), means).reshape(*codes.shape, means.shape[1])
    # row 0 is for texts without words, the last one for gaps that are refused
    ends = np.zeros((1, means.shape[1])), np.full((1, means.shape[1]), np.nan)
    table = np.vstack([ends[0], own.sum(axis=1) / np.sqrt(n_words), ends[1]])
    rows = {value: row for row, value in enumerate(known, 1)}
    refused = reading.missing in ("error", "skip") and not encoder.columns[k].late
    rows |= dict.fromkeys(_read_as_gaps(encoder, k), len(table) - 1 if refused else 0)
    places = [(first, i) for i in range(means.shape[1])]
    return Block(pick(table.astype(reading.dtype), looked_up(x, rows)), places)


def _read_as_gaps(encoder: Encoder, k: int) -> list[str]:
    """The texts that mean a missing value in a column."""
    constant = encoder.columns[k].constant
    return [*sorted(GAPS), *encoder.na_values, *([constant] if constant else [])]


def _features(
    encoder: Encoder, k: int, codes: list[int], means: np.ndarray | None
) -> tuple[np.ndarray, list[Place]]:
    """The features (codes + 1, p) of each code, NaN in the last row; and their places."""
    layout = encoder.layout
    found = [(row, layout.get(k, code)) for row, code in enumerate(codes) if code]
    found = [(row, j) for row, j in found if j >= 0]
    table = np.zeros((len(codes) + 1, len(found)))
    for i, (row, _) in enumerate(found):
        table[row, i] = 1.0
    places = [(j, 0) for _, j in found]
    if means is not None:
        # the last row gets its NaN below
        table = np.hstack([table, statistics_of([*codes, 0], means)])
        places += [(layout.get(k, CODE), i) for i in range(means.shape[1])]
    table[-1] = np.nan
    return table, places


def _refuse_hashed(
    column: Column, own: Categories, means: np.ndarray | None, has_words: bool
) -> None:
    """Raise ExportError if values that share a feature by a hash may matter."""
    alike = means is not None and not means[own.room + 1 :].any()
    if not own.hashes or (alike and not has_words):
        return
    what = f"has more than {own.room} values, and the others"
    anew = "with a larger max_categories, or without the column"
    if column.form in ("many", "words"):
        what, anew = "holds texts that nearly all differ, and they", "without the column"
    elif len(own.codes) < own.room:
        what, anew = "had no value in the first rows, and its values", "without the column"
    raise ExportError(
        f"column {column.name!r} {what} share features by a hash, which ONNX lacks: say which "
        f"values may come, values={{{column.name!r}: [...]}} (--values SOURCE on the command "
        f"line), or learn {anew}"
    )


def features_of(encoder: Encoder, graph: Graph, reading: Reading, places: Sequence[Place]) -> Value:
    """The features (n, d) at some places, as `Encoder.encode` makes them, with gaps filled.

    The graph gets an input (n, 1) for each column: numbers, seconds since 1970, or text. A place is
    a feature, and the index of its statistic; an unknown one gives 0.
    """
    # inputs come first, so they keep their names
    inputs = [
        graph.input(column.name, str if column.kind == "text" else np.float64, 1)
        for column in encoder.columns
    ]
    blocks = [
        Block(block.values.to(reading.dtype), block.places)
        for k, x in enumerate(inputs)
        for block in _blocks(encoder, k, x, reading)
    ]
    known: dict[Place, int] = {}
    for block in blocks:
        known |= {place: len(known) + i for i, place in enumerate(block.places)}
    zero = filled(inputs[0], 0.0, 1, reading.dtype)
    whole = concat(*(block.values for block in blocks), zero)
    return whole.columns([known.get(place, len(known)) for place in places])


def _blocks(encoder: Encoder, k: int, x: Value, reading: Reading) -> Iterator[Block]:
    column = encoder.columns[k]
    if encoder.layout.waits(k):
        return
    if column.kind == "text":
        yield text(encoder, k, x, reading)
        if encoder.layout.get(k, WORDS) in reading.means and column.name in reading.values:
            yield words(encoder, k, x, reading)
    elif column.kind == "time":
        values = _time_features(x, column.origin)
        yield from _with_gaps(encoder, k, x, values, reading.missing)
    elif column.kind in ("number", "flag"):
        yield from number(encoder, k, x, reading)
    else:
        raise ExportError(f"column {column.name!r}: no ONNX graph is known for a {column.kind}")


def scaled(scaler: OnlineScaler, X: Value) -> Value:
    """Rows X (n, d) as :meth:`OnlineScaler.transform` scales them."""
    if scaler.mode == "none":
        return X
    center, factor = scaler.affine()
    raw = X.to(np.float64)
    if scaler.sparse_:
        return (raw * factor).to(X.dtype)
    Z = (raw - center) * factor
    if scaler.mode == "auto":
        Z = _drawn_in(scaler, raw, Z)
    if scaler.n_late_:
        late = np.arange(scaler.n_features_in_) >= scaler.n_features_in_ - scaler.n_late_
        # a 0 means that the row lacks the column
        lacks = X.graph.node("And", X.graph.node("Equal", raw, 0.0, dtype=bool), late, dtype=bool)
        Z = where(lacks, 0.0, Z)
    return Z.to(X.dtype)


def _drawn_in(scaler: OnlineScaler, X: Value, Z: Value) -> Value:
    """Z with its heavy-tailed columns drawn in."""
    tails, rows = scaler.tails_, scaler.rows_of_columns()
    heavy = tails[HEAVY] > 0.0
    if not heavy.any():
        return Z
    one = np.ones(len(heavy))
    away = tails[AWAY] / rows
    spread = np.sqrt(tails[SQUARES] / rows)
    # 0 where nothing has varied
    inside = np.divide(one, away, out=0.0 * one, where=away > 0.0)
    outside = np.divide(one, spread, out=0.0 * one, where=spread > 0.0)
    u = asinh((X - scaler.center_) * inside)
    drawn = (u - tails[MEAN]) * outside
    return where(X.graph.constant(heavy), drawn, Z)
