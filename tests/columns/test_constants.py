"""Columns that are constant in the first rows: left out until another value comes."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from onkel.errors import ModelFileError
from onkel.learners import FOGDRegressor, KernelRLSRegressor, OnlineKernelRegressor
from onkel.pipeline import StreamModel
from onkel.streams import Encoder, open_stream

N, CHANGE = 900, 600


def rows(n=N, change=CHANGE, seed=0):
    """An informative number and gap; constant columns, some only until row ``change``."""
    rng = np.random.default_rng(seed)
    x, late = rng.normal(size=n), np.arange(n) >= change
    level = np.where(late & (rng.random(n) < 0.5), 12.0, 7.0)
    shop = np.where(late & (rng.random(n) < 0.5), "shop", "web")
    on = late & (rng.random(n) < 0.5)
    table = pa.table({
        "seven": np.full(n, 7.0), "site": ["Oslo"] * n, "true": np.ones(n, dtype=bool),
        "none": pa.nulls(n), "gap": [None if k % 3 else 5.0 for k in range(n)],
        "x": x, "level": level, "shop": shop, "on": on,
        "y": np.sin(2.0 * x) + 0.3 * (level - 7.0) + 2.0 * (shop == "shop") - on,
    })  # fmt: skip
    # columns are inferred from the first piece
    return pa.concat_tables([table.slice(0, 300), table.slice(300)])


def tidy(table, **options):
    return open_stream(table, target="y", tidy=True, missing="auto", **options)


def learned(table, estimator=None, **options):
    """Predictions of each row before it was learned, and the model."""
    stream = tidy(table, **options)
    model = StreamModel(
        estimator or OnlineKernelRegressor(speed="fast"), encoder=stream.encoder,
        settings={"missing": "auto"},
    )  # fmt: skip
    return np.concatenate([model.learn(block) for block in stream]), model


@pytest.mark.parametrize("statistics", [True, False])
def test_which_columns_wait(statistics):
    encoder = tidy(rows().slice(0, 300), statistics=statistics).encoder
    waits = {c.name: c.constant for c in encoder.columns if c.constant is not None}
    assert waits == {"seven": "7", "site": "Oslo", "true": "1", "none": "", "level": "7",
                     "shop": "web", "on": "0"}  # fmt: skip
    assert encoder.feature_names[0] == "gap"
    assert all(encoder.layout.waits(k) == (c.name in waits) for k, c in enumerate(encoder.columns))


@pytest.mark.parametrize(
    "options",
    [{"keep_columns": ["seven", "site"]}, {"keep_columns": "seven", "categorical": "site"}],
)
def test_those_that_were_asked_for_stay(options):
    encoder = tidy(rows(300), **options).encoder
    found = {c.name for c in encoder.columns if c.constant is None}
    assert found == {"seven", "site", "gap", "x"}


def test_where_all_are_constant_all_stay():
    table = pa.table({"a": np.ones(200), "b": ["x"] * 200, "y": np.arange(200.0)})
    assert all(c.constant is None for c in tidy(table).encoder.columns)


def test_the_rounding_of_a_constant_sum_is_no_column():
    rng = np.random.default_rng(0)
    shares, shop = 3e7 * rng.dirichlet(np.ones(3), 300), 9_007_199_254_740_001
    table = pa.table({
        "sum": shares.sum(axis=1), "shop": shop + rng.integers(0, 2, 300),
        "near": 3e7 + 1e-6 * shares[:, 0], "y": rng.normal(size=300),
    })  # fmt: skip
    assert 0.0 < np.ptp(table["sum"].to_numpy()) < 1e-7
    stream = tidy(table)
    [block] = stream
    # what differs by more than rounding, or is whole, is told apart in float32
    assert [len(np.unique(x)) for x in block.X.T] == [1, 2, 300]


@pytest.mark.parametrize("statistics", [True, False])
def test_predictions_are_those_without_them(statistics):
    names = ["seven", "site", "true", "none", "level", "shop", "on"]
    table = rows(CHANGE)
    make = lambda: FOGDRegressor(n_components=50, gamma=0.5, random_state=0)  # noqa: E731
    found, model = learned(table, make(), statistics=statistics)
    expected, _ = learned(table.drop_columns(names), make(), statistics=statistics)
    assert np.array_equal(found, expected)
    assert model.estimator.n_features_in_ == 3  # gap, x, and whether gap is missing
    assert model.predict(table.select(["gap", "x"])).shape == (CHANGE,)


@pytest.mark.parametrize("statistics", [True, False])
def test_they_come_back_with_another_value_whatever_the_blocks(statistics):
    table = rows()
    # the default has statistics; without them, test a plain fit, not the default's search
    make = OnlineKernelRegressor if statistics else KernelRLSRegressor
    options = {"speed": "fast"} if statistics else {"n_components": 100, "gamma": 0.5}
    found, model = learned(table, make(**options), block_rows=300, statistics=statistics)
    again, _ = learned(table, make(**options), block_rows=113, statistics=statistics)
    np.testing.assert_allclose(found, again, atol=1e-6)
    became = {c["name"]: c["became"] for c in model.describe_columns()}
    assert became["level"] == "number counted from 7"
    assert became["site"].startswith("left out while it is 'Oslo'")
    assert became["none"].startswith("left out while it is missing")
    shares = dict(zip(became, model.feature_importances_.tolist(), strict=True))
    assert all(shares[name] > 0.0 for name in ("level", "shop", "on"))
    assert all(shares[name] == 0.0 for name in ("seven", "site", "true", "none"))


def test_saved_and_refused():
    _, model = learned(rows(), statistics=True)
    state = json.loads(json.dumps(model.encoder.get_state()))
    assert Encoder.from_state(state).get_state() == model.encoder.get_state()
    for constants in ([None], [3] * len(model.encoder.columns), None):
        state["layout"]["constants"] = constants
        with pytest.raises(ModelFileError, match="constants"):
            Encoder.from_state(state)


def test_a_text_that_is_mostly_missing_is_not_judged_by_its_few_values():
    """Six holidays in 6 000 rows, each of its own name, are no column of ids."""
    n = 6000
    few, many = [None] * n, [None] * n
    few[100 :: n // 6] = [f"holiday {k}" for k in range(len(few[100 :: n // 6]))]
    many[::20] = [f"order {k}" for k in range(n // 20)]
    table = pa.table({"x": np.arange(n) % 7.0, "few": few, "many": many, "y": np.arange(n) % 5.0})
    stream = open_stream(table, target="y", tidy=True, missing="auto")
    assert list(stream.useless) == ["many"]
    assert stream.encoder.kinds["few"] == "text"
