"""`Alarm`: false alarms where nothing changes, delays where something does, exact p-values."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from tests.intervals.oracles import naive_alarm

from onkel import Alarm, DataError, ModelFileError
from onkel.intervals import alarm as module


def scores(kind, n, rng):
    if kind == "ties":
        return (rng.random(n) < 0.06).astype(float)
    if kind == "counts":
        return rng.poisson(1.5, n).astype(float)
    if kind == "gaps":
        return np.where(rng.random(n) < 0.5, 0.0, rng.exponential(size=n))
    return rng.exponential(size=n) if kind == "exponential" else np.abs(rng.standard_cauchy(n))


@pytest.mark.parametrize("kind", ["ties", "counts", "gaps", "exponential", "cauchy"])
def test_false_alarms_where_nothing_changes(kind):
    """A small threshold, so that there is something to count: mean run length at least 1 000."""
    rng, rings, n = np.random.default_rng(0), 0, 400_000
    for seed in range(4):
        alarm = Alarm(1000.0, quiet=0, reference=100, random_state=seed)
        rings += len(alarm.learn(scores(kind, n // 4, rng)))
    assert rings <= n / 1000.0
    assert rings > n / 8000.0


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["ties", "exponential"])
def test_100_streams_of_100_000_rows(kind):
    rng = np.random.default_rng(1)
    rings = [len(Alarm(random_state=k).learn(scores(kind, 100_000, rng))) for k in range(100)]
    # at most 100 are promised on average; twice the spread of a Poisson count is allowed
    assert sum(rings) <= 100


def test_the_alarm_rings_soon_after_a_change():
    rng = np.random.default_rng(0)
    for seed in range(5):
        wrong = (rng.random(20_000) < np.where(np.arange(20_000) < 15_000, 0.06, 0.5)) * 1.0
        late = [t for t in Alarm(random_state=seed).learn(wrong) if t >= 15_000]
        assert late
        assert late[0] - 15_000 < 100


def test_smaller_scores_ring_no_alarm_and_renew_the_reference():
    rng = np.random.default_rng(0)
    alarm = Alarm()
    t = np.arange(20_000)
    size = np.where(t < 5000, 3.0, np.where(t < 15_000, 1.0, 2.0))
    rings = alarm.learn(np.abs(rng.standard_normal(20_000)) * size)
    # without a new reference, errors back at 2 would look smaller than those of the first rows
    assert rings.min() > 15_000
    assert rings.min() < 15_300


def test_quiet_after_a_ring():
    rng = np.random.default_rng(0)
    # errors that never stop growing
    growing = rng.exponential(size=8000) * np.exp(np.arange(8000) / 500)
    for quiet in (0, 1000):
        alarm = Alarm(reference=50, quiet=quiet)
        rings = alarm.learn(growing)
        assert len(rings) > 3
        assert np.diff(rings).min() > quiet + 50
        assert alarm.alarms_ == (rings + 1).tolist()


@settings(max_examples=80, deadline=None)
@drawn(
    st.lists(st.sampled_from([0.0, 1.0, 2.5, 7.0]), min_size=1, max_size=20),
    st.lists(st.integers(1, 50), min_size=21, max_size=21),
    st.integers(0, 2**32 - 1),
)
def test_bets_are_fair(edges, shares, seed):
    """The mean of each bettor's factor is 1 if rows fall into bins by their shares."""
    rng, E = np.random.default_rng(seed), len(edges)
    edges, ties = np.array(edges), rng.random(E)
    begun = np.empty(E + 1, np.int64)
    module._begin(edges, ties, begun, np.zeros((2, 4)))
    assert begun.sum() == E + 1
    rows = np.array(shares[: E + 1]) * (begun > 0)
    shares = begun + rows
    total, means = shares.sum(), np.zeros((2, 4))
    for k in np.flatnonzero(shares):
        # a score and a tie-breaking number that fall into bin k
        if k == 0:
            score, tie = edges[0] - 1.0, 0.5
        elif k == E:
            score, tie = edges[-1] + 1.0, 0.5
        else:
            equal = edges[k - 1] == edges[k]
            score = edges[k] if equal else 0.5 * (edges[k - 1] + edges[k])
            tie = 0.5 * (ties[k - 1] + ties[k]) if equal else 0.5
        grown = shares.copy()
        above, own = module._place(score, tie, edges, ties, grown, total)
        assert (grown - shares).tolist() == [int(j == k) for j in range(E + 1)]
        assert own == shares[k]
        for row, (a, b) in enumerate([(above, above + own), (total - above - own, total - above)]):
            # a capital that is large beside what a new bettor adds
            capital = np.full(4, 1e9)
            module._bet(capital, a / total, b / total)
            means[row] += shares[k] / total * capital / 1e9
    np.testing.assert_allclose(means, 1.0, atol=1e-8)


@pytest.mark.parametrize("kind", ["ties", "counts", "cauchy"])
def test_as_the_naive_alarm(kind):
    rng = np.random.default_rng(3)
    given = scores(kind, 1500, rng) * np.where(np.arange(1500) < 700, 1.0, 3.0)
    given += (rng.random(1500) < 0.4) * (np.arange(1500) >= 700)
    for threshold in (50.0, 1e4):
        alarm = Alarm(threshold, reference=30, quiet=40, random_state=5)
        rings, evidence = naive_alarm(given.tolist(), threshold, 30, 40, 5)
        assert alarm.learn(given).tolist() == rings
        assert rings
        assert alarm.evidence_ == pytest.approx(evidence, rel=1e-9)


@pytest.mark.parametrize("width", [3000, 10_000])
def test_gradual_changes_are_heard_early(width):
    """The share of rows with 50 % mistakes grows from 0 to 1 over ``width`` rows."""
    delays, n = [], 10_000
    for seed in range(6):
        rng = np.random.default_rng(seed)
        share = np.clip((np.arange(n + width) - n) / width, 0.0, 1.0)
        wrong = (rng.random(n + width) < 0.06 + 0.44 * share) * 1.0
        delays.append(min(t - n for t in Alarm(random_state=seed).learn(wrong) if t >= n))
    # bets on random p-values within the ties need half as many rows more
    assert np.median(delays) < (600 if width == 3000 else 1300)


def test_a_ring_is_a_line_of_the_log(caplog):
    rng = np.random.default_rng(0)
    with caplog.at_level("INFO", logger="onkel.alarm"):
        rings = Alarm().learn(rng.exponential(size=9000) * np.where(np.arange(9000) < 6000, 1, 5))
    messages = [record.getMessage() for record in caplog.records]
    assert messages == [
        f"alarm: scores have become larger; it rang after row {t + 1}" for t in rings
    ]
    assert messages


def test_blocks_do_not_matter():
    rng = np.random.default_rng(0)
    given = rng.exponential(size=3000) * np.where(np.arange(3000) < 1500, 1.0, 3.0)
    whole, parts = Alarm(reference=50), Alarm(reference=50)
    rings = whole.learn(given)
    found = [a + int(t) for a in range(0, 3000, 11) for t in parts.learn(given[a : a + 11])]
    assert found == rings.tolist()
    assert parts.alarms_ == whole.alarms_
    assert parts.evidence_ == whole.evidence_


def test_saved_and_loaded():
    rng = np.random.default_rng(0)
    given = rng.exponential(size=3000) * np.where(np.arange(3000) < 2000, 1.0, 3.0)
    alarm = Alarm(reference=50, quiet=100)
    alarm.learn(given[:1000])
    again = Alarm.from_state(alarm.get_state())
    assert alarm.learn(given[1000:]).tolist() == again.learn(given[1000:]).tolist()
    assert repr(again) == repr(alarm)
    state = alarm.get_state()
    for field, value in (
        ("shares", np.zeros(51, np.int64)),
        ("counts", np.array([3, 9])),
        ("edges", np.arange(50.0)[::-1].copy()),
        ("threshold", 0.0),
    ):
        with pytest.raises(ModelFileError, match=field):
            Alarm.from_state({**state, field: value})


def test_the_last_64_rings_are_kept():
    scores = np.random.default_rng(0).exponential(size=8000)
    alarm = Alarm(5.0, reference=5, quiet=0)
    rows = np.concatenate([a + alarm.learn(scores[a : a + 100]) + 1 for a in range(0, 8000, 100)])
    assert len(rows) > 100
    assert alarm.alarms_ == rows[-64:].tolist()


def test_merged_alarms_begin_anew():
    rng = np.random.default_rng(0)
    a, b = Alarm(), Alarm()
    a.learn(rng.exponential(size=1000))
    b.learn(rng.exponential(size=500))
    a.take_in(b)
    assert a.n_rows == 1500
    assert a.evidence_ == 0.0


def test_rings_of_parts_that_went_on_from_the_same_alarm_are_kept_once():
    rng = np.random.default_rng(0)
    origin = Alarm(reference=50, quiet=100)

    def learn_change(alarm):
        alarm.learn(np.concatenate([rng.exponential(size=300), 5.0 + rng.exponential(size=300)]))

    learn_change(origin)
    one, two = copy.deepcopy(origin), copy.deepcopy(origin)
    learn_change(one)
    for _ in range(2):
        learn_change(two)
    assert (len(origin.alarms_), len(one.alarms_), len(two.alarms_)) == (1, 2, 3)
    merged = copy.deepcopy(one)
    merged.take_in(two, origin)
    assert merged.n_rows == 600 + 600 + 1200
    assert merged.alarms_ == sorted(one.alarms_ + two.alarms_[1:])
    # the reference is renewed
    merged.learn(rng.exponential(size=50))
    assert merged.evidence_ == 0.0
    merged.learn(rng.exponential(size=2))
    assert merged.evidence_ > 0.0
    # but not where nothing is new
    before = copy.deepcopy(one.get_state())
    one.take_in(origin, origin)
    assert str(one.get_state()) == str(before)


def test_what_is_refused():
    alarm = Alarm()
    with pytest.raises(DataError, match="row 1: score nan is"):
        alarm.learn([1.0, np.nan, 2.0])
    assert alarm.n_rows == 1
    for wrong in ({"threshold": 1.0}, {"reference": 0}, {"quiet": -1}, {"random_state": 0.5}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Alarm(**wrong)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
def test_a_copy_goes_on_by_itself(copied):
    scores = np.random.default_rng(0).exponential(size=600)
    whole, part = Alarm(), Alarm()
    whole.learn(scores)
    part.learn(scores[:500])
    other = copied(part)
    other.learn(scores[500:])
    assert part.n_rows == 500
    for name, value in whole.get_state().items():
        assert np.array_equal(other.get_state()[name], value)
