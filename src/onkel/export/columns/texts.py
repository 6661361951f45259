"""Columns of text: a table with a row of features for each value."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from onkel.columns.categories import NOTHING, Categories
from onkel.columns.column import CODE, Column
from onkel.columns.encoding import Encoder
from onkel.columns.notation import GAPS
from onkel.errors import ExportError
from onkel.export.columns.block import Block, Place, statistics_of
from onkel.export.functions import looked_up, pick
from onkel.export.graph import Value


def text(
    encoder: Encoder,
    k: int,
    x: Value,
    missing: str,
    dtype: np.dtype,
    means: np.ndarray | None,
    values: Collection[str] | None,
) -> Block:
    """The features of a text, of type ``dtype``.

    ``means`` (codes, J): the statistics of each code, if there are any. ``values``: texts to
    expect, where some share features by a hash.
    """
    own, column = encoder.layout.categories[k], encoder.columns[k]
    if values is None:
        _refuse_hashed(column, own, means)
    code_of = _codes(own, values or ())
    # row 0 is for values never learned from, the last one for gaps that are refused
    codes = [0, *dict.fromkeys(code for code in code_of.values() if code)]
    table, places = _features(encoder, k, codes, means)
    row_of = {code: row for row, code in enumerate(codes)}
    rows = {value: row_of[code] for value, code in code_of.items()}
    gap = _row_of_gap(column, missing, rows, len(codes))
    constant = [column.constant] if column.constant else []
    rows |= dict.fromkeys([*sorted(GAPS), *encoder.na_values, *constant], gap)
    return Block(pick(table.astype(dtype), looked_up(x, rows)), places)


def _codes(own: Categories, values: Collection[str]) -> dict[str, int]:
    """The code of each value: those that have one of their own, then the others."""
    others = [NOTHING, *(value.strip() for value in values)]
    return own.codes | dict(zip(others, own.of(others).tolist(), strict=True))


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


def _row_of_gap(column: Column, missing: str, rows: dict[str, int], refused: int) -> int:
    """The table's row for a missing value."""
    if not column.late and missing in ("error", "skip"):
        return refused
    return rows[NOTHING] if missing == "auto" and not column.late else 0


def _refuse_hashed(column: Column, own: Categories, means: np.ndarray | None) -> None:
    """Raise ExportError if values that share a feature by a hash may matter."""
    if not own.hashes or (means is not None and not means[own.room + 1 :].any()):
        return
    what = f"has more than {own.room} values, and the others"
    anew = "with a larger max_categories, or without the column"
    if column.form == "many":
        what, anew = "holds texts that nearly all differ, and they", "without the column"
    elif len(own.codes) < own.room:
        what, anew = "had no value in the first rows, and its values", "without the column"
    raise ExportError(
        f"column {column.name!r} {what} share features by a hash, which ONNX lacks: say which "
        f"values may come, values={{{column.name!r}: [...]}} (--values SOURCE on the command "
        f"line), or learn {anew}"
    )
