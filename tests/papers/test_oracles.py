"""Run by run against the original programs (LSOKL), on their stored orders of the rows."""

from __future__ import annotations

import numpy as np
import pytest

from papers import EXPERIMENTS
from papers.measures import stream_once


def _case(table, name):
    return next(case for case in EXPERIMENTS[f"lsokl.table{table}"].cases if case.name == name)


def _all_runs(case, X, y, orders):
    return np.array(
        [stream_once(case, X[rows], y[rows], r)["value"] for r, rows in enumerate(orders)]
    )


@pytest.mark.parametrize(("table", "name"), [(5, "german/nogd"), (7, "dna/nogd")])
def test_nogd_mistakes(oracle, table, name):
    experiment = _case(table, name)
    X, y, orders, theirs = oracle(experiment.dataset, "nogd")
    ours = np.round(_all_runs(experiment, X, y, orders) * len(y) / 100).astype(int)
    assert np.abs(ours - theirs).max() <= 2


def test_nogd_squared_error(oracle):
    X, y, orders, theirs = oracle("housing", "nogd")
    ours = _all_runs(_case(9, "housing/nogd"), X, y, orders)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4)


@pytest.mark.parametrize(
    ("table", "name", "unit"), [(7, "dna/fogd", 100 / 2000), (9, "housing/fogd", 1.0)]
)
def test_fogd_mean(oracle, table, name, unit):
    experiment = _case(table, name)
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
