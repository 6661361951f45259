"""A file learned, events taken live, and a loop over `learn_one` end in the same model."""

from __future__ import annotations

import json
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onkel
from onkel import StreamModel
from onkel.serve import LiveModel

YEARS = st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1))
COLUMNS = {
    "a": st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(-1000, 1000)),
    "b": st.one_of(st.none(), st.floats(-1.0, 1.0)),
    "place": st.one_of(st.none(), st.sampled_from(["red", " red ", "NA"]), st.text(max_size=3)),
    "when": st.one_of(st.none(), YEARS.map(datetime.isoformat)),
}
ROWS = st.lists(
    st.fixed_dictionaries({}, optional=COLUMNS).filter(bool), min_size=1, max_size=40
).map(lambda rows: [{**row, "b": row.get("b", 0.5)} for row in rows])


@pytest.fixture(scope="module", params=["krls", "pa"])
def base(request):
    """The bytes of a model of a hundred rows."""
    rng = np.random.default_rng(0)
    rows = [
        {"a": a, "b": b, "place": ["red", "blue"][t % 2], "when": f"2024-05-{1 + t % 28:02d}"}
        for t, (a, b) in enumerate(rng.normal(size=(100, 2)).tolist())
    ]
    y = [row["a"] + row["b"] for row in rows]
    learner = onkel.make(request.param, "regression", dtype="float64")
    model = StreamModel(learner, settings={"missing": "auto", "dtype": "float64"})
    model.partial_fit([{**row, "y": v} for row, v in zip(rows, y, strict=True)], target="y")
    return model.to_bytes()


@settings(max_examples=60, deadline=None)
@given(rows=ROWS, seed=st.integers(0, 99))
def test_the_model_of_a_file_of_live_and_of_a_loop_is_one(base, tmp_path_factory, rows, seed):
    y = np.random.default_rng(seed).normal(size=len(rows)).tolist()
    events = [{**row, "y": v} for row, v in zip(rows, y, strict=True)]
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events))

    learned = onkel.from_bytes(base)
    of_file = learned.predict_then_learn(path).tolist()

    live = LiveModel(onkel.from_bytes(base), say=pytest.fail)
    answers = [live.take({"id": t, **event}) for t, event in enumerate(events)]

    loop = onkel.from_bytes(base)
    looped = [loop.learn_one(row, v) for row, v in zip(rows, y, strict=True)]

    assert [answer["prediction"] for answer in answers] == looped
    assert live.model.to_bytes() == loop.to_bytes()
    # a file is read in blocks, whose sums are rounded in another order
    assert of_file == pytest.approx(looped, rel=1e-6, abs=1e-6)
    assert learned.n_rows == loop.n_rows
    assert learned.predict(rows).tolist() == pytest.approx(
        loop.predict(rows).tolist(), rel=1e-6, abs=1e-6
    )
