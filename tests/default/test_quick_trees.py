"""How many trees speed="fast" grows, of which columns, and how often."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.default import quick_trees as of_quick_trees
from onkel.default.boosting import Binned, boosted, judged, rate_of
from onkel.default.held_out import HeldOut
from onkel.default.quick_trees import quick_trees
from onkel.default.tree_part import TreePart

pytestmark = pytest.mark.compiled

HELD = np.arange(400, 500)


def rows(n=500, d=8):
    """Rows with a step in columns 5 and 7, targets and weights."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    Y = np.sign(X[:, 5:6]) * (X[:, 7:8] > 0.0) + 0.1 * rng.standard_normal((n, 1))
    return X, Y, rng.uniform(0.5, 2.0, n)


def grown(X, Y, weight, matter, n_landmarks, predictions=None):
    known = np.zeros((len(HELD), Y.shape[1])) if predictions is None else predictions
    held, rng = HeldOut.at_once(HELD, known), np.random.default_rng(0)
    return quick_trees(X, Y, weight, held, np.array(matter), n_landmarks, rng, 1.0)


@pytest.fixture
def growths(monkeypatch):
    """What trees were judged and grown with, and what came of it."""
    found = {"judged": [], "boosted": []}

    def noted(name, grow):
        def grow_and_note(*of):
            found[name].append((of, grow(*of)))
            return found[name][-1][1]

        monkeypatch.setattr(of_quick_trees, name, grow_and_note)

    noted("judged", judged)
    noted("boosted", boosted)
    return found


@pytest.mark.parametrize(
    ("n_landmarks", "K", "most"),
    [(22, 1, 0), (23, 1, 16), (60, 1, 112), (60, 2, 56), (98, 1, 300), (200, 1, 300)],
)
def test_trees_are_as_many_as_landmarks_allow(n_landmarks, K, most, monkeypatch):
    asked = []

    def one(task, rngs, held, patience):
        asked.append((task.n_trees, task.rate, patience))
        return judged(task._replace(n_trees=1), rngs, held, patience)

    monkeypatch.setattr(of_quick_trees, "judged", one)
    X, Y, weight = rows()
    assert grown(X, np.hstack([Y] * K), weight, range(8), n_landmarks) is None
    assert asked == ([(most, rate_of(most), 50)] if most else [])


@pytest.mark.parametrize(("n_trees", "times"), [(10, 8), (20, 5), (35, 3), (60, 1)])
def test_the_best_trees_are_grown_so_often_that_as_many_are_averaged(n_trees, times, monkeypatch):
    def best(*of):
        losses = np.ones(20)
        losses[n_trees // 5] = 0.5
        return judged(*of)[0], losses

    monkeypatch.setattr(of_quick_trees, "judged", best)
    part = grown(*rows(), range(8), 60)
    assert len(part.values) == n_trees * times


def test_trees_are_judged_as_they_are_kept_and_predict_the_mean(growths):
    X, Y, weight = rows()
    part = grown(X, Y, weight, range(8), 60)
    ((of, ((trees,), losses)),) = growths["judged"]
    n_trees = 5 * int(losses.argmin())
    assert n_trees < len(trees.values)
    kept = [(of[0].rows, trees)] + [(of[0].rows, trees) for of, trees in growths["boosted"]]
    F = [trees.sums(binned.bins, n_trees) for binned, trees in kept]
    np.testing.assert_allclose(
        part.predictions(X), part.middle + part.scale * np.mean(F, axis=0), rtol=1e-4, atol=1e-5
    )
    again = TreePart(1)
    again.begin(Y, weight)
    held = HeldOut.at_once(HELD, np.zeros((100, 1)))
    again.judge(F[0][HELD], Y, weight / weight.mean(), held)
    np.testing.assert_allclose(part.sums, again.sums, rtol=1e-9)


def test_edges_are_shifted_anew_each_time(growths):
    X, Y, weight = rows()
    grown(X, Y, weight, range(8), 100)
    times = [of[0].rows.edges[0] for of, _ in growths["judged"] + growths["boosted"]]
    assert len(times) > 1
    for edges in ([Binned.of(X).edges[0]], times[1:]):
        assert not any(np.array_equal(edge, times[0]) for edge in edges)


@pytest.mark.parametrize("matter", [[5, 7], [1, 5, 7]])
def test_a_quarter_of_the_columns_may_be_asked_alone(matter, growths):
    part = grown(*rows(), matter, 60)
    few = len(matter) == 2
    assert [len(of[0].rows.bins) for of, _ in growths["judged"]] == ([8, 2] if few else [8])
    asked = set(part.columns[np.isfinite(part.edges)])
    # the trees say which columns of all rows they ask
    assert (asked == {5, 7}) == few


def test_where_no_tree_is_best_or_none_has_a_share_there_are_none(growths):
    X, Y, weight = rows()
    assert grown(X, Y, weight, range(8), 60, Y[HELD]) is None
    assert growths["judged"][0][1][1].argmin() > 0
    noise = np.random.default_rng(1).standard_normal(Y.shape)
    assert grown(X, noise, weight, range(8), 60) is None
    assert growths["judged"][1][1][1].argmin() == 0
    assert not growths["boosted"]


def test_the_unit_of_weights_does_not_matter():
    X, Y, weight = rows()
    one, other = (grown(X, Y, unit * weight, range(8), 60) for unit in (1.0, 64.0))
    np.testing.assert_allclose(other.values, one.values, rtol=1e-5, atol=1e-7)
