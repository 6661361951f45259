"""`ClassSets`: coverage, sizes, blocks, saved and loaded."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onkel import ClassSets, DataError, ModelFileError


def rows(n, K=4, seed=0):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(K), n)
    codes = (P.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return P, np.minimum(codes, K - 1)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.99])
def test_coverage_though_the_probabilities_are_wrong(level):
    P, codes = rows(20_000)
    sharp = P**3 / (P**3).sum(axis=1, keepdims=True)
    before = ClassSets(level).learn(sharp, codes)
    assert abs(before[np.arange(20_000), codes].mean() - level) < 0.01


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([0.0, 1e-9, 0.3, 0.5, 0.999, 1.0]), min_size=1))
def test_the_theorem_over_any_sequence(p):
    """|misses/m - α| ≤ (max q - min q)/(ηm) from the first row to any."""
    sets, misses = ClassSets(0.9), 0
    q = [float(sets.q_[0])]
    for m, of_it in enumerate(p, 1):
        before = sets.learn([[of_it, 1.0 - of_it]], [0])
        misses += not before[0, 0]
        q.append(float(sets.q_[0]))
        assert abs(misses / m - 0.1) <= (max(q) - min(q)) / (0.5 * m) + 1e-9


def test_as_a_naive_loop():
    P, codes = rows(400)
    q, sets = 0.0, []
    for p, code in zip(P, codes, strict=True):
        scores = np.log((1 - p) / p)
        sets.append(scores <= q)
        q += 0.5 * (float(scores[code] > q) - 0.1)
    np.testing.assert_array_equal(ClassSets(0.9).learn(P, codes), sets)


@pytest.mark.parametrize("local", [True, False])
def test_blocks_do_not_matter_and_levels_are_nested(local):
    P, codes = rows(600)
    levels = [0.5, 0.8, 0.9]
    whole, parts = ClassSets(levels, local=local), ClassSets(levels, local=local)
    at_once = whole.learn(P, codes)
    pieces = [parts.learn(P[a : a + 7], codes[a : a + 7]) for a in range(0, 600, 7)]
    np.testing.assert_array_equal(np.concatenate(pieces), at_once)
    assert np.all(at_once[:, 0] <= at_once[:, 1])
    assert np.all(at_once[:, 1] <= at_once[:, 2])
    np.testing.assert_array_equal(whole.sets(P, 0.8), whole.sets(P)[:, 1])


def test_a_label_without_a_column_is_a_miss():
    sets = ClassSets(0.9)
    sets.learn(np.full((10, 2), 0.5), np.full(10, -1))
    assert sets.q_[0] > 4.0


def test_saved_loaded_and_merged():
    P, codes = rows(300)
    sets = ClassSets([0.8, 0.9])
    sets.learn(P[:200], codes[:200])
    again = ClassSets.from_state(sets.get_state())
    np.testing.assert_array_equal(
        again.learn(P[200:], codes[200:]), sets.learn(P[200:], codes[200:])
    )
    for field, value in (("q", np.array([np.nan, 1.0])), ("levels", np.array([0.9, 0.8]))):
        with pytest.raises(ModelFileError, match=field):
            ClassSets.from_state({**sets.get_state(), field: value})
    other = ClassSets([0.8, 0.9])
    other.take_in(sets)
    assert other.n_rows == 300
    with pytest.raises(ValueError, match="cannot be merged"):
        other.take_in(ClassSets(0.5))


def test_parts_that_went_on_from_the_same_sets_start_from_the_larger_ones():
    P, codes = rows(900)
    origin = ClassSets([0.8, 0.9])
    origin.learn(P[:300], codes[:300])
    one, two = copy.deepcopy(origin), copy.deepcopy(origin)
    one.learn(P[300:500], codes[300:500])
    two.learn(P[500:], codes[500:])
    one.q_[0] += 1.0
    for mine, its in ((one, two), (two, one)):
        merged = copy.deepcopy(mine)
        merged.take_in(its, origin)
        # what both knew counts once
        assert merged.n_rows == 900
        np.testing.assert_array_equal(merged.q_, np.maximum(one.q_, two.q_))
    # a part without rows of its own has nothing to say, not even that sets were larger before
    smaller = copy.deepcopy(origin)
    smaller.q_ -= 3.0
    smaller.take_in(origin, origin)
    assert smaller.n_rows == 300
    np.testing.assert_array_equal(smaller.q_, origin.q_ - 3.0)


def test_a_bad_row_is_refused_and_those_before_it_are_learned():
    P, codes = rows(10)
    sets, good = ClassSets(), ClassSets()
    codes[4] = 9
    with pytest.raises(DataError, match=r"row 4: label -?\d+, prob"):
        sets.learn(P, codes)
    good.learn(P[:4], codes[:4])
    assert sets.n_rows == 4
    np.testing.assert_array_equal(sets.q_, good.q_)
    with pytest.raises(ValueError, match="whole numbers"):
        sets.learn(P, codes.astype(float))


def test_sets_of_rows_that_stand_alone_are_steadier():
    P, codes = rows(8000)
    steady, quick = ClassSets(0.9, local=False), ClassSets(0.9)
    off = {steady: [], quick: []}
    for a in range(0, 8000, 400):
        for of, found in off.items():
            inside = of.sets(P)[np.arange(8000), codes].mean()
            if a >= 2000:
                found.append(abs(inside - 0.9))
            of.learn(P[a : a + 400], codes[a : a + 400])
    assert np.mean(off[steady]) < 0.6 * np.mean(off[quick])
    # in the long run both keep the level
    assert np.mean(off[steady]) < 0.03
    again = ClassSets.from_state(steady.get_state())
    assert not again.local
    with pytest.raises(ValueError, match="cannot be merged"):
        steady.take_in(quick)
