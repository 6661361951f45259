"""State that is declared once: what is saved, checked, loaded and counted."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from onkel.errors import ModelFileError
from onkel.fields import (
    Array,
    Column,
    Field,
    Fields,
    Flag,
    Group,
    Like,
    Listed,
    Named,
    Number,
    Text,
    Whole,
    inside,
    nbytes,
    require,
)
from onkel.state import Made, Part, Stateful


class Past(NamedTuple):
    values: np.ndarray
    places: np.ndarray


class Inner(Stateful):
    STATE: ClassVar[Fields] = {"sums": Array(shape=(2,), low=0.0)}

    def __init__(self):
        self.sums = np.zeros(2)


class Outer(Stateful):
    STATE: ClassVar[Fields] = {
        "rows_": Whole(),
        "width": Number(low=0.0),
        "kind": Text(among=("a", "b")),
        "fixed": Flag(),
        "names": Listed(Text(), "d"),
        "mean": Array(shape=("d",)),
        "late": Array(shape=("d",), optional=True),
        "past": Like({"places": (0, 2)}),
        "inner": Part(),
        "second": Part(lambda owner: Inner(), optional=True),
    }

    def __init__(self):
        self.rows_, self.width, self.kind, self.fixed = 0, 1.0, "a", False
        self.names, self.mean, self.late = ["x", "y"], np.zeros(2), None
        self.past = Past(np.zeros(3), np.zeros(3, np.int64))
        self.inner, self.second = Inner(), None
        self.doubled = 0.0

    def check_state(self, state, sizes):
        require(state["rows"] <= 100, f"rows: is {state['rows']}")

    def state_is_set(self):
        self.doubled = 2 * self.width


def learned():
    one = Outer()
    one.rows_, one.width, one.kind, one.fixed = 7, 2.5, "b", True
    one.mean[:], one.past.values[:], one.inner.sums[:] = 3.0, 4.0, 5.0
    one.late, one.second = np.ones(2), Inner()
    return one


def test_a_state_brings_everything_back():
    one, other = learned(), Outer()
    other.set_state(one.get_state())
    assert (other.rows_, other.width, other.kind, other.fixed) == (7, 2.5, "b", True)
    assert other.mean.tolist() == [3, 3]
    assert other.late.tolist() == [1, 1]
    assert other.past.values.tolist() == [4, 4, 4]
    assert isinstance(other.past, Past)
    assert other.inner.sums.tolist() == [5, 5]
    assert other.second.sums.tolist() == [0, 0]
    assert other.doubled == 5.0
    np.testing.assert_equal(other.get_state(), one.get_state())


def test_nothing_is_shared_with_a_state():
    one, other = learned(), Outer()
    other.set_state(one.get_state())
    other.mean[0] = other.past.values[0] = other.inner.sums[0] = 9.0
    assert one.mean[0] == 3.0
    assert one.past.values[0] == 4.0
    assert one.inner.sums[0] == 5.0


def test_what_is_none_is_left_out():
    state = Outer().get_state()
    assert "late" not in state
    assert "second" not in state
    other = learned()
    other.set_state(state)
    assert other.late is None
    assert other.second is None


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"rows": 1.5}, "rows: is float, not a whole number"),
        ({"rows": 101}, "rows: is 101"),
        ({"width": -1.0}, "width: is -1.0; it must be finite and at least 0"),
        ({"kind": "c"}, "kind: is 'c'; it must be one of 'a', 'b'"),
        ({"names": ["x"]}, "mean: has shape"),
        ({"mean": np.zeros(2, np.float32)}, "mean: has dtype float32, not float64"),
        ({"past": {"values": np.zeros(3)}}, "past/places: is missing"),
        ({"past": {"values": np.zeros(3), "places": np.array([0, 1, 3])}}, "past/places: holds"),
        ({"past": 3}, "past is int, not a group of fields"),
        ({"inner": {"sums": np.array([1.0, -1.0])}}, "inner/sums: holds numbers from -1"),
    ],
)
def test_a_damaged_state_is_refused_by_name(damage, message):
    with pytest.raises(ModelFileError, match=message):
        Outer().set_state({**learned().get_state(), **damage})


@pytest.mark.parametrize("name", ["rows", "mean", "past", "inner"])
def test_what_is_missing_is_named(name):
    state = learned().get_state()
    del state[name]
    with pytest.raises(ModelFileError, match=f"{name}: is missing"):
        Outer().set_state(state)


def test_errors_inside_of_groups_name_their_way():
    with pytest.raises(ModelFileError, match="model/inner/sums"), inside({"model": {}}, "model"):
        Outer().set_state({**learned().get_state(), "inner": {"sums": np.zeros(3)}})


def test_bytes_are_those_of_the_arrays():
    assert nbytes(Outer().get_state()) == 8 * (2 + 3 + 3 + 2)


class Rows(Stateful):
    """Rows that are there once they have come, with weights beside them."""

    STATE: ClassVar[Fields] = {
        "n": Whole(size="rows"),
        "loss": Number(low=0.0, finite=False),
        "X": Array(shape=("rows",), where="n"),
        "weight": Array(shape=("rows",), beside="X"),
    }

    def __init__(self, n=0):
        self.n, self.loss, self.X, self.weight = n, np.inf, np.zeros(n), np.ones(n)


def test_fields_that_are_not_there_stay_as_they_are():
    state = Rows().get_state()
    assert state == {"n": 0, "loss": np.inf}
    other = Rows(2)
    other.set_state(state)
    assert (other.n, len(other.X), len(other.weight)) == (0, 2, 2)


def test_fields_beside_each_other_come_together():
    state = Rows(2).get_state()
    assert list(state) == ["n", "loss", "X", "weight"]
    other = Rows()
    other.set_state(state)
    assert other.weight.tolist() == [1, 1]
    for name, missing in (("X", "X"), ("weight", "weight")):
        with pytest.raises(ModelFileError, match=f"^{missing}: is missing"):
            Rows().set_state({key: value for key, value in state.items() if key != name})


def test_a_whole_number_may_be_the_size_of_others():
    with pytest.raises(ModelFileError, match=r"X: has shape \(2,\), not \(3\)"):
        Rows().set_state({**Rows(2).get_state(), "n": 3})


@pytest.mark.parametrize("loss", [-1.0, np.nan, "1"])
def test_a_number_that_may_be_infinite_is_checked(loss):
    with pytest.raises(ModelFileError, match="loss: is"):
        Rows().set_state({**Rows(2).get_state(), "loss": loss})


class Span(NamedTuple):
    low: int
    name: str | None = None


class Given(Stateful):
    GIVEN: ClassVar[Fields] = {"width": Whole(low=1), "settings": Named(Field())}
    STATE: ClassVar[Fields] = {
        "table": Group(dict, {"a": Column(np.int64, ("n",)), "b": Column(shape=("n",))}),
        "span": Group(Span, {"low": Whole(), "name": Text(empty=True)}, where="span"),
        "inner": Part(begin=lambda _: Inner(), empty=True),
    }

    def __init__(self, width, settings):
        self.width, self.settings = width, settings
        self.table, self.span, self.inner = {"a": [1, 2], "b": [0.5, 1.5]}, (), None


@pytest.mark.parametrize("inner", [None, Inner()])
@pytest.mark.parametrize("span", [(), Span(3), Span(4, "x")])
def test_an_object_is_made_of_what_it_was_given_and_takes_the_rest(inner, span):
    one = Given(3, {"any": [1, "x"]})
    one.inner, one.span, one.table["a"] = inner, span, [5, 6]
    state = one.get_state()
    assert state["table"]["a"].dtype == np.int64
    assert ("span" in state) == bool(span)
    assert (state["inner"] is None) == (inner is None)
    other = Given.from_state(state)
    assert (other.width, other.settings, other.table) == (3, one.settings, one.table)
    assert type(other.table["a"][0]) is int
    assert (other.span, type(other.span)) == (span, type(span))
    assert (other.inner is None) == (inner is None)
    other.set_state({**state, "width": -1})  # it was given a width


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"width": 0}, "width: is 0"),
        ({"settings": []}, "settings: is a list"),
        ({"table": {"a": np.arange(2), "b": np.ones(3)}}, r"table/b: has shape \(3,\), not \(2\)"),
        ({"table": {"a": np.arange(2)}}, "table/b: is missing"),
        ({"span": None}, "span is nothing"),
        ({"span": {"low": 1, "name": 2}}, "span/name: is int, not a string"),
        ({"inner": 1}, "inner is int"),
        ({"inner": {"sums": -np.ones(2)}}, "inner/sums: holds numbers from -1.0"),
    ],
)
def test_what_is_damaged_in_a_group_or_was_given_is_named(damage, message):
    with pytest.raises(ModelFileError, match=message):
        Given.from_state(Given(3, {}).get_state() | damage)


def test_a_part_that_may_be_none_must_be_there():
    state = Given(3, {}).get_state()
    del state["inner"]
    with pytest.raises(ModelFileError, match="inner: is missing"):
        Given.from_state(state)


class Kept(Stateful):
    """Sums that stand among the owner's fields."""

    STATE: ClassVar[Fields] = {"kept": Array(shape=("n",))}

    def __init__(self):
        self.kept = np.zeros(0)


class Staged(Stateful):
    STATE: ClassVar[Fields] = {
        "inners": Part(lambda owner: (Inner() for _ in range(3)), each="inner"),
        "choice": Part(lambda owner: Inner(), optional=True),
        "of_choice": Part(lambda owner: Kept(), anew=True, among="kept", beside="choice"),
        "width": Array(shape=("d",), each="B"),
        "room": Array(shape=("slots", "d"), in_use={"slots": 2}),
    }

    def __init__(self, n=1):
        self.inners, self.choice, self.of_choice = [Inner() for _ in range(n)], None, Kept()
        self.width, self.room = np.ones(4), np.arange(12.0).reshape(3, 4)


def test_a_list_of_parts_comes_back_with_as_many_as_there_were():
    one, other = Staged(2), Staged(3)
    one.inners[1].sums[:] = 5.0
    state = one.get_state()
    assert set(state) == {"inner_0", "inner_1", "width", "room"}
    other.set_state(state)
    assert [inner.sums.tolist() for inner in other.inners] == [[0, 0], [5, 5]]
    more = {f"inner_{i}": Inner().get_state() for i in range(5)}
    other.set_state({**state, **more})
    assert len(other.inners) == 3
    with pytest.raises(ModelFileError, match=r"^inner_1/sums: has shape"):
        other.set_state({**state, "inner_1": {"sums": np.zeros(3)}})
    del state["inner_0"]
    with pytest.raises(ModelFileError, match=r"^inner_0: is missing"):
        other.set_state(state)


def test_a_part_beside_another_begins_anew_where_both_are_missing():
    one, other = Staged(), Staged()
    one.choice, one.of_choice.kept = Inner(), np.ones(2)
    other.set_state(one.get_state())
    assert other.of_choice.kept.tolist() == [1, 1]
    other.set_state(Staged().get_state())
    assert other.choice is None
    assert other.of_choice.kept.tolist() == []
    with pytest.raises(ModelFileError, match=r"^kept: is missing"):
        other.set_state(Staged().get_state() | {"choice": Inner().get_state()})


def test_one_array_or_one_for_each():
    state, other = Staged().get_state(), Staged()
    for width in (np.zeros(4), np.zeros((7, 4))):
        other.set_state({**state, "width": width})
        assert other.width.shape == width.shape
    with pytest.raises(ModelFileError, match=r"room: has shape \(2, 4\), not \(2, 3\)"):
        other.set_state({**state, "width": np.zeros((7, 3))})
    with pytest.raises(ModelFileError, match=r"width: has shape \(1, 7, 4\), not \(B, d\)"):
        other.set_state({**state, "width": np.zeros((1, 7, 4))})


def test_only_what_is_in_use_is_saved():
    assert Staged().get_state()["room"].tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


class Texts(Stateful):
    STATE: ClassVar[Fields] = {
        "words": Listed(Listed(Text(), None), None),
        "notes": Named(Field()),
    }

    def __init__(self):
        self.words, self.notes = [["a"], ["b"]], {"of": ["a"]}


def test_lists_inside_of_lists_are_copied_both_ways():
    one, other = Texts(), Texts()
    state = one.get_state()
    one.words[0].append("c")
    one.notes["of"].append("c")
    other.set_state(state)
    other.words[1].append("d")
    other.notes["of"].append("d")
    assert state == {"words": [["a"], ["b"]], "notes": {"of": ["a"]}}


class Owner(Stateful):
    STATE: ClassVar[Fields] = {"rows": Whole(), "inner": Made(Inner)}

    def __init__(self):
        self.rows, self.inner = 0, Inner()


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        ({"sums": np.array([1.0, -1.0])}, "inner/sums: holds numbers from -1"),
        (None, "inner: is no group of fields"),
    ],
)
def test_what_is_made_of_its_state_is_checked_before_anything_is_set(inner, message):
    owner = Owner()
    with pytest.raises(ModelFileError, match=message):
        owner.set_state({"rows": 3, "inner": inner})
    assert owner.rows == 0
    owner.set_state({"rows": 3, "inner": {"sums": np.ones(2)}})
    assert (owner.rows, owner.inner.sums.tolist()) == (3, [1, 1])
    assert owner.nbytes_of_state() == nbytes(owner.get_state()) == 16
