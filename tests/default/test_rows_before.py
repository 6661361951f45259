"""Rows of models that were replaced: which are kept, and when the last fit learns them."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import onkel
from onkel import OnlineKernelRegressor
from onkel.default.rows_before import RowsBefore
from onkel.model.warmup import Warmup


def kept(born, d=2):
    """Rows as a model keeps them; each tells its number."""
    own = Warmup(10_000, d, np.float64)
    X = np.repeat(np.asarray(born, float)[:, None], d, axis=1)
    own.keep(X, X[:, 0] * 10.0, np.ones(len(X)))
    return own


def test_rows_keep_their_order_and_number():
    before = RowsBefore(2, np.float64)
    # the second model began at row 300, the third at 700; each was asked later
    before = before.followed(kept(range(350)), 300, 1000, 0)
    before = before.followed(kept(range(300, 900)), 700, 1000, 0)
    np.testing.assert_array_equal(before.born, np.arange(700))
    np.testing.assert_array_equal(before.X[:, 1], before.born)
    np.testing.assert_array_equal(before.y, 10.0 * before.born)
    assert before.begins.tolist() == [300, 700]
    # a model that keeps no rows any more leaves those before
    before = before.followed(None, 5000, 200, 0)
    assert len(before.born) == before.count == 200
    assert (np.diff(before.born) > 0).all()
    np.testing.assert_array_equal(before.y, 10.0 * before.born)
    assert before.born[100] == pytest.approx(350, abs=100)


def test_with_the_rows_since_they_are_rows_that_a_model_keeps():
    before = RowsBefore(2, np.float64).followed(kept(range(400)), 300, 1000, 0)
    own = kept(range(300, 500))
    both = before.and_own(own, 0)
    np.testing.assert_array_equal(both.y, 10.0 * np.arange(500))
    assert not both.complete
    own.n_rows = 250
    assert before.and_own(own, 0).count == 250


def stream(moves, n_segments=4, size=1500, seed=0):
    """Segments: each sees another part of a column, or another function of it."""
    rng = np.random.default_rng(seed)
    part = np.repeat(np.arange(n_segments), size)
    x = rng.uniform(-1.0, 1.0, len(part)) + (2.0 * part if moves else 0.0)
    slope = 1.0 if moves else np.array([1.0, -1.0, 3.0, -3.0])[part]
    return np.column_stack([x, rng.normal(size=len(x))]), slope * x + rng.normal(size=len(x))


def after_changes(X, y, changes, now):
    """What is known at row ``now``, with a model that began at each change."""
    before, begun = RowsBefore(2, np.float64), 0
    for change in changes:
        own = Warmup(10_000, 2, np.float64)
        own.keep(X[begun:change], y[begun:change], np.ones(change - begun))
        before, begun = before.followed(own, change, 3000, 0), change
    own = Warmup(10_000, 2, np.float64)
    own.keep(X[begun:now], y[begun:now], np.ones(now - begun))
    return before, own


@pytest.mark.parametrize("moves", [True, False])
def test_earlier_changes_tell_whether_rows_before_them_do(moves):
    X, y = stream(moves)

    def features(rows):
        return np.column_stack([rows, np.ones(len(rows))])

    def tell(changes, now):
        before, own = after_changes(X, y, changes, now)
        return before.tell(own, features, 1e-3 * np.eye(3), 1)

    assert tell([1500, 3000], 3100) == moves
    assert tell([1500, 3000, 4500], 4700) == moves
    # there is no earlier change: the second half of the rows since tells, if it has 64 rows
    assert tell([1500], 2200) == moves
    assert not tell([1500], 1627)


def ones(rows):
    return np.ones((len(rows), 1))


def told(targets, begins, now, weight=None):
    """Whether rows before changes tell more, by the mean of their targets alone."""
    X, one = np.zeros((len(targets), 2)), np.ones(len(targets))
    weight = one if weight is None else weight
    before, begun = RowsBefore(2, np.float64), 0
    for change in begins:
        own = Warmup(10_000, 2, np.float64)
        own.keep(X[begun:change], targets[begun:change], weight[begun:change])
        before, begun = before.followed(own, change, 10_000, 0), change
    own = Warmup(10_000, 2, np.float64)
    own.keep(X[begun:now], targets[begun:now], weight[begun:now])
    return before.tell(own, ones, np.full((1, 1), 1e-9), 1)


# what a row since the last change must be to say nothing below
NEUTRAL = 5.0 / 11.0


def long_after(before, since, then):
    """1000 rows before a change, 100 since, those that then follow, and 100 after another one."""
    parts = np.full(1000, before), np.full(100, since), then, np.full(100, NEUTRAL)
    return np.concatenate(parts)


@pytest.mark.parametrize("unit", [1.0, 2.0**333])
@pytest.mark.parametrize(("share", "tells"), [(0.6, True), (0.48, False)])
@pytest.mark.filterwarnings("error")
def test_rows_before_must_be_better_by_a_standard_error(share, tells, unit):
    """Targets are 1 before and 0 since: a 1 gains 0.99 by all rows, a 0 loses 0.83.

    A share of 0.48 ones gains 9 in 200 rows, and the standard error is 13.
    """
    rng = np.random.default_rng(0)
    then = (rng.permutation(200) < 200 * share).astype(float)
    assert told(unit * long_after(1.0, 0.0, then), [1000, 1300], 1400) == tells


@pytest.mark.parametrize(
    ("begun", "now", "tells"), [(192, 256, True), (191, 255, False), (193, 256, False)]
)
def test_fewer_than_64_rows_since_a_change_or_after_them_say_nothing(begun, now, tells):
    """A fourth of the rows follow: 64, 63, 64. As many as since the last change: 64, 64, 63."""
    y = np.concatenate([np.ones(100), np.zeros(now - begun), np.ones(200)])[:now]
    assert told(y, [100, begun], now) == tells


def test_only_the_last_four_changes_before_the_last_one_are_asked():
    def segment(then):
        return [np.zeros(100), np.full(200, then)]

    def stream(*follow):
        parts = [np.full(400, 1.0), *(part for then in follow for part in segment(then))]
        begins = 400 + 300 * np.arange(len(follow) + 1)
        y = np.concatenate([*parts, np.zeros(100)])
        return told(y, begins, len(y))

    # rows that follow are like those before the change, or unlike all
    assert stream(1.0, 1.0, 1.0, 1.0)
    assert not stream(1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0)
    # those that followed the fifth last change would decide
    assert not stream(1.0, 1.0, 1.0, 1.0, 5.0, 0.0, 0.0, 0.0)


def test_a_row_counts_as_its_weight():
    """Rows of hardly any weight, far from all others, change nothing."""
    y = long_after(1.0, 0.0, np.ones(200))
    weight = np.ones(len(y))
    far = np.arange(5, len(y), 10)
    y[far], weight[far] = -1000.0, 1e-9
    assert told(y, [1000, 1300], 1400, weight)
    y[far] = np.where(far < 1000, 1.0, 1000.0)
    y[1100:1300][weight[1100:1300] == 1.0] = 0.0
    assert not told(y, [1000, 1300], 1400, weight)


def test_of_many_changes_the_last_are_remembered():
    before = RowsBefore(2, np.float64)
    for change in range(10, 1000, 10):
        before = before.followed(kept(range(10)), change, 50, 0)
    assert before.begins.tolist() == list(range(360, 1000, 10))
    # every change has rows of its own to draw
    assert len(before.born) == 50
    assert (np.diff(before.born) > 0).all()


def replaced(block=None):
    """A learner of two changes, whose rows cover one part of a column after the other."""
    rng = np.random.default_rng(0)
    part = np.repeat([0, 1, 2], [3000, 3000, 1300])
    X = rng.uniform(-1.0, 1.0, (len(part), 2))
    X[:, 0] += 2.0 * part
    y = 3.0 * np.sin(2.5 * X[:, 0]) + X[:, 1] + 8.0 * (part == 1) + 0.1 * rng.normal(size=len(X))
    learner = OnlineKernelRegressor(n_components=40, memory=False)
    for start in range(0, len(y), block or len(y)):
        rows = slice(start, start + (block or len(y)))
        learner.partial_fit(X[rows], y[rows])
    return learner, X, y


@pytest.mark.slow
@pytest.mark.compiled
def test_the_last_fit_learns_rows_before_the_changes(monkeypatch):
    learner, X, y = replaced()
    model = learner.model_
    assert model.n_changes >= 1
    assert model.before is not None
    np.testing.assert_array_equal(model.before.X, X[model.before.born])
    np.testing.assert_array_equal(model.before.y, y[model.before.born])
    begun = int(model.before.begins[-1])
    assert begun + model.current.warmup.count == len(y)

    def error(asked):
        fitted = copy.deepcopy(learner)
        with monkeypatch.context() as patched:
            patched.setattr(RowsBefore, "tell", lambda *_: asked)
            own = fitted.model_.current.warmup
            fitted.consolidate()
        assert fitted.model_.current.warmup is own
        again = onkel.from_bytes(fitted.to_bytes())
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
        return np.mean((fitted.predict(X[:begun]) - y[:begun]) ** 2)

    assert error(True) < 0.5 * error(False)

    def broken_off(self):
        raise KeyboardInterrupt

    own = model.current.warmup
    monkeypatch.setattr(RowsBefore, "tell", lambda *_: True)
    monkeypatch.setattr(type(model.current), "consolidate", broken_off)
    with pytest.raises(KeyboardInterrupt):
        learner.consolidate()
    assert model.current.warmup is own


@pytest.mark.slow
@pytest.mark.compiled
def test_what_is_kept_does_not_depend_on_blocks():
    whole, parts = replaced()[0].model_, replaced(block=700)[0].model_
    assert whole.before is not None
    for name in ("X", "y", "born", "begins"):
        np.testing.assert_array_equal(getattr(whole.before, name), getattr(parts.before, name))


def test_a_copy_shares_rows_and_goes_its_own_way():
    before = RowsBefore(2, np.float64).followed(kept(range(400)), 300, 1000, 0)
    copied = copy.deepcopy(before)
    assert np.shares_memory(copied.X, before.X)
    copied.add_columns(1)
    copied.add_class(0, from_signs=False)
    assert before.X.shape == (300, 2)
    np.testing.assert_array_equal(before.y, 10.0 * np.arange(300))
    assert copied.X.shape == (300, 3)
    assert (copied.y != before.y).any()
