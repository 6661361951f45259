"""The default learner as a graph: landmarks, their own widths, cells, and a restart."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

from onkel import OnlineKernelClassifier, OnlineKernelRegressor
from onkel.default.bins import PairBins
from onkel.default.cells import AGREED, SIZE
from onkel.export import models
from onkel.export.graph import Graph

pytestmark = pytest.mark.compiled


def rows(n=3000, seed=0):
    """A target with a wave and a jump, and a column with heavy tails."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 4))
    X[:, 3] = np.exp(3.0 * rng.standard_normal(n))
    y = np.sin(2.0 * X[:, 0]) + 2.0 * (X[:, 1] > 1.0) + 0.1 * np.log(X[:, 3])
    return X, y + 0.05 * rng.standard_normal(n)


@pytest.mark.parametrize("memory", ["auto", False])
def test_landmarks_and_cells_of_a_regression(memory, graph_of, agrees):
    X, y = rows()
    learner = OnlineKernelRegressor(n_components=60, speed="fast", memory=memory).fit(X, y)
    model = learner.model_.current
    # make sure that tails are drawn in and that cells matter
    assert model.map.get_state()["tails"][1].any()
    assert np.abs(model.stages[0].scores(X)).max() > 0.01
    agrees(learner, graph_of(learner), rows(1000, seed=1)[0])


@pytest.mark.parametrize("n_classes", [2, 5])
def test_landmarks_and_cells_of_a_classification(n_classes, graph_of, agrees, monkeypatch):
    # force several lookups
    monkeypatch.setattr(models, "_AT_ONCE", 15)
    X, y = rows()
    cuts = np.quantile(y, np.arange(1, n_classes) / n_classes)
    learner = OnlineKernelClassifier(n_components=40, speed="fast").fit(X, np.digitize(y, cuts))
    run = graph_of(learner)
    agrees(learner, run, rows(1000, seed=1)[0])
    # scores beyond the calibrated range of probabilities
    agrees(learner, run, 50.0 * rows(100, seed=1)[0])


def test_a_search_with_widths_of_the_landmarks_own(graph_of, agrees):
    X, y = rows(2100)
    learner = OnlineKernelRegressor(n_components=10, memory=False).fit(X[:, :3], y)
    assert learner.map_.width_.ndim == 2
    agrees(learner, graph_of(learner), rows(500, seed=1)[0][:, :3])


@pytest.mark.parametrize("n_classes", [None, 2, 4])
def test_trees_of_the_last_fit(n_classes, graph_of, agrees, monkeypatch):
    monkeypatch.setattr(models, "_AT_ONCE", 15)
    X, y = rows(1500)
    if n_classes is None:
        learner = OnlineKernelRegressor(n_components=40, memory=False).fit(X, y)
    else:
        cuts = np.quantile(y, np.arange(1, n_classes) / n_classes)
        learner = OnlineKernelClassifier(n_components=40, memory=False)
        learner.fit(X, np.digitize(y, cuts))
    trees = learner.model_.current.trees
    new = rows(1000, seed=1)[0]
    # values on the edges, too
    new[: len(trees.edges), trees.columns[0, 0]] = trees.edges[:, 0]
    assert np.abs(trees.correction(new, np.zeros((1000, learner.model_.n_outputs)))).max() > 0.01
    agrees(learner, graph_of(learner), new)


@pytest.mark.parametrize("n_classes", [None, 2, 3])
def test_trees_whose_leaves_learn(n_classes, graph_of, agrees):
    X, y = rows(5200)
    learner = OnlineKernelRegressor(n_components=80, speed="fast", memory=False)
    if n_classes is not None:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
        learner = OnlineKernelClassifier(n_components=80, speed="fast", memory=False)
    trees = learner.partial_fit(X, y).model_.current.trees
    assert trees.leaves is not None
    new = rows(500, seed=1)[0]
    assert np.abs(trees.correction(new, np.zeros((500, learner.model_.n_outputs)))).max() > 0.01
    agrees(learner, graph_of(learner), new)


def test_loss_logistic_without_cells_and_restart(graph_of, agrees):
    X, y = rows(1100)
    learner = OnlineKernelClassifier(n_components=20, speed="fast", loss="logistic", restart=False)
    agrees(learner.fit(X, y > 1.0), graph_of(learner), X)


def test_the_graph_is_that_of_the_model_that_took_over(graph_of, agrees):
    X, y = rows(6000)
    y[3000:] = -y[3000:]
    learner = OnlineKernelRegressor(n_components=20, speed="fast", memory=False).fit(X, y)
    assert learner.changes_
    agrees(learner, graph_of(learner), X[-500:])


@pytest.mark.parametrize("n_edges", [1, 2, 3, 7, 8, 31, 100, 128, 255])
def test_bins_of_any_number_are_found(n_edges):
    rng = np.random.default_rng(0)
    edges = [np.sort(rng.standard_normal(n)) for n in (n_edges, 1 + n_edges // 3)]
    bins = PairBins(np.array([0, 2]), edges)
    # values on the edges, too
    X = rng.standard_normal((300, 3))
    X[:n_edges, 0] = edges[0]
    graph = Graph()
    graph.output("bins", models._bins(bins, graph.input("X", np.float64, 3)), 2)
    session = onnxruntime.InferenceSession(graph.proto("bins").SerializeToString())
    below = [np.searchsorted(ends, X[:, j]) for j, ends in zip((0, 2), edges, strict=True)]
    np.testing.assert_array_equal(session.run(None, {"X": X})[0], np.transpose(below))


def test_more_columns_than_landmarks(graph_of, agrees):
    X, y = rows(1500)
    rng = np.random.default_rng(0)
    X = np.hstack([X, rng.standard_normal((1500, 30))])
    y = y + X[:, 4:] @ rng.standard_normal(30)
    learner = OnlineKernelRegressor(n_components=20, speed="fast", memory=False).fit(X, y)
    linear = learner.model_.current.linear
    assert linear is not None
    assert np.abs(linear.correction(X, np.zeros((1500, 1)))).max() > 1.0
    agrees(learner, graph_of(learner), 2.0 * X)


def test_a_linear_part_that_won(graph_of, agrees):
    rng = np.random.default_rng(0)
    X = np.exp(1.2 * rng.standard_normal((1500, 3)))
    y = X @ np.array([1.0, -2.0, 0.5]) + 0.1 * rng.standard_normal(1500)
    learner = OnlineKernelRegressor(n_components=20, speed="fast", memory=False).fit(X, y)
    linear = learner.model_.current.linear
    assert linear.share > 0.9
    # some are farther than values of other linear parts may be
    assert (np.abs(linear.units(20.0 * X)) > 32.0).any()
    agrees(learner, graph_of(learner), 20.0 * X)
    # rows that have a column which came later
    learner.add_columns(2)
    wide = np.column_stack([X, np.zeros((1500, 2))])
    wide[::2, 4] = -0.5
    agrees(learner, graph_of(learner), wide)


@pytest.mark.parametrize("kind", ["numbers", "two", "three"])
def test_a_linear_model_that_follows_the_stream(kind, graph_of, agrees):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 4))
    angle = 2.0 * np.pi * np.arange(4000) / 3000.0
    f = np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1]
    y = f if kind == "numbers" else np.digitize(f, [0.0] if kind == "two" else [-0.5, 0.5])
    learner = OnlineKernelRegressor if kind == "numbers" else OnlineKernelClassifier
    learner = learner(n_components=20, speed="fast", memory=False).partial_fit(X, y)
    follower = learner.model_.current.follower
    assert max(follower.shares) > 0.1
    # of classes both models count
    count = slice(1, 2) if kind == "numbers" else slice(2)
    follower.sums[count][..., [AGREED, SIZE]] = 300.0, 1000.0
    follower.fewer[count], follower.proven[count] = (3.0, 1.0), 1
    assert min(follower.shares[count]) > 0.1
    agrees(learner, graph_of(learner), np.concatenate([X, 1e3 * X]))
