"""Rows that wait for their labels, as a file holds them: by columns, each an array where it can be.

A save comes between two rows, so it has to be short: 40,000 rows of ten numbers are ten arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from onkel.fields import (
    Array,
    Field,
    Listed,
    Number,
    Sizes,
    State,
    Text,
    Whole,
    check,
    require,
)
from onkel.intervals.feedback import LEVELS, UNKNOWN_WAY, SetsThen
from onkel.pipeline.packed_values import PIECE, Plain, Values, cells, joined, packed_piece, unpacked


class Ways(Field):
    """How bounds around each prediction were made, in one array; inf where that is not known."""

    def check(self, value: Any, sizes: Sizes) -> str | None:
        return Array(shape=("rows", len(UNKNOWN_WAY)), finite=False).check(value, sizes)

    def saved(self, value: Sequence[np.ndarray | None]) -> np.ndarray:
        known = [UNKNOWN_WAY if way is None else way for way in value]
        return np.concatenate([known[a : a + PIECE] for a in range(0, len(known), PIECE)])

    def loaded(self, value: np.ndarray) -> list[np.ndarray | None]:
        return list(np.array(value))


# what stands for a class that was not known when a row came
_NO_CLASS = 255


class Sets(Field):
    """What was known of the classes of each row; ``learned`` is -1 where nothing was."""

    def check(self, value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, dict) or value.keys() != {"learned", "best", "outside"}:
            return "is no group of learned, best and outside"
        known = Array(np.uint8, ("rows", "known"))
        wrong = known.check(value["outside"], sizes)
        for name in ("learned", "best"):
            wrong = wrong or Array(np.int64, ("rows",), low=-1).check(value[name], sizes)
        if wrong is not None:
            return wrong
        n = np.sum(value["outside"] != _NO_CLASS, axis=1)
        fine = np.all(value["outside"][value["outside"] != _NO_CLASS] <= len(LEVELS))
        fine &= bool(np.all(value["best"] < np.maximum(n, 1)))
        return None if fine else "holds a class that is not known"

    def saved(self, value: Sequence[SetsThen | None]) -> State:
        known = [SetsThen(-1, 0, b"") if own is None else own for own in value]
        outside = np.full((len(known), max(len(own.outside) for own in known)), _NO_CLASS, np.uint8)
        for row, own in zip(outside, known, strict=True):
            row[: len(own.outside)] = np.frombuffer(own.outside, np.uint8)
        return {
            "learned": np.array([own.learned for own in known], np.int64),
            "best": np.array([own.best for own in known], np.int64),
            "outside": outside,
        }

    def loaded(self, value: State) -> list[SetsThen | None]:
        outside = [own[own != _NO_CLASS].tobytes() for own in value["outside"]]
        rows = zip(value["learned"].tolist(), value["best"].tolist(), outside, strict=True)
        return [None if row[0] < 0 else SetsThen(*row) for row in rows]


class Rows(Field):
    """Rows (:func:`rows_state`), which are read before the other fields (:func:`rows_of`)."""

    def saved(self, value: list[Any]) -> State:
        return rows_state(value)

    def loaded(self, value: list[Any]) -> list[Any]:
        return value


def rows_state(xs: list[Any]) -> State:
    """Rows that are all dicts, or all arrays or CSR matrices of one row.

    Rows with the same names are of one form. A column has the values of the rows whose form names
    it.

    Raises
    ------
    TypeError
        Only some rows have names, or a value cannot be written.
    """
    named = sum(1 for x in xs if isinstance(x, Mapping))
    if 0 < named < len(xs):
        raise TypeError("some of the rows that wait are dicts and some arrays: a file holds either")
    if xs and not named:
        return _features(xs)
    forms: dict[tuple[str, ...], int] = {}
    form, columns = list[int](), dict[str, list[np.ndarray | list[Any]]]()
    for a in range(0, len(xs), PIECE):
        piece = xs[a : a + PIECE]
        keys = list(map(tuple, piece))
        numbers = {own: forms.setdefault(tuple(map(str, own)), len(forms))
                   for own in dict.fromkeys(keys)}  # fmt: skip
        form += [numbers[own] for own in keys]
        for name, held in _by_name(piece, list(numbers)).items():
            columns.setdefault(name, []).append(packed_piece(cells(held), f"column {name!r}"))
    return {
        "forms": [list(names) for names in forms],
        "form": np.array(form, np.int64),
        "columns": [joined(pieces) for pieces in columns.values()],
    }


def _by_name(rows: list[Any], forms: list[tuple[Any, ...]]) -> Mapping[str, Sequence[Any]]:
    """The values of each column, of the rows that have it; ``forms``: the names that rows have."""
    if len(forms) == 1:
        # the usual case, and faster
        held = zip(*(x.values() for x in rows), strict=True)
        return dict(zip(map(str, forms[0]), held, strict=True))
    columns: dict[str, list[Any]] = {}
    for x in rows:
        for name, value in x.items():
            columns.setdefault(str(name), []).append(value)
    return columns


def rows_of(state: State, n: int) -> list[Any]:
    """The n rows of :func:`rows_state`; a damaged state is refused."""
    if "forms" not in state:
        return _matrix_rows(state, n)
    check(state, {"forms": Listed(Listed(Text(), None), "forms")})
    forms, columns = state["forms"], state.get("columns")
    check(state, {"form": Array(np.int64, ("rows",), low=0, high=len(forms) - 1)}, rows=n)
    names = list(dict.fromkeys(name for names in forms for name in names))
    fits = isinstance(columns, list) and len(columns) == len(names)
    require(fits, f"columns: must be {len(names)}, one for each name")
    count = np.bincount(state["form"], minlength=len(forms))
    values = {}
    for name, column in zip(names, columns or [], strict=True):
        held = int(sum(c for c, form in zip(count, forms, strict=True) if name in form))
        wrong = Values("rows").check(column, {"rows": held})
        require(wrong is None, f"columns: {name!r} {wrong}")
        values[name] = iter(unpacked(column))
    return [{name: next(values[name]) for name in forms[k]} for k in state["form"].tolist()]


def by_columns(state: State) -> State:
    """The state of an earlier file, which had lists of names and values, as it is written now."""
    if "names" not in state:
        return state
    check(state, _BY_ROWS)
    pairs = list(zip(state["names"], state["values"], strict=True))
    fits = all(len(names) == len(values) for names, values in pairs)
    require(fits, "values: must be as many as the names, in every row")
    rows = [dict(zip(names, unpacked(values), strict=True)) for names, values in pairs]
    due = [np.inf if due is None else due for due in state["due"]]
    return {
        **state,
        "due": np.array(due, np.float64),
        "starts": np.array(state["starts"], np.int64),
        "late": np.array(state["late"], np.int64),
        **({} if "widths" in state else rows_state(rows)),
    }


_BY_ROWS: dict[str, Field] = {
    "names": Listed(Listed(Text(), None), "named"),
    "values": Listed(Listed(Plain(), None), "named"),
    "due": Listed(Number(empty=True), "rows"),
    "starts": Listed(Whole(), "rows"),
    "late": Listed(Whole(), "rows"),
}


def _features(xs: list[Any]) -> State:
    """All rows in one matrix; rows that came before a new column did get zeros there."""
    widths = [int(x.shape[1]) for x in xs]
    most = max(widths)
    if not sparse.issparse(xs[0]):
        X = np.concatenate([np.pad(x, ((0, 0), (0, most - x.shape[1]))) for x in xs])
        return {"X": X, "widths": widths}
    parts = [sparse.csr_array((x.data, x.indices, x.indptr), (1, most)) for x in xs]
    X = sparse.csr_array(sparse.vstack(parts))
    return {"widths": widths, "data": X.data, "indices": X.indices, "indptr": X.indptr}


def _matrix_rows(state: State, n: int) -> list[Any]:
    """The rows (1, d) of :func:`_features`."""
    check(state, {"widths": Listed(Whole(low=0), "rows")}, rows=n)
    widths = state["widths"]
    X = state.get("X")
    if "data" in state:
        try:
            parts = state["data"], state["indices"], state["indptr"]
            X = sparse.csr_matrix(parts, (n, max(widths)))
            X.check_format()
        except (KeyError, TypeError, ValueError, IndexError) as error:
            require(False, f"data: is no matrix of these rows ({error})")
        assert X is not None
        return [X[i : i + 1, :d] for i, d in enumerate(widths)]
    right = isinstance(X, np.ndarray) and X.shape == (n, max(widths))
    require(right, f"X: must be {n} rows of {max(widths)} numbers")
    assert X is not None
    return [np.ascontiguousarray(X[i : i + 1, :d]) for i, d in enumerate(widths)]
