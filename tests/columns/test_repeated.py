"""Numbers that are mostly one value: codes for the others, replaced by target means."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from onkel.columns.categories import ROOM, Repeated, is_mostly_one
from onkel.errors import ModelFileError
from onkel.learners import OnlineKernelClassifier
from onkel.pipeline import StreamModel
from onkel.streams import Encoder, open_stream

AMOUNTS = np.array([2174.0, 3103.0, 4386.0, 5013.0, 5178.0, 6849.0, 7298.0, 7688.0, 15024.0])


def taxes(n=4000, seed=0):
    """Most rows have no gain; the target depends on the exact amount of a gain."""
    rng = np.random.default_rng(seed)
    which = rng.integers(0, len(AMOUNTS), n)
    gain = np.where(rng.random(n) < 0.9, 0.0, AMOUNTS[which])
    likely = np.where(gain == 0.0, 0.2, np.where(which % 2 == 0, 0.97, 0.03))
    age = rng.normal(40.0, 12.0, n)
    y = np.array(["low", "high"])[(rng.random(n) < likely).astype(int)]
    return pa.table({"age": age, "gain": gain, "y": y})


def test_which_columns_are_mostly_one_number():
    few = np.zeros(100)
    few[:4] = [1.0, 2.0, 3.0, 4.0]
    assert is_mostly_one(few)
    few[3] = 3.0
    assert not is_mostly_one(few)  # only four different numbers
    assert not is_mostly_one(np.arange(100) % 5)
    columns = open_stream(taxes(), target="y", statistics=True).encoder.columns
    assert [column.repeats for column in columns] == [False, True]


def test_a_table_of_counts_is_left_as_it_is():
    rng = np.random.default_rng(0)
    counts = {f"c{j}": np.where(rng.random(400) < 0.1, rng.random(400), 0.0) for j in range(9)}
    encoder = open_stream(pa.table(counts), statistics=True).encoder
    assert not any(column.repeats for column in encoder.columns)
    del counts["c0"]
    encoder = open_stream(pa.table(counts), statistics=True).encoder
    assert all(column.repeats for column in encoder.columns)


@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_codes_come_in_order_of_appearance_whatever_the_blocks(cut):
    codes, values = Repeated(), np.array([5.0, -0.0, np.nan, 0.1, 5.0, np.inf, 1e300, 7.0])
    found = []
    for start in range(0, len(values), cut):
        codes.take(values[start : start + cut])
        found += codes.of(values[start : start + cut]).tolist()
    assert found == [1, 2, 0, 3, 1, 0, 0, 4]
    # a 0 has no sign, also where it is shown
    assert str(codes.values[1]) == "0.0"
    assert codes.of(np.array([0.1, 0.0, 8.0], dtype=np.float32)).tolist() == [3, 2, 0]
    codes.take(np.arange(10.0, 3000.0))
    assert len(codes.values) == ROOM
    assert codes.of(np.array([2999.0])).tolist() == [0]


def test_the_mean_of_an_amount_is_that_of_the_rows_before():
    table = taxes(600)
    stream = open_stream(table, target="y", statistics=True, block_rows=50)
    model = StreamModel(
        OnlineKernelClassifier(speed="fast"), scaling="none", encoder=stream.encoder
    )
    assert stream.encoder.feature_names == ["age", "gain", "gain: target"]
    rows = [s.X for block in stream for s in model._inputs.learn(block.X, block.y, 0)]
    gains = np.concatenate([X[:, 2] for X in rows])
    gain, y = table["gain"].to_numpy(), np.array(table["y"]) == "high"
    classes = list(dict.fromkeys(np.array(table["y"])))
    y = y if classes[1] == "high" else ~y
    for t in (0, 1, 17, 300, 599):
        same = gain[:t] == gain[t]
        overall = y[:t].mean() if t else 0.0
        expected = (y[:t][same] - overall).sum() / (same.sum() + 10.0)
        assert gains[t] == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
def test_the_default_learns_what_each_amount_says():
    rng = np.random.default_rng(1)
    amounts, n = rng.gamma(2.0, 3000.0, 60).round(), 6000
    which = rng.integers(0, len(amounts), n)
    gain = np.where(rng.random(n) < 0.85, 0.0, amounts[which])
    others = {f"x{j}": rng.normal(size=n) for j in range(6)}
    chance = np.where(gain == 0.0, 0.1, np.where(which % 2 == 0, 0.95, 0.05))
    y = np.array(["low", "high"])[(rng.random(n) < chance).astype(int)]
    table = pa.table({**others, "gain": gain, "y": y})

    def mistakes(statistics):
        stream = open_stream(table, target="y", statistics=statistics)
        learner = OnlineKernelClassifier(speed="fast", random_state=0)
        model = StreamModel(learner, encoder=stream.encoder)
        return np.mean([np.mean(model.learn(block) != block.y) for block in stream])

    assert mistakes(True) < mistakes(False) - 0.01


def test_gaps_absent_columns_and_new_amounts_have_no_mean():
    stream = open_stream(taxes(), target="y", statistics=True, missing="mean")
    model = StreamModel(
        OnlineKernelClassifier(speed="fast"), encoder=stream.encoder, settings={"missing": "mean"}
    )
    for block in stream:
        model.learn(block)
    found = stream.encoder.encode(
        pa.RecordBatch.from_pydict({"age": [1.0, 1.0, 1.0], "gain": [None, 7688.0, 99.0]}),
        missing="mean",
        learn=False,
    )
    assert found[:, 2].tolist()[::2] == [0.0, 0.0]
    assert found[1, 2] > 0.0
    assert np.isfinite(model.decision_function({"age": 30.0})).all()


def test_saved_and_refused():
    stream = open_stream(taxes(300), target="y", statistics=True)
    list(stream)
    state = json.loads(json.dumps(stream.encoder.get_state()))
    copy = Encoder.from_state(state)
    assert copy.get_state() == stream.encoder.get_state()
    for numbers in ({}, {"1": [1.0, 1.0]}, {"1": list(range(ROOM + 1))}, {"0": []}, None, {"1": 3}):
        state["layout"]["numbers"] = numbers
        with pytest.raises(ModelFileError, match="numbers"):
            Encoder.from_state(state)
