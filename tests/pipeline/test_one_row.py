"""A dict is predicted and learned as the table of that one row is, to the last bit."""

from __future__ import annotations

import copy
import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onkel
from onkel import DataError, StreamModel
from onkel.columns.categories import slot, slots
from onkel.pipeline.one_row import OneRow
from onkel.pipeline.rows import Keys

START = datetime(2024, 3, 1)


def messy_rows(n, seed, gaps=0.05):
    """Rows of numbers, flags, times, texts, amounts and gaps; some columns come late."""
    rng = np.random.default_rng(seed)
    rows = []
    for t in range(n):
        row = {
            "x": float(rng.normal()),
            "far": 1e6 + float(rng.normal()),
            "count": int(rng.integers(0, 9)),
            "flag": bool(rng.integers(2)),
            "when": START + timedelta(hours=t),
            "written": (START + timedelta(hours=7 * t)).strftime("%d.%m.%Y %H:%M"),
            "iso": (START + timedelta(minutes=t)).isoformat(),
            "price": f"${rng.integers(1, 3000):,}.50",
            "few": str(rng.choice(["red", " green", "blue"])),
            "many": f"id {rng.integers(0, 10_000)}",
            "some": f"v{rng.integers(0, 70)}",
            "said": " ".join(f"Word{k}," for k in rng.integers(0, 30, rng.integers(0, 9))),
            "rare": float(rng.integers(1, 9) * (rng.random() < 0.1)),
            "same": "a" if t < 300 or rng.random() < 0.9 else "b",
            "none": None if t < 330 else 1.5,
        }
        if t > 320:
            row["late"] = float(t)
        for name in row:
            if rng.random() < gaps:
                row[name] = rng.choice([None, math.nan]) if name in ("x", "far") else None
            elif name in ("few", "many", "price", "said") and rng.random() < gaps:
                row[name] = "NA"
        rows.append(row)
    y = [("up" if (row["x"] or 0.0) > 0 else "down") for row in rows]
    return rows, y


def by_table(model):
    """The model without its look-ups: every row is read as a table."""
    model._one_row.features = lambda *args, **kwargs: None
    return model


def alike(a, b):
    """Whether two states are equal to the last bit."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(alike(a[name], b[name]) for name in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return a == b


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", ["pa", "krls"])
def test_rows_one_at_a_time_are_those_of_tables(name, task):
    rows, y = messy_rows(420, seed=1)
    if task == "regression":
        y = [float(t % 7) + (row["count"] or 0) for t, row in enumerate(rows)]
    make = {"n_components": 20} if name == "krls" else {}
    quick = StreamModel(onkel.make(name, task, **make))
    table = by_table(StreamModel(onkel.make(name, task, **make)))
    quick.partial_fit(rows[:300], y[:300])
    table.partial_fit(rows[:300], y[:300])
    by_lookups = 0
    for row, value in zip(rows[300:], y[300:], strict=True):
        if "late" in row and "late" not in quick.encoder.kinds:
            encoder = copy.deepcopy(quick.encoder)
            assert OneRow().features(row, encoder, quick.settings, learn=True) is None
        assert alike(quick.predict(row), table.predict(row))
        before = quick._one_row.features(copy.deepcopy(row), quick.encoder, quick.settings)
        by_lookups += before is not None
        predicted = quick.predict_then_learn(row, [value])
        assert alike(predicted, table.predict_then_learn(row, [value]))
    assert by_lookups > 80
    assert alike(quick.get_state(), table.get_state())


@pytest.mark.parametrize("seed", range(3))
def test_short_lists_are_those_of_tables(seed):
    """Lists of 1 to 9 rows; `pa` learns the same whatever the cuts, so the states are equal."""
    rows, y = messy_rows(500, seed)
    quick = StreamModel(onkel.make("pa"))
    quick.partial_fit(rows[:350], y[:350])
    table = by_table(copy.deepcopy(quick))
    whole = copy.deepcopy(quick).partial_fit(rows[350:], y[350:])
    cuts, start, by_lookups = np.random.default_rng(seed), 350, 0
    while start < len(rows):
        part = slice(start, start := min(start + int(cuts.integers(1, 10)), len(rows)))
        assert alike(quick.predict(rows[part]), table.predict(rows[part]))
        by_lookups += (
            OneRow().block(rows[part], y[part], copy.deepcopy(quick.encoder), quick.settings)
            is not None
        )
        predicted = quick.predict_then_learn(rows[part], y[part])
        assert alike(predicted, table.predict_then_learn(rows[part], y[part]))
    assert by_lookups > 10
    assert alike(quick.get_state(), table.get_state())
    assert alike(quick.estimator.get_state(), whole.estimator.get_state())


def test_a_list_that_a_table_must_read_leaves_no_trace(models):
    model = copy.deepcopy(models[0])
    encoder, last = model.encoder, models[2]
    before = copy.deepcopy(encoder.get_state())
    rows = [{**last, "few": None}, {**last, "x": "no number"}]
    assert OneRow().block(rows, ["up", "up"], encoder, model.settings) is None
    assert alike(before, encoder.get_state())
    for y in (["up"], ["up", 1], ["up", None], [0.5, math.nan]):
        assert OneRow().block([last, last], y, encoder, model.settings) is None


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4),
    st.sampled_from(["red", " red ", "NA", "", "2024-03-01", "$3.50", "v3", 3, 0.0, -0.0, 1e300]),
    st.datetimes(), st.just(datetime(2024, 3, 1, tzinfo=UTC)), st.just(np.float64(0.5)),
    st.just(np.float32(0.1)), st.just(np.int64(3)), st.just(b"red"), st.just("\ud800"),
)  # fmt: skip


@pytest.fixture(scope="module")
def models():
    """Models of 350 messy rows."""
    rows, y = messy_rows(350, seed=2)
    model = StreamModel(onkel.make("pa")).partial_fit(rows, y)
    return model, by_table(copy.deepcopy(model)), rows[-1]


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(data=st.data())
def test_any_values_are_read_as_in_a_table_or_left_to_it(models, data):
    model, table, last = models
    row = dict(last)
    for name in data.draw(st.lists(st.sampled_from(sorted(last)), max_size=4)):
        row[name] = data.draw(VALUES)
    for name in data.draw(st.lists(st.sampled_from(sorted(last)), max_size=3)):
        row.pop(name, None)
    row |= data.draw(st.dictionaries(st.sampled_from(["new", "x ", 3, None]), VALUES, max_size=1))
    found = model._one_row.features(row, model.encoder, model.settings)
    if found is not None:
        stream = onkel.pipeline.rows.open_to_predict(row, table.encoder, table.settings)
        (block,) = stream
        assert alike(found, np.asarray(block.X))
    encoder = copy.deepcopy(model.encoder)
    learned = OneRow().features(row, encoder, model.settings, learn=True)
    if learned is not None:
        stream = table.open(row, ["up"])
        (block,) = stream
        assert alike(learned, np.asarray(block.X))
        assert alike(encoder.get_state(), stream.encoder.get_state())


def test_a_refused_row_changes_nothing(models):
    model = copy.deepcopy(models[0])
    before = model.get_state()
    row = {**models[2], "few": None}
    encoder = copy.deepcopy(model.encoder)
    assert OneRow().features(row, encoder, model.settings, learn=True) is not None
    with pytest.raises(DataError, match="label"):
        model.partial_fit(row, [3])
    assert alike(before, model.get_state())
    with pytest.raises(DataError, match="another"):
        model.set_params(extra="error").predict({**models[2], "another": 1})


def test_rows_with_keys_too_few_or_too_many_are_read_by_lookups(models):
    model, _, last = models
    encoder, settings = copy.deepcopy(model.encoder), model.settings
    # the first gap of a column is a new feature, and changes the columns
    seen = [name for name in last if name not in ("late", "when")]
    for name in seen:
        short = {key: value for key, value in last.items() if key != name}
        gap = OneRow().features({**last, name: None}, encoder, settings)
        assert alike(OneRow().features({**short, "new": object()}, encoder, settings), gap)
    short.pop("x")
    assert OneRow().features(short, encoder, settings, learn=True) is not None
    assert OneRow().features({"new": 1}, encoder, settings) is None
    for keys in (Keys("error", None), Keys(None, "error")):
        row = {**last, "new": 1} if keys.extra else short
        assert OneRow().features(row, encoder, settings, keys) is None


def test_the_slot_of_one_value_is_that_of_many():
    values = ["", "a", "a1", "a2", "é", "\ud800", "x" * 99]
    seed_of = onkel.columns.categories.Categories("city", 0, 77)
    assert [slot(v, seed_of._seed, 77) for v in values] == slots(values, "city", 77).tolist()


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_methods_for_one_row_are_those_for_rows(task):
    rows, labels = messy_rows(330, seed=4)
    y = labels if task == "classification" else [float(t % 5) for t in range(330)]
    model = StreamModel(onkel.make("krls", task, n_components=20)).partial_fit(rows[:300], y[:300])
    other = copy.deepcopy(model)
    for row, value in zip(rows[300:], y[300:], strict=True):
        label = model.predict_one(row)
        assert type(label) is type(value)
        assert [label] == other.predict(row).tolist()
        if task == "classification":
            shares = model.predict_proba_one(row)
            assert list(shares) == ["down", "up"]
            assert list(shares.values()) == other.predict_proba(row)[0].tolist()
        assert [model.learn_one(row, value)] == other.predict_then_learn([row], [value]).tolist()
    assert alike(model.get_state(), other.get_state())


def test_a_row_that_holds_its_target_is_learned_by_name():
    rows = [{"x": float(t % 7), "y": float(t % 7 > 3)} for t in range(40)]
    model = StreamModel(onkel.make("krls", "regression")).partial_fit(rows[:30], target="y")
    for row in rows[30:]:
        assert isinstance(model.learn_one(row), float)
    assert model.n_rows == 40
    assert model.learn_one({"x": 1.0, "y": None}) is None
    assert model.n_rows == 40


def test_a_list_with_a_bad_label_is_learned_up_to_it_by_the_columns_too():
    rows, _ = messy_rows(380, seed=7)
    y = [float(t % 5) for t in range(380)]
    model = StreamModel(onkel.make("pa", "regression"), scale_target=False)
    model.partial_fit(rows[:300], y[:300])
    # the block is read by look-ups
    row = dict(rows[299], few=None)
    part, whole = copy.deepcopy(model), copy.deepcopy(model)
    with pytest.raises(DataError, match="too large"):
        part.partial_fit([row] * 9, [*y[:5], 1e30, *y[5:8]])
    whole.partial_fit([row] * 5, y[:5])
    assert alike(part.encoder.get_state(), whole.encoder.get_state())
    assert alike(part.get_state(), whole.get_state())
