"""The last fit, when all rows are there: what it gains, what it leaves as it is, and when."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from typer.testing import CliRunner

import onkel
from onkel import OnlineKernelClassifier, OnlineKernelRegressor, StreamModel
from onkel.cli import app
from onkel.default.cells import ROWS, WHOLE, share
from onkel.learners import FOGDRegressor
from onkel.maps.landmarks import last_fit, search
from onkel.maps.landmarks.drawn_rows import split
from onkel.maps.landmarks.evidence import Landmarks
from onkel.maps.landmarks.fitted import TailCurves, Units
from onkel.numerics.in_steps import finished


def rows(n, seed=0):
    X = np.random.default_rng(seed).uniform(-3.0, 3.0, (n, 3))
    return X, np.sin(2.0 * X[:, 0]) * X[:, 1] + 0.1 * X[:, 2]


def learner(**more):
    return OnlineKernelRegressor(**{"n_components": 50, "memory": False, "restart": False} | more)


@pytest.fixture(scope="module")
def before():
    """A learner of 1 900 rows, whose landmarks are those of 1 024."""
    return learner().partial_fit(*rows(1900))


@pytest.fixture(scope="module")
def after(before):
    return copy.deepcopy(before).consolidate()


@pytest.mark.slow
@pytest.mark.compiled
def test_rows_never_seen_are_predicted_better(before, after):
    X, y = rows(2000, seed=1)

    def error(model):
        return np.mean((model.predict(X) - y) ** 2)

    assert error(after) < 0.8 * error(before)


def test_few_rows_get_widths_that_all_of_them_chose():
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (1700, 20))
    y = np.sin(3.0 * X[:, 0]) * X[:, 1]
    before = learner(n_components=500, pairs=False).partial_fit(X[:700], y[:700])
    after = copy.deepcopy(before).consolidate()

    def error(model):
        return np.std(model.predict(X[700:]) - y[700:])

    assert error(after) < 0.7 * error(before)


@pytest.mark.slow
@pytest.mark.compiled
def test_targets_without_noise_are_predicted_without_error():
    X = np.random.default_rng(0).uniform(size=(3000, 3))
    y = np.sin(6.0 * X[:, 0]) * X[:, 1] + 0.3 * np.cos(5.0 * X[:, 2])
    # ten rows a landmark: with fewer, chance says where the search ends, and errors differ by half
    model = OnlineKernelRegressor(n_components=200, random_state=0).fit(X[:2000], y[:2000])
    # a penalty of 1e-3 would leave 4e-4 to 7e-4
    assert np.std(model.predict(X[2000:]) - y[2000:]) < 2e-4 * y.std()


@pytest.mark.compiled
def test_rows_are_left_out_of_what_cells_learn(after):
    X, y = rows(1900)
    of = after.model_
    Z, Y = np.asarray(of.map.features(X)), y[:, None]
    R = of.residuals_left_out(X, Y, np.ones(len(X)))
    for t in (0, 700, 1899):
        rest = np.arange(len(X)) != t
        H = Z[rest].T @ Z[rest] + of.penalty
        left = y[t] - Z[t] @ np.linalg.solve(H, Z[rest].T @ y[rest])
        np.testing.assert_allclose(R[t, 0], left, rtol=1e-3, atol=1e-6)


@pytest.mark.compiled
def test_cells_learn_what_the_last_fit_leaves(before, after):
    first, *later = before.model_.stages
    cells = after.model_.stages[0]
    # each row once, in an order that the seed decides
    assert cells.sums[ROWS] == 1900
    again = copy.deepcopy(before).consolidate().model_.stages[0]
    np.testing.assert_array_equal(cells.W, again.W)
    # the fit leaves less, in which there is less to find
    assert cells.sums[WHOLE] < 0.5 * first.sums[WHOLE]
    assert np.abs(cells.W).mean() < 0.5 * np.abs(first.W).mean()
    for stage, known in zip(after.model_.stages[1:], later, strict=True):
        assert known.W.any()
        assert not stage.W.any()
        assert stage.left == 1.0
        assert share(stage.sums) == 0.0
        np.testing.assert_array_equal(stage.V, known.V)


@pytest.mark.compiled
def test_fit_consolidates_and_partial_fit_does_not(before, after):
    X, _ = rows(200, seed=1)
    fitted = learner().fit(*rows(1900)).predict(X)
    np.testing.assert_array_equal(fitted, after.predict(X))
    assert np.abs(fitted - before.predict(X)).max() > 0.01


@pytest.mark.compiled
def test_weights_are_those_of_all_rows_before_and_after(monkeypatch):
    # under a penalty of 1e-6, which a last search may choose, rounding shows
    monkeypatch.setattr("onkel.maps.landmarks.search._LEAST_RIDGE_AT_LAST", 1e-3)
    X, y = rows(1950)
    model = learner().partial_fit(X[:1900], y[:1900]).consolidate()
    for n in (1900, 1950):
        if n > 1900:
            model.partial_fit(X[1900:], y[1900:])
        of = model.model_
        Z = of.map.features(X[:n])
        weights = np.linalg.solve(Z.T @ Z + of.map.prior(), Z.T @ y[:n])
        np.testing.assert_allclose(Z @ of.coef[0], Z @ weights, atol=1e-6)
    assert model.n_rows_ == 1950


@pytest.mark.compiled
def test_afterwards_it_goes_on_learning_and_searches_when_it_is_due(monkeypatch):
    # whether a small search promises enough is not asked
    monkeypatch.setattr("onkel.learners.named.online_kernel.LEAST_GAIN", 0.0)
    X, y = rows(4200)
    # so many rows, and so much, that the landmarks found before are no longer the best
    y[1200:] += 3.0 * np.cos(X[1200:, 2])
    after = learner().partial_fit(X[:1200], y[:1200]).consolidate()
    one, other = copy.deepcopy(after), OnlineKernelRegressor.from_state(after.get_state())
    for model in (one, other):
        model.partial_fit(X[1200:2047], y[1200:2047])
        np.testing.assert_array_equal(model.map_.landmarks_, after.map_.landmarks_)
        model.partial_fit(X[2047:], y[2047:])
        assert np.abs(model.map_.landmarks_ - after.map_.landmarks_).max() > 0.01
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.compiled
def test_broken_off_it_leaves_the_model_as_it_was(before, monkeypatch):
    def broken(*args, **kwargs):
        yield True
        raise KeyboardInterrupt

    model, X = copy.deepcopy(before), rows(100, seed=1)[0]
    with monkeypatch.context() as patched:
        patched.setattr(last_fit, "improve", broken)
        with pytest.raises(KeyboardInterrupt):
            model.consolidate()
    np.testing.assert_array_equal(model.predict(X), before.predict(X))
    more = rows(2100)
    for each in (model, before := copy.deepcopy(before)):
        each.partial_fit(more[0][1900:], more[1][1900:])
    np.testing.assert_array_equal(model.predict(X), before.predict(X))


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("model", "n"),
    [
        (learner(speed="fast"), 255),
        (learner(), 255),
        (learner(restart=True, pairs=False), 300),
        (FOGDRegressor(n_components=20, gamma=0.5), 300),
        (onkel.make("krls", "regression"), 100),
        (onkel.make("bsgd-r", "regression"), 100),
        (StreamModel(learner(speed="fast")), 255),
    ],
    ids=["fast", "few rows", "few rows, bare", "fogd", "krls", "bsgd", "stream model"],
)
def test_where_nothing_is_searched_nothing_changes(model, n):
    X, y = rows(n)
    predicted = model.partial_fit(X, y).predict(X)
    np.testing.assert_array_equal(model.consolidate().predict(X), predicted)


def test_before_the_first_row_there_is_nothing_to_consolidate():
    with pytest.raises(NotFittedError):
        learner().consolidate()
    model = StreamModel(learner())
    assert model.consolidate() is model
    one_class = OnlineKernelClassifier().partial_fit([[0.0], [1.0]], ["a", "a"])
    assert one_class.consolidate().predict([[0.5]]) == ["a"]


def test_own_widths_must_be_better_by_a_standard_error(monkeypatch):
    X, _ = rows(300)
    here = np.arange(300) % 2 == 0
    X[:, 0] = X[:, 0] / 3.0 + np.where(here, 4.0, -4.0)
    Y = np.sin(2.0 * np.where(here, X[:, 1], X[:, 2]))[:, None]
    units = Units(TailCurves(*np.zeros((2, 3))), np.zeros(3), np.ones(3))
    start = [Landmarks(X[:30], np.full(3, -1.0), np.log(0.01))]
    climbed, climb = [], search.climb

    def kept(*args, **more):
        found = yield from climb(*args, **more)
        climbed.append(found)
        return found

    monkeypatch.setattr(search, "climb", kept)
    for doubt in (0.0, 1.0, 1e9):
        monkeypatch.setattr(search, "_STANDARD_ERRORS", doubt)
        rng = np.random.default_rng(0)
        work = search.improve(start, X, Y, np.ones(300), 24, rng, units, last=split(300, rng))
        found = finished(work)
        common, own = climbed[-3:-1]
        gains = common[1] - own[1]
        better = gains.mean() > doubt * gains.std() / np.sqrt(len(gains))
        assert (found.log_width.ndim == 2) == better
    assert not better
    # 10 rows a landmark are too few while more rows come
    n_climbs = len(climbed)
    work = search.improve(start, X, Y, np.ones(300), 24, np.random.default_rng(0), units)
    assert finished(work).log_width.ndim == 1
    assert len(climbed) == n_climbs + 1


@pytest.mark.slow
@pytest.mark.compiled
def test_onkel_learn_consolidates_what_it_saves_and_not_its_checkpoint(tmp_path):
    X, y = rows(1500)
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y)
    frame.to_csv(tmp_path / "all.csv", index=False)

    def learn(*args):
        command = ["learn", tmp_path / "all.csv", "-t", "y", "--set", "n_components=50", *args]
        result = CliRunner().invoke(app, [str(part) for part in [*command, "--json"]])
        assert result.exit_code == 0, result.stderr
        return result.stdout

    plain = learn()
    saved = learn("--save", tmp_path / "m.onkel", "--checkpoint", tmp_path / "c.onkel")
    # what is predicted before it is learned knows of no end
    scores = [text.split('"value":')[1].split(",")[0] for text in (plain, saved)]
    assert scores[0] == scores[1]
    model, kept = (onkel.load(tmp_path / f"{name}.onkel") for name in "mc")
    assert np.abs(model.predict(frame) - kept.predict(frame)).max() > 0.01
    np.testing.assert_array_equal(kept.consolidate().predict(frame), model.predict(frame))
