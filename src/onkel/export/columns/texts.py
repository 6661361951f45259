"""Columns of text: a table with a row of features for each value."""

from __future__ import annotations

import numpy as np

from onkel.columns.column import CODE, Column
from onkel.columns.encoding import Encoder
from onkel.columns.kinds.categories import NOTHING, Categories
from onkel.columns.kinds.gaps import GAPS
from onkel.errors import ExportError
from onkel.export.columns.block import Block
from onkel.export.functions import pick
from onkel.export.graph import ML, Value


def text(
    encoder: Encoder, k: int, x: Value, missing: str, dtype: np.dtype, means: np.ndarray | None
) -> Block:
    """The features of a text, of type ``dtype``.

    ``means`` (codes, J): the statistics of each code, where they stand for it.
    """
    own = encoder.layout.categories[k]
    _refuse_hashed(encoder.columns[k], own, means)
    # row 0 is for values never learned from, the last for those that are missing and refused
    table, places = _indicators(encoder, k)
    if means is not None:
        learned = np.zeros((len(table), means.shape[1]))
        known = means[: len(own.codes) + 1]
        learned[: len(known)] = known
        table = np.hstack([table, learned])
        places += [(encoder.layout.get(k, CODE), i) for i in range(means.shape[1])]
    table[-1] = np.nan
    gap = _row_of_gap(encoder.columns[k], own, missing)
    return Block(pick(table.astype(dtype), _rows(encoder, own, x, gap)), places)


def _indicators(encoder: Encoder, k: int) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """1 in the row of each code that has a feature, (codes + 2, features); the features."""
    codes = encoder.layout.categories[k].codes.values()
    found = [(encoder.layout.get(k, code), code) for code in codes]
    found = [(j, code) for j, code in found if j >= 0]
    table = np.zeros((len(codes) + 2, len(found)))
    for i, (_, code) in enumerate(found):
        table[code, i] = 1.0
    return table, [(j, 0) for j, _ in found]


def _row_of_gap(column: Column, own: Categories, missing: str) -> int:
    """The table's row for what is missing."""
    if not column.late and missing in ("error", "skip"):
        return len(own.codes) + 1
    return own.codes.get(NOTHING, 0) if missing == "auto" and not column.late else 0


def _rows(encoder: Encoder, own: Categories, x: Value, gap: int) -> Value:
    """The row of each text in the column's table, (n,)."""
    rows = own.codes | dict.fromkeys([*sorted(GAPS), *encoder.na_values], gap)
    return x.graph.node(
        "LabelEncoder",
        x.shaped(-1),
        domain=ML,
        dtype=np.int64,
        keys_strings=list(rows),
        values_int64s=list(rows.values()),
        default_int64=0,
    )


def _refuse_hashed(column: Column, own: Categories, means: np.ndarray | None) -> None:
    """ExportError where values that share a feature by a hash may count."""
    if not own.hashes or (means is not None and not means[own.room + 1 :].any()):
        return
    what, remedy = f"has more than {own.room} values, and the others", "with a larger"
    if column.form == "many":
        what, remedy = "holds texts that nearly all differ, and they", ""
    elif len(own.codes) < own.room:
        what, remedy = "had no value in the first rows, and its values", ""
    remedy += " max_categories (--max-categories), or " if remedy else ""
    raise ExportError(
        f"column {column.name!r} {what} share features by a hash, which ONNX lacks: learn {remedy}"
        "without the column (exclude, --exclude)"
    )
