"""Columns that tell nothing about other rows: row numbers, names, ids, and constants."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from onkel.columns.column import Column, Given

# A text column is useless if more than this share of its values are distinct.
_UNIQUE = 0.95
_ID = re.compile(r"(^|[\W_])(id|uuid|guid)$|[a-z](Id|ID)$", re.IGNORECASE)


def if_constant(column: Column, given: Given) -> Column:
    """The column; if all first rows have the same value, made to wait for another one.

    A gap counts as a value: a column with one value and gaps is not constant.
    """
    text = column.kind == "text"
    there = given.values >= 0 if text else np.isfinite(given.values)
    values = np.unique(given.values[there])
    if column.kind == "time" or len(values) > 1 or (len(values) and not there.all()):
        return column
    waiting = replace(column, late=True, repeats=False, constant="")
    if not len(values):
        return waiting
    if text:
        return replace(waiting, constant=given.known[int(values[0])])
    return replace(waiting, origin=float(values[0]), constant=f"{values[0]:.12g}")


def why_useless(column: Column, given: Given) -> str | None:
    """Why a column is useless to a learner, judged by its first rows; None if it may be useful.

    Parameters
    ----------
    column : Column
    given : Given
        The values of 100 rows or more.
    """
    text = column.kind == "text"
    there = given.values >= 0 if text else np.isfinite(given.values)
    values = given.values[there]
    distinct = len(np.unique(values))
    if distinct < 2:
        return None
    if text:
        return "has a value of its own in nearly every row" if distinct > _UNIQUE * len(values) \
            else None  # fmt: skip
    if column.kind != "number" or not there.all() or distinct < len(values):
        return None
    if bool((np.diff(values) == 1.0).all()):
        return "counts the rows"
    whole = bool((values == np.rint(values)).all())
    return "is an id" if whole and _ID.search(column.name) else None
