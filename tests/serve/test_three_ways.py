"""A file learned row by row, events taken live and a loop over `learn_one` make the same model."""

from __future__ import annotations

import json
from datetime import datetime
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onkel
from onkel import StreamModel
from onkel.algorithms import ALGORITHMS
from onkel.serve import LiveModel

YEARS = st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1))
COLUMNS = {
    "a": st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(-1000, 1000)),
    "b": st.one_of(st.none(), st.floats(-1.0, 1.0)),
    "place": st.one_of(st.none(), st.sampled_from(["red", " red ", "NA"]), st.text(max_size=3)),
    "when": st.one_of(st.none(), YEARS.map(datetime.isoformat)),
}
ROWS = st.lists(
    st.fixed_dictionaries({}, optional=COLUMNS).filter(bool), min_size=15, max_size=30
).map(lambda rows: [{**row, "b": row.get("b", 0.5)} for row in rows])


LEARNERS = [
    (name, task, {"speed": "fast"} if fast else {})
    for name, own in ALGORITHMS.items()
    for task, made in (("classification", own.classifier), ("regression", own.regressor))
    for fast in ((False, True) if name == "okl" else (False,))
    if made is not None
]
# Their matrices lose the most digits: where BLAS sums in another order, predictions show it.
SECOND_ORDER = [own for own in LEARNERS if own[0] in ("krls", "okl")]
NAMES = [f"{name} {' '.join(how.values())} {task}" for name, task, how in LEARNERS]


def labels(task, values):
    """Targets: numbers, or three classes, of which the last comes late."""
    if task == "regression":
        return values
    return [["low", "high", "far"][(v > 0.0) + (v > 2.5)] for v in values]


@cache
def base(name, task, fast):
    """The bytes of a model of a hundred rows, which has no gap and no other place."""
    rng = np.random.default_rng(0)
    rows = [
        {"a": a, "b": b, "place": ["red", "blue"][t % 2], "when": f"2024-05-{1 + t % 28:02d}"}
        for t, (a, b) in enumerate(rng.normal(size=(100, 2)).tolist())
    ]
    y = labels(task, [row["a"] + row["b"] for row in rows])
    learner = onkel.make(name, task, dtype="float64", **dict(fast))
    if "random_state" in learner.get_params():
        learner.set_params(random_state=0)
    model = StreamModel(learner, settings={"missing": "auto", "dtype": "float64"})
    model.partial_fit([{**row, "y": v} for row, v in zip(rows, y, strict=True)], target="y")
    return model.to_bytes()


def learned_of_file(content, path, **how):
    """A model that has learned a file, and what it predicted."""
    model = onkel.from_bytes(content)
    stream = model.open(path, **how)
    model.adopt(stream)
    return model, [value for block in stream for value in model.learn(block).tolist()]


def predicted_in_three_ways(content, events, path, **how):
    """What a loop, a live model and the file of the events predict: one model and one answer."""
    loop = onkel.from_bytes(content)
    looped = [
        loop.learn_one({k: v for k, v in event.items() if k != "y"}, event["y"]) for event in events
    ]

    live = LiveModel(onkel.from_bytes(content), say=pytest.fail, **how)
    answers = [live.take({"id": t, **event}) for t, event in enumerate(events)]
    assert [answer["prediction"] for answer in answers] == looped
    assert live.model.to_bytes() == loop.to_bytes()

    learned, of_file = learned_of_file(content, path, block_rows=1)
    assert of_file == looped
    assert learned.to_bytes() == loop.to_bytes()
    return looped


@pytest.mark.slow
@pytest.mark.parametrize(("name", "task", "how"), LEARNERS, ids=NAMES)
@settings(max_examples=2, deadline=None)
@given(rows=ROWS, seed=st.integers(0, 99))
def test_the_model_of_a_file_of_live_and_of_a_loop_is_one(
    tmp_path_factory, name, task, how, rows, seed
):
    content = base(name, task, tuple(how.items()))
    y = labels(task, np.random.default_rng(seed).normal(size=len(rows)).tolist())
    events = [{**row, "y": v} for row, v in zip(rows, y, strict=True)]
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events))

    predicted_in_three_ways(content, events, path)


@pytest.mark.parametrize(("name", "task", "how"), SECOND_ORDER, ids=str)
@settings(max_examples=4, deadline=None)
@given(rows=ROWS, seed=st.integers(0, 99))
def test_a_block_rounds_in_another_order_and_no_more(name, task, how, rows, seed):
    y = labels(task, np.random.default_rng(seed).normal(size=len(rows)).tolist())
    content = base(name, task, tuple(how.items()))
    loop, block = (onkel.from_bytes(content) for _ in range(2))
    looped = [loop.learn_one(row, v) for row, v in zip(rows, y, strict=True)]
    learned = block.predict_then_learn(rows, y).tolist()
    assert block.n_rows == loop.n_rows
    after = block.predict(rows).tolist(), loop.predict(rows).tolist()
    for made, expected in ((learned, looped), after):
        if task == "regression":
            expected = pytest.approx(expected, rel=1e-6, abs=1e-6)
        assert made == expected


def messy(n, growing, seed=1):
    """Rows with gaps, keys that lack, numbers far out, times and texts; from a row on new texts."""
    rng = np.random.default_rng(seed)
    rows = []
    for t in range(n):
        a, b = rng.normal(size=2).tolist()
        row = {"a": a if t % 50 else 1e3 * a, "b": b, "place": ["red", "blue"][t % 2]}
        row["when"] = f"20{10 + t % 30}-05-{1 + t % 28:02d}"
        if t >= growing and t % 40 == 7:
            row["place"] = rng.choice(["NA", " red ", f"place {t}", "", "1.5"]).item()
        for name in ("a", "place", "when"):
            chance = rng.uniform()
            if chance < 0.05:
                row[name] = None
            elif chance < 0.1:
                del row[name]
        rows.append(row)
    return rows, [row["b"] ** 2 - row["b"] + (row.get("place") == "red") for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "how"), [("pa", {}), ("krls", {}), ("okl", {"speed": "fast"})])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_thousands_of_messy_rows_make_one_model_and_blocks_move_digits(tmp_path, name, task, how):
    content = base(name, task, tuple(how.items()))
    usual = 2000
    rows, values = messy(3000, growing=usual)
    y = labels(task, values)
    events = [{**row, "y": v} for row, v in zip(rows, y, strict=True)]
    path, first = tmp_path / "rows.jsonl", tmp_path / "first.jsonl"
    lines = [json.dumps(event) + "\n" for event in events]
    path.write_text("".join(lines))
    first.write_text("".join(lines[:usual]))

    looped = predicted_in_three_ways(content, events, path, proba=False)

    _, in_blocks = learned_of_file(content, first)
    wanted = looped[:usual]
    if task == "regression":
        # numbers far out make the default's matrix nearly singular
        wanted = pytest.approx(wanted, rel=1e-9, abs=1e-3 if name == "okl" else 1e-9)
    assert in_blocks == wanted
