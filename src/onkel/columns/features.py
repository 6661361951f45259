"""Column values become a feature matrix; new values and gaps first get features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from onkel.annotations import DTypeLike
from onkel.columns.categories import NOTHING
from onkel.columns.column import CODE, EXACT, GAP, TIME_PARTS, VALUE, WORDS, Given
from onkel.columns.layout import Layout
from onkel.columns.words import MOST_WORDS

#: seconds
DAY = 86_400.0
#: 1970-01-01 was a Thursday; weeks begin on Monday
MONDAY = 3.0
#: days from 1 March of the year 0 to 1970: here years begin in March, and a leap day is the last
MARCH = 719_468.0
#: days of 400 years, and of 4 years of a century; one of them has a fourth of it, rounded down
PERIODS = 146_097.0, 1_461.0
#: days from 1 January to 1 March
TO_MARCH = 59.0
#: mean length of a Gregorian year in days
YEAR = 365.2425
QUARTER = YEAR / 4


def time_features(seconds: np.ndarray, origin: float) -> np.ndarray:
    """The trend, and sine and cosine of the phases in the day, the week and the year: (n, 7).

    ``seconds`` (n,) are since 1970, NaN if missing; ``origin`` is the first moment. The trend is
    asinh of the days since the origin: linear at first and slow later, because kernels predict
    nothing far from the rows they learned. For the same reason the phase in the year is (0, 0)
    within a quarter of a year of the origin: by then a stream has seen only a short arc of that
    circle. The phase in the week is in whole days from Monday.

    What stays the same in a table stays the same here, to the last digit: the hour of any day, and
    the date of any year. Otherwise the scaler would make a full column of what differs.
    """
    day, time = np.floor(seconds / DAY), seconds % DAY / DAY
    since = (seconds - origin) / DAY
    in_year = day + MARCH
    for period in PERIODS:
        before = np.floor((4.0 * in_year + 3.0) / period)
        in_year -= np.floor(before * period / 4.0)
    phases = time, (day + MONDAY) % 7.0 / 7.0, (in_year + TO_MARCH + time) % YEAR / YEAR
    angles = 2.0 * np.pi * np.stack(phases, axis=1)
    circles = np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(len(seconds), 6)
    circles[np.abs(since) < QUARTER, 4:] = 0.0
    return np.column_stack([np.arcsinh(since), circles])


def fill(
    layout: Layout,
    found: Sequence[Given | None],
    n: int,
    dtype: DTypeLike,
    *,
    missing: str,
    learn: bool,
    fixed: bool = False,
) -> np.ndarray:
    """Features (n, n_features) as in `Encoder.encode`; ``found`` is None for absent columns.

    With ``fixed`` and ``learn``, gaps are counted and nothing else is learned.
    """
    full = list(found)
    for k, one in enumerate(found):
        column = layout.columns[k]
        text = column.kind == "text"
        if one is None and not column.late:
            # all of it is missing
            full[k] = one = Given(np.full(n, -1) if text else np.full(n, np.nan))
        # a constant text is read as a gap
        if learn and one is not None and not (text and column.constant):
            gone = one.values < 0 if text else np.isnan(one.values)
            layout.gaps[k] += int((gone if one.absent is None else gone & ~one.absent).sum())
    begun = _make_room(layout, full, missing == "auto") if learn and not fixed else []
    X = np.zeros((n, len(layout)), dtype=dtype)
    # A float64 too large for float32 becomes inf here and is refused later.
    with np.errstate(over="ignore"):
        for k, one in enumerate(full):
            if one is not None:
                put = _put_text if layout.columns[k].kind == "text" else _put_numbers
                put(layout, k, one, X, missing)
    for row, k in begun:
        # the rows before had no words, wherever the block began
        first = layout.get(k, WORDS)
        X[:row, first : first + MOST_WORDS] = 0.0
    return X


def _make_room(
    layout: Layout, found: Sequence[Given | None], indicate: bool
) -> list[tuple[int, int]]:
    """Add features for new values, by row and then column, so that blocks do not matter.

    Returns the rows with which words begin, and their columns.
    """
    new: list[tuple[int, int, int]] = []
    for k, repeated in layout.repeated.items():
        one = found[k]
        if one is not None:
            repeated.take(one.values if one.absent is None else one.values[~one.absent])
    for k, one in enumerate(found):
        if one is not None:
            if parts := layout.next_parts(k):
                new += [(row, k, part) for row in _first_other(layout, k, one) for part in parts]
            found_in = _new_values if layout.columns[k].kind == "text" else _new_gap
            new += [(row, k, part) for row, part in found_in(layout, k, one, indicate)]
    new.sort(key=lambda feature: feature[:2])
    for _, k, part in new:
        layout.add(k, part)
    return [(row, k) for row, k, part in new if part == WORDS]


def _first_other(layout: Layout, k: int, one: Given) -> list[int]:
    """The first row with another value than the constant one, if there is such a row."""
    column = layout.columns[k]
    if column.kind == "text" and not layout.statistics:
        return []  # without statistics only its values have features
    if column.kind == "text":
        other = one.values >= 0
    else:
        other = np.isfinite(one.values) & ((one.values != column.origin) | (column.kind == "time"))
    if one.absent is not None:
        other &= ~one.absent
    return np.flatnonzero(other)[:1].tolist()


def _new_gap(layout: Layout, k: int, one: Given, indicate: bool) -> Iterator[tuple[int, int]]:
    if indicate and not layout.columns[k].late and layout.get(k, GAP) < 0:
        gone = np.isnan(one.values)
        if gone.any():
            yield int(np.argmax(gone)), GAP


def _new_values(layout: Layout, k: int, one: Given, indicate: bool) -> Iterator[tuple[int, int]]:
    own = layout.categories[k]
    index = one.values if one.absent is None else np.where(one.absent, -1, one.values)
    values, rows = own.new(one.known, index)
    if indicate and not layout.columns[k].late and NOTHING not in own.codes:
        gone = index < 0
        if gone.any():
            at = int(np.argmax(gone))
            place = int(np.searchsorted(rows, at))
            values.insert(place, NOTHING)
            rows = np.insert(rows, place, at)
    hashed = own.hashes
    own.take(values)
    for value, row in zip(values, rows, strict=True):
        if value in own.codes:
            yield int(row), own.codes[value]
        elif not hashed:
            hashed = True
            parts = *layout.hashed_parts(k), *layout.words_parts(k)
            yield from ((int(row), part) for part in parts)


def _put_text(layout: Layout, k: int, one: Given, X: np.ndarray, missing: str) -> None:
    own, column = layout.categories[k], layout.columns[k]
    # the missing value comes last, so that index -1 finds it
    codes = own.of([*one.known, NOTHING])
    if missing != "auto" or column.late:
        codes[-1] = 0
    if layout.get(k, CODE) >= 0:
        X[:, layout.get(k, CODE)] = codes[one.values]
    places = np.array([layout.get(k, code) if code else -1 for code in codes.tolist()])
    at = places[one.values]
    rows = np.flatnonzero(at >= 0)
    X[rows, at[rows]] = 1.0
    first = layout.get(k, WORDS)
    if first >= 0:
        # a dictionary may hold more texts than these rows
        used, index = np.unique(one.values, return_inverse=True)
        words = layout.words[k].of([one.known[i] if i >= 0 else NOTHING for i in used.tolist()])
        X[:, first : first + MOST_WORDS] = words[index]
    gone = one.values < 0
    if missing in ("error", "skip") and not column.late and gone.any():
        X[np.ix_(gone, layout.of(k))] = np.nan
    if one.absent is not None and one.absent.any():
        X[np.ix_(one.absent, layout.of(k))] = 0.0


def _put_numbers(layout: Layout, k: int, one: Given, X: np.ndarray, missing: str) -> None:
    column = layout.columns[k]
    first = layout.get(k, VALUE)
    if first < 0:
        return
    if column.kind == "time":
        X[:, first : first + len(TIME_PARTS)] = time_features(one.values, column.origin)
    else:
        X[:, first] = one.values - column.origin
        if k in layout.repeated:
            X[:, layout.get(k, EXACT)] = layout.repeated[k].of(one.values)
    gone = np.isnan(one.values)
    gap = layout.get(k, GAP)
    if missing == "auto" and gap >= 0:
        X[gone, gap] = 1.0
    away = gone & column.late
    if one.absent is not None:
        away |= one.absent
    if away.any():
        X[np.ix_(away, layout.of(k))] = 0.0
