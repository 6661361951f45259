"""One column of a table, and the parts of it that become features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

KINDS = ("number", "flag", "time", "text", "empty")

# How the values of a text column are written, where the type does not show it: numbers with a
# decimal point or comma; times, by the order of year, month and day; text with so many values that
# none gets a feature of its own ("many"), or whose values share words, too ("words").
FORMS = ("", "point", "comma", "ymd", "dmy", "mdy", "many", "words")

# Parts of a column that are features. A number has its value. A text column has its code, which
# the target mean of the category replaces, and then part c for the value with code c.
VALUE = CODE = 0
# 1 where the value is missing
GAP = -1
# Of a number that is mostly one value: its code, which the target mean replaces.
EXACT = 1
# Of a text whose values share words: the codes of its words, from here on. The sum of their target
# means replaces these. The codes of its values, which are all hashed, are smaller.
WORDS = 2**17
TIME_PARTS = ("", "#hour_sin", "#hour_cos", "#weekday_sin", "#weekday_cos", "#year_sin",
              "#year_cos")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """One input column: its name, its kind, and how its values are read.

    ``origin``: subtracted from a number or from the seconds of a time. ``late``: it appeared in
    mid-stream, behind the other columns, and a table may lack it. ``form``: one of ``FORMS``.
    ``repeats``: a number that is mostly one value; each other value may be informative by itself.
    ``constant``: the one value of all first rows, "" if all are missing. Such a column is ``late``
    and has no feature before another value comes. None for any other column. A column of the kind
    "empty" has had no value so far, and its type does not tell its kind; its first value will.
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
        """The kind of its values in the table."""
        return "text" if self.form else self.kind


class Given(NamedTuple):
    """The values of one column: numbers, seconds, or indices into ``known``.

    -1 and NaN mean missing. ``absent``: mask of rows that lack the column; their features are 0.
    """

    values: np.ndarray
    known: Sequence[str] = ()
    absent: np.ndarray | None = None
