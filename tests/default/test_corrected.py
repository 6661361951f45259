"""A model and its corrections against the parts themselves, learned one after the other."""

from __future__ import annotations

import copy
from operator import attrgetter
from types import SimpleNamespace

import numpy as np
import pytest

from onkel.default import with_search
from onkel.default.bins import PairBins
from onkel.default.cells import AGREED, DOUBT, SIZE, PairCells, learn_in_stages
from onkel.default.column_choice import ColumnChoice, LearnedRows
from onkel.default.corrected_by_cells import CorrectedModel
from onkel.default.held_out import HeldOut
from onkel.default.learning_leaves import LearningLeaves
from onkel.default.linear_follower import LinearFollower
from onkel.default.linear_part import LinearPart
from onkel.default.tree_part import TreePart
from onkel.default.with_search import ModelWithSearch
from onkel.errors import MergeError, ModelFileError
from onkel.explicit.model import ExplicitModel
from onkel.losses import Loss
from onkel.maps.fourier import FourierFeatures
from onkel.model.warmup import Warmup
from onkel.numerics.arrays import targets_of
from onkel.rules import LeastSquares

pytestmark = pytest.mark.compiled

B = 20


def made(kind=CorrectedModel, d=25, n_outputs=1, n_components=B):
    """A model over so many features, which need no first rows."""
    feature_map = FourierFeatures(n_components=n_components, gamma=0.01, random_state=0)
    feature_map.start(d, np.float64)
    return kind(feature_map, LeastSquares(), Loss.SQUARED, 0.0, n_outputs)


def rows(n, d=25, seed=0):
    """A sum over columns and a jump; some rows have no weight."""
    rng = np.random.default_rng(seed)
    X, weight = rng.standard_normal((n, d)), rng.integers(0, 3, n).astype(float)
    return X, X @ np.linspace(0.0, 0.5, d) + np.sign(X[:, 0] * X[:, 1]), weight


def stumps(d=25, n_outputs=1, learn=False):
    """Some trees of numbers."""
    rng, part = np.random.default_rng(4), TreePart(n_outputs)
    part.columns, part.edges = rng.integers(0, d, (3, 6)), rng.standard_normal((3, 6))
    part.values = rng.standard_normal((3, 64, n_outputs)).astype(np.float32)
    part.sums[[AGREED, SIZE]] = 5.0, 10.0
    if learn:
        part.leaves = LearningLeaves(part.values.shape, 1.0, 0.1, 1.0)
        part.leaves.recent[[AGREED, SIZE]] = 6.0, 10.0
    return part


class Parts:
    """The parts of a model, and what they learn, by the docstrings."""

    def __init__(self, n_outputs=1, d=25):
        self.f, self.K = made(ExplicitModel, d, n_outputs), n_outputs
        self.stages = [PairCells(PairBins.none(), n_outputs)]
        self.linear = self.follower = None
        self.X, self.y, self.weight, self.R = [], [], [], []

    def learn(self, X, y, weight):
        """One row after the other; columns are chosen after 64, 128, ... 1024 rows of weight."""
        found = []
        for t in range(len(y)):
            x, target, w = X[t : t + 1], y[t : t + 1], weight[t : t + 1]
            Y, P = targets_of(target, self.K), self.f.learn(x, target, w)
            R = Y - P
            P = P + learn_in_stages(self.stages, x, R, w)
            if self.linear is not None:
                P = P + self.linear.learn(x, Y, P, w)
            found.append(P if self.follower is None else P + self.follower.learn(x, Y, P, w))
            if w > 0.0 and len(self.y) < 1024:
                for kept, new in zip(
                    (self.X, self.y, self.weight, self.R), (x, target, w, R), strict=True
                ):
                    kept.append(new)
                if len(self.y) in (64, 128, 256, 512, 1024):
                    self.choose(
                        *(np.concatenate(of) for of in (self.X, self.y, self.weight, self.R))
                    )
        return np.concatenate(found)

    def choose(self, X, y, weight, R):
        Y = targets_of(y, self.K)
        bins = PairBins.of(X, Y, 2 * B**2 // (self.K + 1))
        self.stages = [PairCells(bins, self.K)]
        self.stages[0].learn(X, R, weight)
        if len(y) == 1024:
            self.stages += [PairCells(bins.alone(), self.K, of) for of in (0.9998, 0.998)]
            self.linear = LinearPart.begun(X, self.K, 1.0)
            self.linear.learn(X, Y, Y - R, weight)
            self.follower = LinearFollower.begun(X, Y, 1.0)
            self.follower.learn(X, Y, Y - R, weight)
            self.follower.begin_share()


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_model_is_the_sum_of_its_parts(n_outputs):
    X, y, weight = rows(1700)
    y = y if n_outputs == 1 else np.digitize(y, [-1.0, 1.0]).astype(float)
    model, parts = made(n_outputs=n_outputs), Parts(n_outputs)
    expected = parts.learn(X, y, weight)
    for cuts in ([], [1, 30, 64, 700, 1600]):
        model = made(n_outputs=n_outputs)
        of = [slice(a, b) for a, b in zip([0, *cuts], [*cuts, 1700], strict=True)]
        found = np.concatenate([model.learn(X[some], y[some], weight[some]) for some in of])
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    for stage, own in zip(model.stages, parts.stages, strict=True):
        np.testing.assert_allclose(stage.W, own.W, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.linear.W, parts.linear.W, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model.follower.W, parts.follower.W, rtol=1e-6, atol=1e-9)
    # what the rows that chose the columns need is kept no longer
    assert model.choice is None


@pytest.fixture(scope="module")
def learned():
    """A model whose columns are chosen, with a linear part; and the rows that it has learned."""
    X, y, weight = rows(1700)
    model = made()
    model.learn(X, y, weight)
    return model, X, y, weight


def test_a_late_stage_learns_what_the_others_leave(learned):
    model = copy.deepcopy(learned[0])
    model.add_columns(1)
    X, y, _ = rows(64, d=26, seed=1)
    Y, weight, parts = y[:, None], np.ones(64), copy.deepcopy(model)
    model.learn(X, y, weight)
    P = ExplicitModel.learn(parts, X, y, weight)
    P += learn_in_stages(parts.stages, X, Y - P, weight)
    late = PairCells(PairBins.of(X, Y, B**2), 1)
    late.learn(X, Y - P, weight)
    assert [len(of.stages) for of in (parts, model)] == [3, 4]
    np.testing.assert_allclose(model.stages[3].W, late.W, rtol=1e-6, atol=1e-9)
    # its columns are chosen by 1 024 rows, too
    assert model.choice.n_rows == 1024


def test_stages_forget_as_f_does_and_two_of_them_more():
    model = made()
    model.rule.set_params(forgetting=0.999)
    model = CorrectedModel(model.map, model.rule, Loss.SQUARED, 0.0, 1)
    X, y, _ = rows(1100)
    model.learn(X, y, np.ones(1100))
    model.add_columns(1)
    model.learn(np.hstack([X, X[:, :1]]), y, np.ones(1100))
    found = [stage.forgetting for stage in model.stages]
    np.testing.assert_allclose(found, 0.999 * np.array([1.0, 0.9998, 0.998, 1.0]))
    assert model.linear.forgetting == 0.999


@pytest.mark.parametrize("leaves_learn", [False, True])
def test_trees_come_after_the_parts_and_those_that_learn_apart(learned, leaves_learn):
    model, without = (copy.deepcopy(learned[0]) for _ in "12")
    model.follower = without.follower = None
    model.trees = stumps(learn=leaves_learn)
    X, y, weight = rows(50, seed=1)
    Y, trees = y[:, None], copy.deepcopy(model.trees)
    scores, variance = model.scores(X), model.variance(X)
    P = without.scores(X)
    np.testing.assert_allclose(scores, P + trees.share * (trees.predictions(X) - P))
    left = [of.left for of in (*model.stages, model.linear, trees)]
    np.testing.assert_allclose(variance, ExplicitModel.variance(model, X) * np.prod(left))
    found = model.learn_apart(X, y, weight)
    P, none = without.learn_apart(X, y, weight)
    assert not none.any()
    added = trees.learn(X, Y, P, weight)
    assert np.abs(added).max() > 0.1
    expected = (P, added) if leaves_learn else (P + added, none)
    for mine, own in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, own)


@pytest.mark.parametrize("leaves_learn", [False, True])
def test_what_follows_the_stream_comes_last_and_apart(learned, leaves_learn):
    model, without = (copy.deepcopy(learned[0]) for _ in "12")
    model.follower.sums[..., [AGREED, DOUBT, SIZE]] = 6.0, 0.1, 10.0
    model.follower.proven[:] = 1
    model.trees, without.trees = stumps(learn=leaves_learn), stumps(learn=leaves_learn)
    follower, without.follower = copy.deepcopy(model.follower), None
    X, y, weight = rows(50, seed=1)
    P = without.scores(X)
    np.testing.assert_allclose(model.scores(X), P + follower.correction(X, P))
    np.testing.assert_allclose(model.variance(X), without.variance(X) * follower.left)
    found = model.learn_apart(X, y, weight)
    P, added = without.learn_apart(X, y, weight)
    own = follower.learn(X, y[:, None], P + added, weight)
    assert np.abs(own).max() > 0.1
    np.testing.assert_allclose(found[0], P)
    np.testing.assert_allclose(found[1], added + own)


@pytest.mark.parametrize("leaves_learn", [False, True])
def test_what_goes_on_in_another_model_goes_back_to_some_row(learned, leaves_learn):
    model, ahead = (copy.deepcopy(learned[0]) for _ in "12")
    for of in (model, ahead):
        of.trees = stumps(learn=leaves_learn)
    X, y, weight = rows(50, seed=1)
    parts, P, _ = ahead.learn_ahead(X, y, weight)
    assert len(P) == 50
    ahead.go_back(parts, X[:20], y[:20], weight[:20], P[:20])
    model.learn(X[:20], y[:20], weight[:20])
    of_trees = ("trees.values", "trees.leaves.counts", "trees.sums") if leaves_learn else ()
    for of in (*of_trees, "follower.W", "follower.sums"):
        np.testing.assert_array_equal(attrgetter(of)(ahead), attrgetter(of)(model))


def test_rows_are_learned_at_once_until_columns_are_chosen_or_trees_may_grow(learned, monkeypatch):
    model, (X, y, weight) = made(), rows(1700)
    parts, P, _ = model.learn_ahead(X, y, weight)
    assert parts == (None, None)
    assert np.count_nonzero(weight[: len(P)]) == 1024
    assert model.follower is not None
    model, (X, y, _) = copy.deepcopy(learned[0]), rows(5)
    weight = np.array([1.0, 0.0, 1.0, 1.0, 1.0])
    assert len(model.learn_ahead(X, y, weight)[1]) == 5
    model.growth.goes_on, left = True, iter([2, np.inf, np.inf])
    monkeypatch.setattr(model.growth, "rows_left", lambda first: next(left))
    assert len(model.learn_ahead(X, y, weight)[1]) == 3


def test_scores_are_those_of_the_parts(learned):
    model = learned[0]
    X, *_ = rows(50, seed=1)
    P = ExplicitModel.scores(model, X) + sum(stage.scores(X) for stage in model.stages)
    expected = P + model.linear.correction(X, P)
    assert np.abs(expected - P).max() > 0.1
    expected += model.follower.correction(X, expected)
    np.testing.assert_allclose(model.scores(X), expected)


@pytest.mark.parametrize(("d", "n", "there"), [(20, 100, False), (21, 100, True), (80, 100, True),
                                               (81, 100, False), (21, 0, False)])  # fmt: skip
def test_a_linear_part_is_for_more_columns_than_landmarks_but_not_too_many(d, n, there):
    X, y, weight = rows(n, d)
    known = LearnedRows(X, y[:, None], np.zeros((n, 1)), weight)
    part = LinearPart.of_many(known, B, 1.0)
    assert (part is not None) == there


def test_first_rows_grow_trees_where_enough_are_kept_and_none_were_fitted_last():
    for n_components, grow in ((20, False), (40, True)):
        model = made(n_components=n_components)
        assert model._first_rows() is None
        model.warmup = SimpleNamespace(count=5, n_rows=9, rows=None)
        # the last of the rows kept ends the warm-up
        assert model._first_rows() == ((5, 8, None) if grow else None)
        model.trees = stumps()
        assert model._first_rows() is None
        model.trees = stumps(learn=True)
        assert (model._first_rows() is not None) == grow


def test_a_model_goes_on_with_trees_that_learn_where_it_has_none():
    before = SimpleNamespace(trees=stumps(learn=True), follower=None)
    new = made()
    new.succeed(before)
    assert new.trees is before.trees
    assert not new.trees.sums.any()
    assert not new.trees.leaves.recent.any()
    own, other = stumps(learn=True), stumps()
    for mine, theirs, expected in (
        (own, before.trees, own),
        (None, other, None),
        (None, None, None),
    ):
        new.trees = mine
        new.succeed(SimpleNamespace(trees=theirs, follower=None))
        assert new.trees is expected
    assert own.sums.any()


# ---- after a fit ---------------------------------------------------------------------------------


def test_cells_learn_anew_only_where_there_are_some(learned):
    assert copy.deepcopy(learned[0]).corrections_anew() is not None
    X, y, _ = rows(1030)
    few, constant = made(), made()
    few.learn(X[:1000], y[:1000], np.ones(1000))
    constant.learn(0.0 * X, y, np.ones(1030))
    assert len(constant.stages) == 3
    for model in (few, constant):
        assert model.corrections_anew() is None


def test_after_the_last_fit_cells_learn_rows_of_any_time_as_if_each_were_left_out():
    X, y, _ = rows(4200)
    Y, weight, model = y[:, None], np.ones(4200), made(ModelWithSearch)
    model.learn(X, y, weight)
    model.stages.append(PairCells(model.stages[0].bins, 1))
    model._begin_cells_anew(X, Y, weight)
    rng = np.random.default_rng([model.seed, 4200, 3])
    some = rng.choice(4200, 4096, replace=False)
    cells = PairCells(PairBins.of(X[some], Y[some], B**2), 1)
    order = rng.permutation(4200)
    R = model.residuals_left_out(X, Y, weight)
    assert np.abs(R).mean() > np.abs(Y - ExplicitModel.scores(model, X)).mean()
    cells.learn(X[order], R[order], weight)
    np.testing.assert_allclose(model.stages[0].W, cells.W, rtol=1e-9, atol=1e-12)
    # those of late columns are among them, and those that forget correct nothing for now
    assert len(model.stages) == 3
    assert not any(stage.W.any() for stage in model.stages[1:])


@pytest.mark.parametrize(
    ("n", "searches", "steps", "anew", "held"),
    [(1100, True, 48, True, "map"), (600, True, 48, False, "map"), (256, False, 48, False, "folds"),
     (255, False, 48, False, None), (600, False, 0, False, None)],
)  # fmt: skip
def test_the_last_fit_grows_trees_from_rows_held_out(n, searches, steps, anew, held, monkeypatch):
    model, (X, y, _), noted = made(ModelWithSearch, n_components=40), rows(n), []
    model.learn(X, y, np.ones(n))
    model.warmup = Warmup(2000, 25, np.float64)
    model.warmup.keep(X, y, np.ones(n))
    of_map = HeldOut.at_once(np.arange(9), np.zeros((9, 1)))
    model.map.search_steps = steps
    model.map.searches_last = lambda count: searches and count == n
    model.map.predict_held_out = lambda X, Y, weight: (of_map.rows, of_map.predictions)
    model.map.prior = lambda: np.eye(model.coef.shape[1])
    model.growth._work = "under way"
    monkeypatch.setattr(ExplicitModel, "consolidate", lambda of: noted.append("fitted"))
    monkeypatch.setattr(model, "_begin_cells_anew", lambda *of: noted.append("cells"))
    monkeypatch.setattr(model.undo_log, "forget", lambda: noted.append("forgotten"))

    def grown(X, Y, weight, held, n_landmarks, rng, forgetting):
        noted.append((len(X), held, n_landmarks, rng.random(), forgetting))

    monkeypatch.setattr(with_search, "last_trees", grown)
    model.consolidate()
    before = ["fitted", *["cells"] * anew]
    if held is None:
        assert noted == before
        return
    assert noted[: len(before)] == before
    (of, last) = noted[len(before) :]
    assert (last, model.trees, model.growth._work) == ("forgotten", None, None)
    assert (of[0], of[2], of[4]) == (n, 40, 1.0)
    rng = np.random.default_rng([model.seed, n, 2])
    if held == "folds":
        folds = rng.permutation(n) % 5
        np.testing.assert_array_equal(of[1].folds, folds)
    else:
        np.testing.assert_array_equal(of[1].rows, of_map.rows)
    assert of[3] == rng.random()


def test_columns_are_chosen_from_64_rows_on_and_by_no_more_than_there_is_room_for():
    model, (X, y, _) = made(), rows(64)
    model.learn(X[:63], y[:63], np.ones(63))
    assert not len(model.stages[0].bins.columns)
    model.learn(X[63:], y[63:], np.ones(1))
    assert len(model.stages[0].bins.columns)
    # 16 MiB hold 64 rows of so many numbers
    for d, n in ((25, 1024), (32_768, 64)):
        assert made(d=d, n_components=2).choice.n_rows == n
    assert made(d=32_769, n_components=2).choice is None


# ---- models of several parts ---------------------------------------------------------------------


def test_a_fixed_model_chooses_no_more_columns_and_its_leaves_stay():
    model, (X, y, _) = made(), rows(100)
    model.learn(X, y, np.ones(100))
    model.trees = stumps(learn=True)
    model.fix_map()
    assert (model.choice, model.trees.leaves, len(model.stages)) == (None, None, 3)
    assert model.linear is not None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda of: of.stages[1].bins.edges.__imul__(2.0), "the bins of the cells: edges"),
        (lambda of: of.stages.append(PairCells(of.stages[0].bins, 1)), "the bins of the cells"),
        (
            lambda of: setattr(of, "choice", ColumnChoice(9, 25, np.float64, 1)),
            "still being chosen",
        ),
        (lambda of: setattr(of, "linear", None), "whether they have a linear part"),
        (lambda of: setattr(of.linear, "scale", 2.0 * of.linear.scale), "the units of the linear"),
        (lambda of: setattr(of, "trees", None), "whether they have trees"),
        (lambda of: setattr(of, "follower", None), "whether they have a linear follower"),
        (lambda of: setattr(of.trees, "scale", 2.0), "the trees: scale"),
    ],
)
def test_models_that_differ_in_a_part_do_not_merge(learned, change, message):
    mine, other = (copy.deepcopy(learned[0]) for _ in "12")
    for of in (mine, other):
        of.fix_map()
        of.trees = stumps()
    mine.require_alike(other)
    change(other)
    for one, two in ((mine, other), (other, mine)):
        with pytest.raises(MergeError, match=message):
            one.require_alike(two)


@pytest.mark.parametrize("from_origin", [True, False])
def test_all_parts_take_in_what_another_learned(learned, from_origin):
    origin = copy.deepcopy(learned[0]) if from_origin else None
    mine, other = (copy.deepcopy(learned[0]) for _ in "12")
    for of in (mine, other, origin):
        if of is not None:
            of.trees = stumps()
    X, y, weight = rows(300, seed=1)
    mine.learn(X[:100], y[:100], weight[:100])
    other.learn(X[100:], y[100:], weight[100:])
    before = copy.deepcopy(mine)
    mine.take_in(other, origin)
    for name in ("linear", "trees", "follower"):
        part = getattr(before, name)
        part.take_in(getattr(other, name), getattr(origin, name) if from_origin else None)
        for key, value in part.get_state().items():
            np.testing.assert_array_equal(getattr(mine, name).get_state()[key], value)


# ---- classes, columns and files ------------------------------------------------------------------


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_class_that_comes_while_columns_are_chosen(position):
    model, (X, y, _) = made(), rows(100)
    model.learn(X, np.sign(y), np.ones(100))
    R = model.choice.rows().R
    model.add_output(position)
    code = (y > 0.0) * 1.0
    Y = model.choice.rows().Y
    np.testing.assert_array_equal(Y.argmax(axis=1), code + (code >= position))
    two = np.delete(model.choice.rows().R, position, axis=1)
    np.testing.assert_array_equal(two, np.hstack([-0.5 * R, 0.5 * R]))
    assert model.stages[0].W.shape[1] == 3


def test_work_on_early_trees_begins_again_where_rows_or_classes_change():
    for change in (lambda of: of.add_output(0), lambda of: of.widen(1)):
        model = made()
        model.growth._work = "under way"
        change(model)
        assert model.growth._work is None


def test_columns_are_chosen_once_more_where_landmarks_are_not(learned):
    X, y, _ = rows(100)
    model, with_rows = (copy.deepcopy(learned[0]) for _ in "12")
    with_rows.warmup = model._new_warmup(5000)
    for of in (model, with_rows):
        of.add_columns(2)
    assert with_rows.choice is None
    assert model.choice.left == model.choice.n_rows == 1024
    early = made()
    early.learn(X, y, np.ones(100))
    early.add_columns(2)
    np.testing.assert_array_equal(early.choice.rows().X, np.hstack([X, np.zeros((100, 2))]))


def test_what_a_file_says_of_growth_and_rows_must_fit():
    model, (X, y, _) = made(), rows(100)
    model.learn(X, y, np.ones(100))
    state = model.get_state()
    again = made()
    # files of before say nothing of trees
    again.set_state({name: state[name] for name in state if name != "growth"})
    assert again.growth.goes_on
    np.testing.assert_array_equal(again.scores(X), model.scores(X))
    for n in (99, 101):
        with pytest.raises(ModelFileError, match=f"residuals: has {n} rows, and choice has 100"):
            made().set_state({**state, "residuals": np.zeros((n, 1))})
    columns = state["stage_0"]["bins"]["columns"]
    bins = {**state["stage_0"]["bins"], "columns": np.append(columns[:-1], 25)}
    with pytest.raises(ModelFileError, match="names a column that rows do not have"):
        made().set_state({**state, "stage_0": {**state["stage_0"], "bins": bins}})


def test_a_linear_part_of_a_file_has_no_more_columns_than_rows(learned):
    state = copy.deepcopy(learned[0]).get_state()
    made().set_state(state)
    narrow = LinearPart.begun(np.ones((5, 26)), 1, 1.0).get_state()
    with pytest.raises(ModelFileError, match="linear/middle: has more columns than rows have"):
        made().set_state({**state, "linear": narrow})
