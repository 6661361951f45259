"""Columns that tell nothing about other rows: row numbers, names and ids."""

from __future__ import annotations

import re

import numpy as np

from onkel.columns.column import Column, Given

# A share of rows with a text of their own that makes it a name.
_UNIQUE = 0.95
_ID = re.compile(r"(^|[\W_])(id|uuid|guid)$|[a-z](Id|ID)$", re.IGNORECASE)


def why_useless(column: Column, given: Given) -> str | None:
    """Why a column is of no use to a learner, by its first rows; None if it may be.

    Parameters
    ----------
    column : Column
    given : Given
        The values of a hundred rows or more.
    """
    text = column.kind == "text"
    there = given.values >= 0 if text else np.isfinite(given.values)
    values = given.values[there]
    distinct = len(np.unique(values))
    if distinct < 2:
        # the next rows may tell it apart
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
