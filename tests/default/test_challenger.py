"""A model that restarts when its stream has changed, and only then."""

from __future__ import annotations

import copy
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from onkel import OnlineKernelClassifier, OnlineKernelRegressor
from onkel.default.loss_window import (
    _MOST_BINS,
    BIN_ROWS,
    LARGEST_LOSS,
    PATIENCE,
    Comparison,
    LossHistory,
    LossWindow,
)
from onkel.maps.landmarks.schedule import CHOICE_ROWS
from onkel.model.warmup import Warmup

pytestmark = pytest.mark.compiled


def changing(n=6000, change=3000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    y = (np.sin(2 * X[:, 0]) * X[:, 1] > 0).astype(int)
    y[change:] = (X[change:, 2] > X[change:, 3] ** 2 - 0.5).astype(int)
    return X, y


def learner(**parameters):
    return OnlineKernelClassifier(n_components=40, speed="fast", **parameters)


def test_it_recovers_from_a_change_that_a_model_without_restart_does_not():
    X, y = changing()
    wrong = {}
    for restart in (True, False):
        # a memory's second model would also follow the change
        model = learner(restart=restart, memory=False)
        wrong[restart] = model.predict_then_learn(X, y) != y
    assert wrong[True][:3000].mean() == wrong[False][:3000].mean()
    assert wrong[True][4000:].mean() < 0.6 * wrong[False][4000:].mean()


@pytest.mark.slow
def test_a_regressor_recovers_too():
    X, label = changing()
    y = 1000.0 + 50.0 * label + 5.0 * X[:, 0]
    model = OnlineKernelRegressor(n_components=40, speed="fast")
    error = np.abs(model.predict_then_learn(X, y) - y)
    assert model.model_.n_changes == 1
    assert np.median(error[4000:]) < 2 * np.median(error[2000:3000])


def test_a_stream_that_stays_is_left_alone():
    X, y = changing(20_000, 20_000)
    y ^= np.random.default_rng(1).random(len(y)) < 0.2
    model = learner().partial_fit(X, y)
    assert model.model_.n_changes == 0
    assert model.model_.challenger is None


STOPS = (2400, 2600, 2700, 3300)


@cache
def in_one_go(speed):
    """Predictions before learning of a stream with a change, and the models at STOPS, copied."""
    X, y = changing(4000, 2500)
    model = OnlineKernelClassifier(n_components=40, speed=speed)
    predicted, models = [], {}
    for a, b in pairwise((0, *STOPS, 4000)):
        predicted.append(model.predict_then_learn(X[a:b], y[a:b]))
        models[b] = copy.deepcopy(model)
    return np.concatenate(predicted), models


@pytest.mark.slow
@pytest.mark.parametrize(("block", "speed"), [
    (1, "fast"), (50, "fast"), (777, "fast"), (6000, "fast"), (50, "balanced"), (777, "balanced"),
])  # fmt: skip
def test_blocks_do_not_matter_across_a_change(block, speed):
    X, y = changing(4000, 2500)
    expected, _ = in_one_go(speed)
    model = OnlineKernelClassifier(n_components=40, speed=speed)
    got = [model.predict_then_learn(X[a : a + block], y[a : a + block])
           for a in range(0, 4000, block)]  # fmt: skip
    assert model.model_.n_changes == 1
    # rounding may flip the sign of a score that is 0 to eight digits
    assert np.mean(np.concatenate(got) != expected) < 1e-3


@pytest.mark.slow
def test_trees_that_go_on_after_a_change_know_no_row_to_come():
    X, y = changing(7000, 5500)
    found = []
    for block in (50, 7000):
        model = OnlineKernelClassifier(n_components=40, speed="fast", memory=False)
        cuts = [slice(a, a + block) for a in range(0, 7000, block)]
        of = [model.predict_then_learn(X[rows], y[rows], return_scores=True) for rows in cuts]
        found.append(np.concatenate(of))
        assert model.model_.current.trees.leaves is not None
        assert model.model_.n_changes == 1
    np.testing.assert_allclose(*found, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("speed", ["fast", "balanced"])
def test_a_saved_model_goes_on_before_during_and_after_a_change(stop, speed):
    X, y = changing(4000, 2500)
    model = copy.deepcopy(in_one_go(speed)[1][stop])
    assert (model.model_.challenger is not None) == (stop == 2600)
    assert model.model_.n_changes == (stop > 2600)
    twin = OnlineKernelClassifier.from_state(model.get_state())
    rest = slice(stop, None)
    np.testing.assert_array_equal(
        model.predict_then_learn(X[rest], y[rest]), twin.predict_then_learn(X[rest], y[rest])
    )
    np.testing.assert_array_equal(model.coef_, twin.coef_)


@pytest.mark.slow
def test_a_class_that_comes_while_a_challenger_learns():
    X, y = changing(4000, 2500)
    names = np.array(["a", "b", "c"], dtype=object)[y]
    model = learner().partial_fit(X[:2640], names[:2640])
    assert model.model_.challenger is not None
    names[2700:2720] = "c"
    model.partial_fit(X[2640:], names[2640:])
    assert model.predict_proba(X[:3]).shape == (3, 3)
    assert model.model_.n_changes == 1


@pytest.mark.slow
def test_a_challenger_that_is_no_better_is_dropped():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((16_000, 4))
    noise = np.repeat([0.1, 1.0], [4000, 12_000])  # the function does not change
    y = np.sin(2 * X[:, 0]) * X[:, 1] + noise * rng.standard_normal(16_000)
    model = OnlineKernelRegressor(n_components=40, speed="fast")
    started = False
    for a in range(0, 16_000, 64):
        model.partial_fit(X[a : a + 64], y[a : a + 64])
        started |= model.model_.challenger is not None
    assert started
    assert model.model_.n_changes == 0
    assert model.model_.challenger is None
    assert model.model_.history.in_vain == 1


def test_history_rises_with_the_mean_and_not_with_one_outlier():
    rng = np.random.default_rng(0)
    history = LossHistory()
    for _ in range(200):
        history.add(rng.exponential(size=BIN_ROWS))
        assert not history.risen()
    losses = rng.exponential(size=BIN_ROWS)
    losses[3] = 1e6
    history.add(losses)
    assert not history.risen()
    for _ in range(2):
        history.add(3.0 * rng.exponential(size=BIN_ROWS))
    assert history.risen()


def test_after_alarms_in_vain_losses_must_rise_by_more():
    rng = np.random.default_rng(0)
    losses = rng.exponential(size=(60, BIN_ROWS))
    losses[50:] *= 1.5
    alarms = []
    for in_vain in (0, 1, 10):
        history = LossHistory()
        history.begin_again(in_vain)
        rose = []
        for of_bin in losses:
            history.add(of_bin)
            rose.append(history.risen())
        alarms.append(rose.index(True) if any(rose) else len(rose))
    assert 50 < alarms[0] < alarms[1] < alarms[2] == 60


def test_a_large_rise_is_one_however_many_alarms_were_in_vain():
    history = LossHistory()
    history.begin_again(in_vain=1000)
    for _ in range(40):
        assert not history.add(np.tile([0.0, 2.0], BIN_ROWS // 2))
    # the mean rises by some 40 standard errors
    assert history.add(np.tile([5.0, 7.0], BIN_ROWS // 2))


def test_a_small_rise_is_seen_over_thousands_of_rows():
    """Means rise by 15 % of a standard deviation: five standard errors after 20 of 120 bins."""
    history = LossHistory()
    usual = np.tile([0.0, 2.0], BIN_ROWS // 2)
    for _ in range(200):
        assert not history.add(usual)
    rose = [history.add(usual + 0.15) for _ in range(32)]
    assert not any(rose[:16])
    assert rose[-1]


def test_bins_are_64_rows_of_positive_weight_however_rows_are_cut():
    rng = np.random.default_rng(0)
    losses, weight = rng.random((1000, 2)), rng.integers(0, 3, 1000) * 0.5
    losses[5] = 1e200
    window, done, found = LossWindow(), 0, []
    while done < 1000:
        n = min(int(rng.integers(1, 200)), 1000 - done)
        rows = slice(done, done + n)
        first = done + window.end_of_bin(weight[rows], 0)
        ends = [(done + end, of_bin) for end, of_bin in window.add(losses[rows], weight[rows])]
        # the bin that goes on ends at its last row, or with the block
        assert first == (ends[0][0] if ends else done + n)
        found, done = found + ends, done + n
    counted = np.flatnonzero(weight > 0.0)
    assert [end for end, _ in found] == (counted[BIN_ROWS - 1 :: BIN_ROWS] + 1).tolist()
    of_bins = np.concatenate([of_bin for _, of_bin in found] + [window.losses])
    np.testing.assert_array_equal(of_bins, losses[counted])
    # a loss whose square is not finite is a large one
    history = LossHistory()
    history.choose_unit(of_bins[:BIN_ROWS])
    assert history.unit is None
    first = np.minimum(of_bins[:BIN_ROWS], LARGEST_LOSS)
    large = first > 1e100
    np.testing.assert_array_equal(large, of_bins[:BIN_ROWS] > 1e100)
    np.testing.assert_array_equal(first[~large], of_bins[:BIN_ROWS][~large])
    assert np.isfinite(first**2).all()


def compared(*bins):
    comparison = Comparison()
    for losses in bins:
        comparison.add(losses)
    return comparison


def equal_losses(model, challenger):
    return np.tile([float(model), challenger], (BIN_ROWS, 1))


def test_a_challenger_must_gain_four_standard_errors_and_what_it_takes():
    gains = compared(equal_losses(0.002, 0.001), equal_losses(0.002, 0.001))
    assert gains.better(worth=0.0009)
    assert not gains.better(worth=0.0011)
    of_one = np.stack([np.tile([0.5, 0.0], BIN_ROWS // 2), np.full(BIN_ROWS, 0.24)], axis=1)
    assert not compared(of_one, np.zeros((BIN_ROWS, 2))).better(worth=0.0)


def test_a_challenger_needs_two_bins_and_is_dropped_after_its_patience():
    gains = equal_losses(2.0, 1.0)
    assert not compared(gains).better(worth=0.1)
    assert compared(gains, gains).better(worth=0.1)
    bins = [gains] * (PATIENCE // BIN_ROWS)
    assert not compared(*bins[1:]).too_long()
    assert compared(*bins).too_long()


def test_a_challenger_that_loses_over_half_of_its_rows_is_not_better():
    gains, loses = equal_losses(2.0, 1.0), equal_losses(1.0, 2.0)
    assert compared(*[loses] * 8, *[gains] * 8).better(worth=0.1)
    assert not compared(*[loses] * 24, *[gains] * 8).better(worth=0.1)
    assert compared(*[loses] * 14, *[gains] * 16).better(worth=0.1)


def test_one_burst_of_losses_proves_no_challenger_better():
    burst, same = equal_losses(8.0, 0.0), equal_losses(1.0, 1.0)
    steady = equal_losses(2.0, 1.0)
    assert compared(*[steady] * 8).better(worth=0.1)
    assert not compared(*[same] * 7, burst).better(worth=0.1)
    # as much as seven bursts of eight is no chance
    assert compared(same, *[burst] * 7).better(worth=0.1)


def filled(loss):
    return np.full(BIN_ROWS, float(loss))


def test_the_usual_loss_is_that_of_many_bins_and_of_former_models():
    history = LossHistory()
    assert history.worth == 0.0
    for loss in (9, 9, 9, 9, 1, 3):  # the first four are left out
        history.add(filled(loss))
    assert history.worth == pytest.approx(0.2)
    history.begin_again(in_vain=0)
    assert history.worth == pytest.approx(0.2)
    for _ in range(4 + 3 * _MOST_BINS):
        history.add(filled(5))
    assert history.worth == pytest.approx(0.5)


def test_a_rise_by_less_than_a_tenth_of_the_usual_loss_is_none():
    rng = np.random.default_rng(0)
    history = LossHistory()
    for scale in [1.0] * 40 + [1e-4] * 160:
        history.add(scale * rng.uniform(0.9, 1.1, BIN_ROWS))
    for _ in range(32):
        assert not history.add(filled(1e-3))
    for _ in range(32):
        history.add(filled(0.02))
    assert history.risen()


def of_the_first_rows(model):
    found = model.map.landmarks_
    return np.allclose(found, model.warmup.rows()[0][: len(found)])


@pytest.mark.slow
def test_a_challenger_searches_for_landmarks_only_when_it_has_won(monkeypatch):
    """The change comes long after a new column, so its challenger has already learned many rows."""
    # most of these rows came before the change: there is hardly anything to gain in them
    monkeypatch.setattr("onkel.learners.named.online_kernel.LEAST_GAIN", 0.0)
    monkeypatch.setattr("onkel.maps.landmarks.search._GAIN_OF_OWN", 0.0)
    rng = np.random.default_rng(0)
    # with useless columns, their median width is small; the new column gets it and disturbs little
    X = rng.standard_normal((9000, 6))
    X[:4000, 5] = 0.0
    y = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(9000)
    y[7000:] += 3.0 * np.sin(2.0 * X[7000:, 5])
    model = OnlineKernelRegressor(n_components=40).fit(X[:4000, :5], y[:4000])
    model.model_.current.warmup = None  # as after 131 072 rows
    model.add_columns(1)
    both, won = model.model_, 0
    for a in range(4000, 9000, 32):
        model.partial_fit(X[a : a + 32], y[a : a + 32])
        if both.n_changes:
            won = won or both.current.warmup.count
            if not both.current.map._owing:
                break
            assert of_the_first_rows(both.current)
        else:
            assert both.challenger.map.postponed_
            assert of_the_first_rows(both.challenger)
    # between two powers of two only the takeover can have started the search; it ran while a
    # 31st part more of the rows came
    assert 2100 < won < won + 64 < both.current.warmup.count < min(won + won // 31 + 64, 4000)
    assert not both.current.map.postponed_
    assert not of_the_first_rows(both.current)


def test_a_model_whose_first_rows_are_soon_gone_is_never_hasty():
    X, y = changing(4000, 2500)
    model = learner().partial_fit(X[:2640], y[:2640])
    assert model.model_.challenger is not None
    assert not model.model_.challenger.map.postponed_


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_losses_keep_their_unit_when_a_third_class_comes(loss):
    X, y = changing(2000, 2000)
    model = learner(loss=loss).partial_fit(X, y)
    scores = model.model_.scores(X[:500])
    targets = 2.0 * y[:500] - 1.0
    before = model.model_.losses(scores, targets)
    model.model_.add_output(2)
    three = model.model_.scores(X[:500])
    after = model.model_.losses(three, y[:500].astype(float))
    # the logistic loss has an extra term for the new class
    new = 0.5 * np.logaddexp(0.0, three[:, 2]) if loss == "logistic" else 0.0
    np.testing.assert_allclose(after - new, before, rtol=1e-6)


def test_rows_before_a_challenger_are_no_gain_of_its_own():
    """The challenger begins with a new column, in the middle of a bin."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 3))
    X[:4063, 2] = 0.0
    y = ((X[:, 0] > 0.0) ^ (rng.random(6000) < 0.3)).astype(int)
    model = learner().fit(X[:4063, :2], y[:4063])
    assert len(model.model_.window) > 30
    model.add_columns(1)
    model.partial_fit(X[4063:4300], y[4063:4300])
    assert model.model_.n_changes == 0
    model.partial_fit(X[4300:], y[4300:])
    assert model.model_.history.in_vain == 0


def test_a_column_that_comes_later_is_learned_by_a_challenger():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12_000, 3))
    X[:4000, 2] = 0.0
    y = X[:, 0] + 3.0 * X[:, 2]
    model = OnlineKernelRegressor(n_components=40, speed="fast").fit(X[:4000, :2], y[:4000])
    row = [[0.5, -0.5]]
    before = model.predict(row)
    model.add_columns(1)
    assert model.predict([[0.5, -0.5, 0.0]]) == pytest.approx(before, rel=1e-6)
    error = model.predict_then_learn(X[4000:], y[4000:]) - y[4000:]
    assert model.model_.n_changes == 1
    assert np.var(error[4000:]) < 0.05 * np.var(y[8000:])


@cache
def fitted():
    X, y = changing(3000)
    return learner(memory=False).fit(X, y)


@pytest.mark.parametrize("alarmed", [True, False])
def test_after_an_alarm_a_challenger_begins_without_fits_that_the_budget_does_not_cover(alarmed):
    model = copy.deepcopy(fitted()).model_
    # a column has come: whether it matters is not known, so widths would compete
    model.current.map.expect_news()
    whole = model._begin_challenger()
    spare = model._begin_challenger()
    spare.map.spare_work()
    all_fits, needed = (one.map.work_between(0, one.map.warmup_rows())[1] for one in (whole, spare))
    assert needed < all_fits < model.budget.learned
    model.budget.followed = model.budget.learned - needed
    model.challenge(alarmed=alarmed)
    assert (model.challenger is not None) == alarmed
    assert model.column_waits != alarmed
    if alarmed:
        assert model.budget.followed == model.budget.learned
        assert whole.map.chooses(CHOICE_ROWS)
        assert not model.challenger.map.chooses(CHOICE_ROWS)


def test_while_losses_are_high_no_challenger_is_asked_for_that_is_not_covered(monkeypatch):
    model = copy.deepcopy(fitted()).model_
    begin, begun = model._begin_challenger, []
    monkeypatch.setattr(model, "_begin_challenger", lambda: begun.append(begin()) or begun[-1])
    model.budget.followed = model.budget.learned
    for _ in range(3):
        model.challenge(alarmed=True)
    assert len(begun) == 1
    assert model.challenger is None
    # as soon as it is covered, it begins
    model.budget.learned += model._least_work
    model.challenge(alarmed=True)
    assert model.challenger is begun[-1]
    assert model.budget.left == 0


def test_a_column_waits_while_alarms_are_refused_and_asks_anew_for_its_own_work():
    model = copy.deepcopy(fitted()).model_
    begin, begun = model._begin_challenger, []
    model._begin_challenger = lambda: begun.append(begin()) or begun[-1]
    model.budget.followed = model.budget.learned
    model.challenge(alarmed=False)
    model.challenge(alarmed=True)
    assert model.column_waits
    assert model.challenger is None
    assert len(begun) == 2
    # the work of a refused one is known, but not with another column, nor for the column's own
    model.challenge(alarmed=True)
    assert len(begun) == 2
    model.challenge(alarmed=False)
    assert len(begun) == 3
    model.widen(1)
    model.challenge(alarmed=True)
    assert len(begun) == 4


def test_what_is_known_of_changes_begins_anew_with_a_takeover(monkeypatch):
    model = copy.deepcopy(fitted()).model_
    model.budget.learned = 10**15
    # these challengers have learned no rows
    monkeypatch.setattr(model.budget, "refit", lambda _: None)
    losses = equal_losses(2.0, 1.0)
    for n in range(66):
        model.challenge(alarmed=True)
        assert model.challenger is not None
        model.column_waits, model.history.in_vain = True, 3
        assert not model._end_bin(losses)
        assert model._end_bin(losses)
        assert model.challenger is None
        assert model.n_changes == n + 1
        assert model.changed_at[-1] == model.n_bins * BIN_ROWS
        assert not model.column_waits
        assert model.history.in_vain == 0
        # the losses of a model that begins are no rise
        assert not len(model.history.sums)
    assert len(model.changed_at) == 64
    assert model.changed_at == sorted(model.changed_at)


def test_rows_before_a_change_get_the_columns_and_classes_that_come():
    model = copy.deepcopy(fitted()).model_
    X, y = changing(100)
    own = Warmup(200, 4, np.float64)
    own.keep(X, 2.0 * y - 1.0, np.ones(100))
    model.before = model._no_rows().followed(own, 100, 200, 0)
    model.widen(1)
    np.testing.assert_allclose(model.before.X, np.column_stack([X, np.zeros(100)]), rtol=1e-6)
    # a class that comes first moves the two others
    model.add_output(0)
    np.testing.assert_array_equal(model.before.y, y + 1.0)
    model.add_output(3)
    np.testing.assert_array_equal(model.before.y, y + 1.0)
    assert model.n_outputs == 4


@pytest.mark.parametrize("quietly", [True, False])
def test_a_value_of_a_known_category_begins_no_challenger_beside_the_second_model(quietly):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    walk = np.cumsum(rng.normal(size=3000)) * 0.5
    model = OnlineKernelRegressor(n_components=15, speed="fast")
    model.fit(X, X[:, 0] * np.tanh(walk) + walk)
    second = model.memory_.second
    assert second.current.ready
    assert second.current.warmup is None
    assert second.challenger is None
    together = second.current.map._together
    assert together is not None
    model.add_columns(1, quietly=quietly)
    assert (second.challenger is None and not second.column_waits) == quietly
    assert second.current.map._together is (together if quietly else None)


@pytest.mark.parametrize("largest", [1e100, 1e140])
@pytest.mark.filterwarnings("error")
def test_losses_too_large_to_square_are_no_change(largest):
    X, _ = changing(1500)
    y = np.sin(X[:, 0])
    y[0] = largest
    model = OnlineKernelRegressor(n_components=20, speed="fast").partial_fit(X, y)
    assert len(model.model_.history.sums) > 0
    assert np.isfinite(model.model_.history.sums).all()
    again = OnlineKernelRegressor.from_state(model.get_state())
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert model.model_.n_changes == 0
