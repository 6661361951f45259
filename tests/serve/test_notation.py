"""JSON that says all of an event, also where msgspec or JSON itself would not."""

from __future__ import annotations

import datetime
import json
import math

import pytest

from onkel.columns.failures import shorten
from onkel.serve import notation

VALUES = [
    {"id": 1, "a": 1e-5, "b": [1, None, True, "ü"], "c": {}}, 2**70, -(2**64), -0.0, "\ud800",
    [math.inf, -math.inf], (1, 2), {1: 2}, None,
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_what_is_written_is_read_again(value):
    text, again = notation.exact(value)
    assert again == json.loads(json.dumps(value))
    assert repr(notation.decoded(text)) == repr(again)


def test_what_is_no_number_stays_none():
    text, again = notation.exact({"a": math.nan})
    assert math.isnan(again["a"])
    assert math.isnan(notation.decoded(text)["a"])


@pytest.mark.parametrize(
    ("text", "says"),
    [(b"nonsense", "is no JSON: Expecting value at character 1"),
     (b'{"a": 1', "is no JSON: Expecting ',' delimiter at character 8"),
     (b"[" * 100_000, "is nested too deeply")],
)  # fmt: skip
def test_what_is_no_json_says_where(text, says):
    with pytest.raises(ValueError, match=f"^{says}$"):
        notation.decoded(text)


@pytest.mark.parametrize("value", [{1, 2}, b"x", datetime.date(2024, 1, 1), object()])
def test_what_json_cannot_hold_is_refused(value):
    with pytest.raises(TypeError, match="events must be as JSON has them"):
        notation.exact([value])


def test_an_answer_is_json_whatever_it_holds():
    line = notation.encoded({"id": "\ud800", "prediction": math.nan, "interval": [-math.inf, 1.5]})
    assert json.loads(line) == {"id": "\ud800", "prediction": None, "interval": [None, 1.5]}
    assert notation.encoded({"prediction": math.inf}) == b'{"prediction":null}'


@pytest.mark.parametrize("nest", [lambda value: [value], lambda value: {"a": value}])
def test_what_is_nested_too_deeply_is_refused(nest):
    value = 1.0
    for _ in range(100):
        notation.require_flat({"id": 1, "a": value})
        value = nest(value)
    with pytest.raises(ValueError, match="'a': a value is nested more than 100 levels deep"):
        notation.require_flat({"id": 1, "a": [0, value], "b": 1})
    for _ in range(1000):
        value = nest(value)
    assert shorten(value).endswith("nested too deeply")
    with pytest.raises(TypeError, match="events must be as JSON has them"):
        notation.exact([value])


@pytest.mark.parametrize(
    ("text", "number"),
    [("5", 5), (" -2.5 ", -2.5), ("1e3", 1000.0), (".5", 0.5), ("7.", 7.0), ("9" * 5000, math.inf),
     ("1_000", None), ("１２", None), ("0x1", None), ("nan", None), ("", None), ("1 2", None)],
)  # fmt: skip
def test_numbers_have_ascii_digits(text, number):
    assert notation.number_in(text) == number
