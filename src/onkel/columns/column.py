"""One column of a table, and the features it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

KINDS = ("number", "flag", "time", "text")

# How the values of a column are written, where that is not told by their type: numbers as text,
# with a decimal point or comma; times as text, in the order of year, month and day; text of so
# many values that none gets a feature of its own.
FORMS = ("", "point", "comma", "ymd", "dmy", "mdy", "many")

# Parts of a column that are features. A number has its value. A text column has its code, where
# the target's mean of a category takes its place, and then part c for the value with code c.
VALUE = CODE = 0
# 1 where the value is missing
GAP = -1
# Of a number that is mostly one value: its code, where the target's mean takes its place.
EXACT = 1
TIME_PARTS = ("", "#hour_sin", "#hour_cos", "#weekday_sin", "#weekday_cos", "#year_sin",
              "#year_cos")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """One input column: its name, its kind, and how its values are read.

    ``origin``: what is subtracted from a number or from the seconds of a time. ``late``: it came in
    mid-stream, after all that were there; it may be missing in a table. ``form``: one of ``FORMS``.
    ``repeats``: a number that is mostly one value; each of the others may say something by itself.
    ``constant``: what stood in all of the first rows, "" for nothing at all. Such a column is
    ``late`` and has no feature before another value comes; None is any other column.
    """

    name: str
    kind: str
    origin: float = 0.0
    late: bool = False
    form: str = ""
    repeats: bool = False
    constant: str | None = None

    @property
    def stored(self) -> str:
        """The kind that its values have in the table."""
        return "text" if self.form else self.kind


class Given(NamedTuple):
    """The values of one column: numbers, seconds, or which of ``known`` stands in each row.

    -1 and NaN are missing. ``absent``: rows that lack the column, which are 0.
    """

    values: np.ndarray
    known: Sequence[str] = ()
    absent: np.ndarray | None = None
