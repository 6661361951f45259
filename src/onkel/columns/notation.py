"""How cells are written: gaps, numbers and times, as people write them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from onkel.columns.failures import shorten
from onkel.errors import DataError

GAPS = frozenset(
    (
        "", "?", "-", "--", "NA", "N/A", "n/a", "na", "#N/A", "#N/A N/A", "#NA", "<NA>", "NULL",
        "Null", "null", "(null)", "None", "none", "NaN", "-NaN", "nan", "-nan", "NaT", r"\N",
        "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
    )
)  # fmt: skip

FLAGS = {**dict.fromkeys(("true", "True", "TRUE", "1"), True),
         **dict.fromkeys(("false", "False", "FALSE", "0"), False)}  # fmt: skip
"""Texts of flags; a column of 0 and 1 alone holds numbers."""


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN, NaT, or pandas' NA, which is neither true nor false."""
    if value is None:
        return True
    unlike = value != value
    try:
        return bool(unlike)
    except TypeError:
        return True
    except ValueError:  # an array
        return False


def text_of(value: object, name: str, row: int) -> str:
    """A value of a text column, as in a table: 1.0 is "1", and True "true".

    A DataError: bytes that are not UTF-8.
    """
    if isinstance(value, bool | float | np.bool_ | np.floating):
        import pyarrow as pa

        return str(pa.scalar(value).cast(pa.string()).as_py())
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        message = f"{shorten(value)} cannot be read as text: {error}"
        raise DataError(message, row=row, column=name, value=value) from None


class Written(NamedTuple):
    """How text is written: parameters of `onkel.streams.open_stream`."""

    decimal: str = "."
    dates: str | None = None
    na_values: tuple[str, ...] = ()


_SIGN, _MONEY = r"[+\-−]?", r"(?:[$€£¥₹]|USD|EUR|GBP|CHF)?"
_BLANK = r"[ \u00a0\u2009\u202f]"


def _number(decimal: str, thousands: str) -> re.Pattern[str]:
    grouped = rf"\d{{1,3}}(?:(?:{_BLANK}|['’{thousands}])\d{{3}})+"
    value = rf"(?:(?!0{thousands}){grouped}|\d+)?(?:{decimal}\d*)?(?:[eE][+-]?\d+)?"
    amount, unit = rf"(?=\d|{decimal}\d){value}", rf"{_BLANK}?(?:%|{_MONEY})"
    signed = rf"{_SIGN}{_BLANK}?{_MONEY}{_BLANK}?({_SIGN}{amount}){unit}"
    # accountants put what is owed in parentheses
    owed = rf"\({_BLANK}?{_MONEY}{_BLANK}?({amount}){unit}{_BLANK}?\)"
    return re.compile(rf"{signed}|{owed}")


# This share of the values decides what a column is; the odd value is refused with its row.
_MOST = 0.9

# Patterns by the form of a column: decimal point or decimal comma.
_NUMBERS = {"point": _number(r"\.", ","), "comma": _number(",", r"\.")}
_SIGNS = str.maketrans({"−": "-"})

DATES = {"dayfirst": "dmy", "monthfirst": "mdy"}
"""What the option ``dates`` says, and the form of a column that it stands for."""

_CLOCK = (
    r"(?:[ T]+(\d{1,2}):(\d\d)(?::(\d\d(?:\.\d{1,9})?))?(?: ?([AaPp])\.?[Mm]\.?)?"
    r" ?(Z|UTC|[+-]\d\d:?\d\d)?)?"
)
_DAY = re.compile(r"(\d{1,2})([/.\-])(\d{1,2})\2(\d{4}|\d\d)" + _CLOCK)
_YEAR = re.compile(r"(\d{4})([/.\-])(\d{1,2})\2(\d{1,2})" + _CLOCK)

TIME_OF_DAY = re.compile(r"([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d(?:\.\d{1,9})?))?")


def number_form(values: Sequence[str], decimal: str) -> str | None:
    """The form of a column of numbers, "point" or "comma"; None if the values are not numbers.

    ValueError if the numbers have a decimal comma, and ``decimal`` is a point.
    """

    def most(form: str) -> bool:
        hits = sum(_NUMBERS[form].fullmatch(value) is not None for value in values)
        return hits >= _MOST * len(values)

    form = "comma" if decimal == "," else "point"
    if most(form):
        return form
    if form == "point" and any("," in value for value in values) and most("comma"):
        raise ValueError(
            "holds numbers with a decimal comma; say so with decimal=',' (on the command line "
            "--decimal ,), or take them for categories with categorical"
        )
    return None


def numbers_of(values: Sequence[str], form: str) -> np.ndarray:
    """Numbers parsed from texts; NaN where a text is not a number."""
    numbers = np.full(len(values), np.nan)
    for k, value in enumerate(values):
        if found := _NUMBERS[form].fullmatch(value):
            text = re.sub(rf"{_BLANK}|['’]", "", (found[1] or found[2]).translate(_SIGNS))
            text = (
                text.replace(",", "")
                if form == "point"
                else text.replace(".", "").replace(",", ".")
            )
            numbers[k] = -float(text) if value[0] in "-−(" and text[0] != "-" else float(text)
    return numbers


def time_form(values: Sequence[str], dates: str | None) -> str | None:
    """The form of a column of times, "ymd", "dmy" or "mdy"; None if the values are not times.

    ValueError if day and month cannot be told apart, and ``dates`` does not settle it.
    """
    if sum(_YEAR.fullmatch(value) is not None for value in values) >= _MOST * len(values):
        return "ymd"
    found = [_DAY.fullmatch(value) for value in values]
    parts = [(int(one[1]), int(one[3])) for one in found if one is not None]
    if not parts or len(parts) < _MOST * len(values):
        return None
    first, second = (max(part) for part in zip(*parts, strict=True))
    forms = [form for form, month in (("dmy", second), ("mdy", first)) if month <= 12]
    if dates is not None and DATES[dates] in forms:
        return DATES[dates]
    if len(forms) > 1:
        raise ValueError(
            f"{values[0]!r} may begin with the day or with the month; say which with "
            "dates='dayfirst' or 'monthfirst' (--dates on the command line), or take the times for "
            "categories with categorical"
        )
    return forms[0] if forms else None


def are_times_of_day(values: Sequence[str]) -> bool:
    """Whether a column holds times of day alone, such as 09:30 or 23:59:59."""
    hits = sum(TIME_OF_DAY.fullmatch(value) is not None for value in values)
    return hits >= _MOST * len(values)


def seconds_of(values: Sequence[str], form: str) -> np.ndarray:
    """Seconds since 1970 parsed from texts, in UTC without a zone; NaN where a text is no time.

    The form "iso" is year first, or a time of day alone: its seconds since midnight.
    """
    return np.array([_seconds_of(value, form) for value in values], dtype=np.float64)


def _seconds_of(value: str, form: str) -> float:
    if form == "iso":
        if clock := TIME_OF_DAY.fullmatch(value):
            return 3600.0 * int(clock[1]) + 60.0 * int(clock[2]) + float(clock[3] or 0.0)
        form = "ymd"
    found = (_YEAR if form == "ymd" else _DAY).fullmatch(value)
    if found is None:
        return math.nan
    one, _, two, three, hour, minute, second, half, zone = found.groups()
    year, month, day = {
        "ymd": (one, two, three), "dmy": (three, two, one), "mdy": (three, one, two)
    }[form]  # fmt: skip
    if len(year) == 2:
        # from 1970 to 2069
        year = f"{19 if year >= '70' else 20}{year}"
    hours = int(hour or 0)
    if half is not None:
        hours = hours % 12 + (12 if half in "Pp" else 0)
    try:
        moment = datetime(int(year), int(month), int(day), hours, int(minute or 0), tzinfo=UTC)
    except ValueError:
        return math.nan
    return moment.timestamp() + float(second or 0.0) - _offset(zone)


def _offset(zone: str | None) -> float:
    if zone is None or zone in ("Z", "UTC"):
        return 0.0
    away = 3600.0 * int(zone[1:3]) + 60.0 * int(zone[-2:])
    return away if zone[0] == "+" else -away
