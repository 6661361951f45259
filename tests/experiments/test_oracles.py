"""Run by run against the original programs (LSOKL), on their stored orders of the rows."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.experiments import EXPERIMENTS
from onkel.experiments.runner import stream_once


def _all_runs(experiment, X, y, orders):
    return np.array(
        [stream_once(experiment, X[rows], y[rows], random_state=r) for r, rows in enumerate(orders)]
    )


@pytest.mark.parametrize("name", ["lsokl-5-german-nogd", "lsokl-7-dna-nogd"])
def test_nogd_mistakes(oracle, name):
    experiment = EXPERIMENTS[name]
    X, y, orders, theirs = oracle(experiment.dataset, "nogd")
    ours = np.round(_all_runs(experiment, X, y, orders) * len(y) / 100).astype(int)
    assert np.abs(ours - theirs).max() <= 2


def test_nogd_squared_error(oracle):
    X, y, orders, theirs = oracle("housing", "nogd")
    ours = _all_runs(EXPERIMENTS["lsokl-9-housing-nogd"], X, y, orders)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4)


@pytest.mark.parametrize(
    ("name", "unit"), [("lsokl-7-dna-fogd", 100 / 2000), ("lsokl-9-housing-fogd", 1.0)]
)
def test_fogd_mean(oracle, name, unit):
    experiment = EXPERIMENTS[name]
    X, y, orders, theirs = oracle(experiment.dataset, "fogd")
    ours, theirs = _all_runs(experiment, X, y, orders), theirs * unit
    error = np.sqrt((ours.var(ddof=1) + theirs.var(ddof=1)) / len(theirs))
    assert abs(ours.mean() - theirs.mean()) <= 2 * error


def test_the_oracles_rows_are_ours(oracle, real_data):
    from onkel import datasets

    for name in ("german", "dna", "housing"):
        X, y, _, _ = oracle(name, "nogd")
        data = datasets.load(name)
        np.testing.assert_allclose(data.X, X, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(data.y, y, rtol=1e-5, atol=1e-6)
