"""Rows that wait go to a file by columns, and come back as they were."""

from __future__ import annotations

import json
from datetime import date, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onkel.errors import ModelFileError
from onkel.persistence.contents import flatten, unflatten
from onkel.pipeline import packed_values, waiting_state
from onkel.pipeline.packed_values import packed, unpacked
from onkel.pipeline.waiting_state import rows_of, rows_state

VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.dates()
    | st.datetimes()
)
ROWS = st.lists(st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4), max_size=8)


def from_file(state):
    """What a file of a state holds."""
    tree, arrays = flatten(state)
    return unflatten(json.loads(json.dumps(tree)), arrays)


@settings(deadline=None)
@given(ROWS)
def test_rows_come_back_with_the_same_values_of_the_same_types(rows):
    back = rows_of(from_file(rows_state(rows)), len(rows))
    assert back == rows
    assert [[*map(type, x.values())] for x in back] == [[*map(type, x.values())] for x in rows]
    assert [list(x) for x in back] == [list(x) for x in rows]


@settings(deadline=None)
@given(ROWS, st.sampled_from([1, 2, 3]))
def test_pieces_give_what_all_rows_give_at_once(rows, piece):
    """What is read at a time changes nothing: neither types, nor bytes, nor the order."""
    whole, flat = rows_state(rows), packed([x.get("a") for x in rows], "a")
    before = waiting_state.PIECE
    packed_values.PIECE = waiting_state.PIECE = piece
    try:
        cut, flat_cut = rows_state(rows), packed([x.get("a") for x in rows], "a")
    finally:
        packed_values.PIECE = waiting_state.PIECE = before
    for found, wanted in ((cut, whole), ({"": flat_cut}, {"": flat})):
        (tree, arrays), (expected, others) = flatten(found), flatten(wanted)
        assert repr(tree) == repr(expected)
        assert {k: (v.dtype, v.tobytes()) for k, v in arrays.items()} == {
            k: (v.dtype, v.tobytes()) for k, v in others.items()
        }


def test_a_column_of_numbers_is_an_array_and_a_gap_is_nan_there():
    column = packed([1.5, None, float("nan")], "x")
    assert column.dtype == np.float64
    assert unpacked(column) == [1.5, None, None]
    assert packed([3, 2**62], "x").dtype == np.int64
    assert unpacked(packed([True, 1, 1.0], "x")) == [True, 1, 1.0]
    assert unpacked(packed([np.float32(0.5), np.int8(3)], "x")) == [0.5, 3]
    moments = [date(2026, 1, 2), datetime(2026, 1, 2, 3), np.datetime64("2026-01-02T03:00")]
    assert unpacked(packed(moments, "x")) == [moments[0], moments[1], datetime(2026, 1, 2, 3)]


def test_a_value_that_a_file_cannot_hold_is_named():
    with pytest.raises(TypeError, match="column 'a': object cannot be written"):
        rows_state([{"a": object()}])


@pytest.mark.parametrize(
    ("field", "damaged", "message"),
    [
        ("forms", [["a"], [3]], "forms: holds an entry"),
        ("form", np.array([0, 2]), "form: holds numbers from 0 to 2"),
        ("form", np.array([0]), "form: has shape"),
        ("columns", [np.zeros(2)], "columns: must be 2"),
        ("columns", [np.zeros(3), np.zeros(1)], "columns: 'a'"),
        ("columns", [np.zeros((2, 1)), np.zeros(1)], "columns: 'a'"),
        ("columns", [["x", ["y"]], np.zeros(1)], "columns: 'a'"),
    ],
)
def test_a_damaged_state_is_refused(field, damaged, message):
    state = rows_state([{"a": 1.0}, {"a": 2.0, "b": 3.0}])
    with pytest.raises(ModelFileError, match=message):
        rows_of(state | {field: damaged}, 2)
