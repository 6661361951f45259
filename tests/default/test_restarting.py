"""Which model learns which rows, and when one follows another: by models whose errors are given."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from onkel.default.challenger import RestartingModel
from onkel.default.loss_window import BIN_ROWS, PATIENCE
from onkel.errors import MergeError, ModelFileError
from onkel.model.warmup import Warmup
from onkel.rules.base import RuleKind

# Losses rise at row 1024. That is seen 64 rows later, and a better model needs two bins.
RISES, SEEN, FOLLOWS = 1024, 1088, 1216


class Map:
    """A map that notes what it is asked; a row takes 1 multiplication, all fits ``fits``."""

    n_features_in_, dtype_, seed_ = 1, np.float64, 5

    def __init__(self, fits=1, first_rows=100):
        self.fits, self.first_rows = fits, first_rows
        self.beside, self.postponed, self.spared = None, [], False

    def warmup_rows(self):
        return self.first_rows

    def work_between(self, start, end):
        return end - start, 0 if start else self.fits

    def work_of_fit(self, count):
        return 1

    def next_fit(self, count, last):
        return 2**40, 2**40

    def begin_beside(self, other):
        self.beside = other

    def postpone(self, on, rows=0):
        self.postponed = [*self.postponed, on]

    def spare_work(self):
        self.spared, self.fits = True, self.fits // 2

    def add_columns(self, n):
        self.n_features_in_ += n


class Known:
    """A model that errs by ``error`` of a row's number, which is its target."""

    kept, ready, added = 0, True, 100.0

    def __init__(self, feature_map, rule, loss, epsilon, n_outputs):
        self.map, self.rule, self.n_outputs = feature_map, rule, n_outputs
        self.learned, self.blocks, self.calls, self.replaced = [], [], [], None
        self.went_back = []
        self.warmup = Warmup(self.kept, 1, np.float64) if self.kept else None

    def learn_apart(self, X, y, weight):
        if self.warmup is not None:
            self.warmup.keep(X, y, weight)
        self.learned += y.tolist()
        self.blocks.append(len(y))
        # an error that never varies would be no error to tell a rise from
        P = y + self.error(y) * (1.0 + 0.1 * (y % 2.0))
        return P[:, None], np.full((len(y), 1), self.added)

    def learn(self, X, y, weight):
        return sum(self.learn_apart(X, y, weight))

    def learn_ahead(self, X, y, weight):
        return len(self.learned), *self.learn_apart(X, y, weight)

    def go_back(self, parts, X, y, weight, P):
        self.went_back.append((self.learned[parts], y, P))

    def succeed(self, before):
        self.replaced = before

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *of: self.calls.append((name, *of))


def restarting(errors, kept=0, **of_map):
    """A model that may begin anew, and those that it makes, which err by ``errors`` in turn."""
    made = []

    def make(*of):
        model = type("Model", (Known,), {"kept": kept})(*of)
        model.error = errors[min(len(made), len(errors) - 1)]
        made.append(model)
        return model

    rule = SimpleNamespace(kind=RuleKind.GRADIENT)
    return RestartingModel(Map(**of_map), rule, None, 0.0, 1, make), made


def rises(y):
    return np.where(y < RISES, 1.0, 3.0)


def one(y):
    return np.ones(len(y))


def four(y):
    return np.full(len(y), 4.0)


def nearly_four(y):
    return np.full(len(y), 3.9)


def learned(model, a, b, block=64):
    found = []
    for start in range(a, b, block):
        y = np.arange(start, min(start + block, b), dtype=float)
        found.append(model.learn(y[:, None], y, np.ones(len(y))))
    return np.concatenate(found)[:, 0]


@pytest.mark.parametrize("block", [64, 1000, 3000])
def test_what_goes_on_goes_back_to_the_row_of_the_change_where_the_former_model_is_ahead(block):
    model, made = restarting([rises, one])
    learned(model, 0, 3000, block)
    ahead = [of for of in made if of.went_back]
    assert model.n_changes == 1
    (change,) = model.changed_at
    # a model that learns bin by bin is not ahead
    assert bool(ahead) == (block > 64)
    for former in ahead:
        ((first, y, P),) = former.went_back
        assert y[0] == first == block * ((change - 1) // block)
        assert y[-1] == change - 1
        np.testing.assert_array_equal(P[:, 0], former.learn_apart(y, y, None)[0][:, 0])


@pytest.mark.parametrize("block", [1, 50, 64, 777, 3000])
@pytest.mark.parametrize("first_rows", [100, 10_000])
def test_a_new_model_learns_each_row_since_the_alarm_once(block, first_rows):
    model, made = restarting([rises, one], kept=first_rows, first_rows=first_rows)
    P = learned(model, 0, 2000, block)
    old, new = made
    assert new.learned == list(range(SEEN, 2000))
    # the former model learns the rest of a block in vain
    assert old.learned[:FOLLOWS] == list(range(FOLLOWS))
    y = np.arange(2000.0)
    error = np.where(y < FOLLOWS, rises(y), 1.0)
    np.testing.assert_allclose(P, y + error * (1.0 + 0.1 * (y % 2.0)) + 100.0)
    assert (model.current, model.challenger, new.replaced) == (new, None, old)
    assert model.changed_at == [FOLLOWS]
    # a search waits until it has won, where rows are kept for longer than it has
    assert new.map.beside is old.map
    assert new.map.postponed[0] == (first_rows > PATIENCE)


def test_blocks_are_whole_where_nothing_is_to_be_decided():
    model, (only,) = restarting([one])
    learned(model, 0, 5000, 1000)
    assert only.blocks == [1000] * 5


@pytest.mark.parametrize("searches", [False, True])
def test_the_model_that_took_over_is_fitted_at_once_or_searches_bin_by_bin(searches, monkeypatch):
    first_rows = PATIENCE + searches
    model, made = restarting([rises, one], kept=20_000, first_rows=first_rows)
    asked = []
    monkeypatch.setattr(model.budget, "search", lambda of: asked.append((model.n_bins, of)))
    learned(model, 0, FOLLOWS + 320, 320)
    new = made[1]
    assert (("refit",) in new.calls) != searches
    assert model.waits_for_search == searches
    bins = range(FOLLOWS // BIN_ROWS, model.n_bins + 1)
    assert asked == ([(n, new) for n in bins] if searches else [])
    assert max(new.blocks[-2:]) == (BIN_ROWS if searches else 256)


def test_a_challenger_that_is_no_better_has_its_time_and_then_losses_must_rise_by_more():
    model, made = restarting([rises, four])
    learned(model, 0, SEEN + PATIENCE - 64)
    assert model.challenger is made[1]
    assert made[1].learned == list(range(SEEN, SEEN + PATIENCE - 64))
    learned(model, SEEN + PATIENCE - 64, SEEN + PATIENCE)
    assert model.challenger is None
    assert (model.n_changes, model.history.in_vain) == (0, 1)


def test_a_column_makes_a_challenger_begin_in_the_middle_of_a_bin():
    model, made = restarting([four, four])
    learned(model, 0, 1054)
    model.add_columns(1)
    assert ("add_columns", 1) in made[0].calls
    assert made[1].map.n_features_in_ == model.unfitted.n_features_in_ == 2
    learned(model, 1054, 1088)
    # on the rows before, both count as equal
    assert made[1].learned == list(range(1054, 1088))
    made[1].error = nearly_four
    learned(model, 1088, 1152)
    assert model.comparison.bins[0, 0] == 0.0
    gains = 0.5 * (4.0**2 - 3.9**2) * (1.0 + 0.1 * (np.arange(1088, 1152) % 2)) ** 2
    assert model.comparison.bins[1, 0] == pytest.approx(gains.sum())
    # so little is not worth a change; the next one is compared anew, and this one was no alarm
    learned(model, 1152, 1088 + PATIENCE)
    assert (model.challenger, model.n_changes, model.history.in_vain) == (None, 0, 0)
    model.add_columns(1)
    assert len(made) == 3
    assert not len(model.comparison.bins)


@pytest.mark.parametrize("name", ["ready", "warmup"])
def test_where_a_fit_is_still_to_come_a_column_needs_no_challenger(name):
    model, made = restarting([one])
    learned(model, 0, 640)
    setattr(made[0], name, False if name == "ready" else Warmup(9, 1, np.float64))
    model.add_columns(1)
    assert len(made) == 1
    assert ("add_columns", 1) in made[0].calls


def test_a_column_beside_a_challenger_waits_for_the_fits_of_both():
    model, made = restarting([one, one])
    learned(model, 0, 640)
    model.add_columns(1)
    made[1].ready = False
    model.add_columns(1)
    assert len(made) == 2
    made[1].ready = True
    model.add_columns(1)
    assert len(made) == 3


def test_a_column_waits_until_all_fits_are_covered():
    model, made = restarting([one], fits=1000)
    model.unfitted.fits = 0
    learned(model, 0, 640)
    model.unfitted.fits = 1000
    model.add_columns(1)
    assert model.column_waits
    learned(model, 640, 1024 - 64)
    assert model.challenger is None
    # 1000 rows, at the end of a bin
    learned(model, 1024 - 64, 1024)
    challenger = model.challenger
    assert challenger is made[-1]
    assert (model.column_waits, model.alarmed, challenger.map.spared) == (False, False, False)
    # then its rows count, beside its fits
    learned(model, 1024, 1152)
    assert model.budget.followed == 1000 + 128


def test_a_column_that_waits_is_forgotten_where_an_alarm_has_helped():
    model, made = restarting([rises, one], fits=1500)
    model.unfitted.fits = 0
    learned(model, 0, 640)
    model.unfitted.fits = 1500
    model.add_columns(1)
    # after an alarm half of the fits are enough
    learned(model, 640, FOLLOWS)
    assert model.changed_at == [FOLLOWS]
    assert made[-1].map.spared
    assert not model.column_waits


@pytest.mark.parametrize("searches", [False, True])
def test_rows_before_a_change_are_kept_for_a_search(searches):
    first_rows = PATIENCE + 1 if searches else 100
    model, made = restarting([rises, one], kept=20_000, first_rows=first_rows)
    learned(model, 0, 1300, 1300)
    if not searches:
        assert model.before is None
        return
    # not those that the former model learned in vain, nor those of the new one
    np.testing.assert_array_equal(model.before.y, np.arange(SEEN))
    np.testing.assert_array_equal(model.before.begins, [SEEN])
    ages = 1300 - np.arange(1300)
    made[1].rows_kept = lambda: ages[SEEN:]
    np.testing.assert_array_equal(model.rows_kept(), ages)
    # new values of a column: first of the rows before, then of its own, then of a challenger
    values = np.arange(1400.0)[:, None]
    made[1].fits_last = lambda: False
    model.change_rows_kept(np.array([0]), -values)
    made[1].fits_last = lambda: True
    model.change_rows_kept(np.array([0]), 2.0 * values)
    np.testing.assert_array_equal(model.before.X, 2.0 * values[:SEEN])
    (changed,) = (of[2] for of in made[1].calls if of[0] == "change_rows_kept")
    np.testing.assert_array_equal(changed, 2.0 * values[SEEN:1300])
    model.fix_map()
    assert model.before is None


def test_fits_are_asked_of_both_models_and_takeovers_fall_on_ends_of_bins():
    model, made = restarting([rises, one])
    learned(model, 0, SEEN + 10)
    old, new = made
    for first, second, expected in ((9, 90, 9), (90, 9, 9), (90, 90, 53)):
        old.rows_before_fit, new.rows_before_fit = lambda n=first: n, lambda n=second: n
        assert model.rows_before_fit() == expected
    for first, second in ((True, False), (False, True), (False, False)):
        old.fit_ahead, new.fit_ahead = lambda is_=first: is_, lambda is_=second: is_
        assert model.fit_ahead() == (first or second)
    model.fix_map()
    old.rows_before_fit = lambda: 90
    assert model.rows_before_fit() == 90
    assert ("fix_map",) in old.calls


def test_a_fixed_model_only_learns():
    model, made = restarting([rises, one])
    learned(model, 0, SEEN + 10)
    model.fix_map()
    assert not len(model.window)
    assert not len(model.comparison.bins)
    assert not len(model.history.sums)
    learned(model, SEEN + 10, 3000)
    model.add_columns(1)
    assert len(made) == 2
    assert made[0].calls[-1] == ("widen", 1)
    assert (model.challenger, model.n_bins) == (None, SEEN // BIN_ROWS)


def test_fixed_models_merge_and_others_do_not():
    (mine, (own,)), (other, (theirs,)) = restarting([one]), restarting([one])
    for fixed in (mine, other):
        with pytest.raises(MergeError, match="call"):
            mine.require_alike(other)
        fixed.fix_map()
    mine.require_alike(other)
    mine.take_in(other, None)
    mine.take_in(other, other)
    assert own.calls[1:] == [("require_alike", theirs), ("take_in", theirs, None),
                             ("take_in", theirs, theirs)]  # fmt: skip


def test_all_random_choices_follow_the_seed():
    model, made = restarting([one, one])
    learned(model, 0, 640)
    model.add_columns(1)
    model.seed = 11
    assert [of.seed for of in made] == [11, 11]
    assert model.unfitted.seed_ == model.seed == 11


def test_a_file_holds_as_many_changes_as_are_kept():
    model, _ = restarting([one])
    model.check_state({}, {"changes": 64})
    with pytest.raises(ModelFileError, match="changes: holds more than are kept"):
        model.check_state({}, {"changes": 65})


def test_an_interrupt_leaves_the_rows_that_a_model_keeps():
    model, (only,) = restarting([one], kept=500)
    learned(model, 0, 100)
    own, found = only.warmup, []
    both = Warmup(500, 1, np.float64)
    model.before = SimpleNamespace(tell=lambda *_: True, and_own=lambda *_: both)
    only.map.features = only.penalty = None

    def consolidate():
        found.append(only.warmup)
        raise KeyboardInterrupt

    only.consolidate = consolidate
    for ready, expected in ((True, both), (False, own)):
        only.ready = ready
        with pytest.raises(KeyboardInterrupt):
            model.consolidate()
        assert found.pop() is expected
        assert only.warmup is own
