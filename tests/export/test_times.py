"""Times in a graph: the features of `time_features`, to the last digit that matters."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from onkel import OnlineKernelRegressor, StreamModel
from onkel.columns.features import time_features
from onkel.export.columns import _time_features
from onkel.export.functions import asinh
from onkel.export.graph import Graph


def run(build, x, width):
    graph = Graph()
    graph.output("out", build(graph.input("x", np.float64, 1)), width)
    session = onnxruntime.InferenceSession(graph.proto("times").SerializeToString())
    return session.run(None, {"x": x[:, None]})[0]


def test_moments_are_rounded_alike():
    origin = 1_514_765_700.0
    # every quarter of an hour for two years, including midnights and noons, and random moments
    grid = origin + 900.0 * np.arange(70_000)
    anywhere = np.random.default_rng(0).uniform(-3e9, 4e9, 20_000)
    seconds = np.concatenate([grid, anywhere, [np.nan]])
    found = run(lambda x: _time_features(x, origin), seconds, 7)
    expected = time_features(seconds, origin)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12)
    # near 0 the last digits of circles decide the cells of the default
    differ = found.astype(np.float32) != expected.astype(np.float32)
    assert not (differ & ~np.isnan(expected))[:, 1:5].any()
    assert differ[:-1].mean() < 1e-5


def test_the_same_hour_of_any_day_is_the_same_number():
    # before and after 1970, and before and after the day from which floats of days are coarser
    seconds = 86_400.0 * np.concatenate([np.arange(-900, 900), np.arange(16_000, 17_000)]) + 36_060
    found = run(lambda x: _time_features(x, seconds[0]), seconds, 7)
    assert np.ptp(found[:, 1:3], axis=0).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("date", ["01-01", "02-28", "03-01", "12-31"])
def test_the_same_date_of_any_year_is_the_same_number(date):
    # 1900 and 2100 have no leap day, 2000 has one
    years = [f"{year}-{date}T06:00" for year in range(1880, 2121)]
    seconds = np.array(years, "datetime64[s]").astype(np.float64)
    features = time_features(seconds, seconds[0])
    assert np.ptp(features[1:, 5:], axis=0).tolist() == [0.0, 0.0]
    # the runtime's sine of the last row of a batch may differ in the last digit
    found = run(lambda x: _time_features(x, seconds[0]), seconds, 7)
    assert np.ptp(found[1:, 5:], axis=0).max() < 1e-15


def test_the_phase_of_the_year_goes_on_from_day_to_day():
    days = np.arange(np.datetime64("1999-06-01"), np.datetime64("2005-06-01"))
    seconds = days.astype("datetime64[s]").astype(np.float64)
    sine, cosine = time_features(seconds, seconds[0] - 1e9)[:, 5:].T
    steps = np.diff(np.unwrap(np.arctan2(sine, cosine))) * 365.2425 / (2.0 * np.pi)
    # a leap day is a step of its own, and the next year makes up for it
    assert np.all((steps > 0.2) & (steps < 1.3))
    assert np.isclose(steps, 1.0).mean() > 0.99


def test_asinh_is_exact_near_and_far():
    x = np.concatenate([np.logspace(-300, 150, 4000), [0.0]])
    found = run(asinh, np.concatenate([x, -x]), 1)[:, 0]
    np.testing.assert_allclose(found, np.arcsinh(np.concatenate([x, -x])), rtol=1e-15)


@pytest.mark.compiled
def test_cells_of_hours_agree(graph_of):
    rng = np.random.default_rng(0)
    when = pd.date_range("2018-01-01 00:15", periods=2500, freq="15min")
    kind = rng.integers(0, 3, len(when))
    frame = pd.DataFrame({"when": when, "kind": kind, "y": 1.0 * (when.hour > 11) + kind})
    model = StreamModel(OnlineKernelRegressor(n_components=20, speed="fast", memory=False))
    model.partial_fit(frame, target="y")
    cells = model.estimator.model_.current.stages[0]
    assert np.abs(cells.W).max() > 0.01
    seconds = (when.astype("datetime64[ns]").astype("int64") / 1e9).to_numpy()
    found = graph_of(model)(when=seconds[:, None], kind=kind[:, None].astype(float))
    expected = model.predict(frame[["when", "kind"]])
    np.testing.assert_allclose(found["prediction"], expected, rtol=0.0, atol=1e-7)
