"""The support-set model against its definition: every budget, every task, whatever the blocks."""

from __future__ import annotations

import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pytest

from onkel import OLKFixedRegressor, budgets, rules
from onkel.budgets import model_of as model_class
from onkel.explicit.model import ExplicitModel
from onkel.kernels import Cauchy, Gaussian, Linear
from onkel.losses import Loss
from onkel.maps import IdentityFeatures
from onkel.numerics.random import new_state
from onkel.rules import base as places
from onkel.support.budget import BIRTH
from onkel.support.model import Space
from onkel.support.removal import kinds, removal_model
from onkel.support.slots import REMOVED

_spec = importlib.util.spec_from_file_location(
    "naive_support", Path(__file__).with_name("naive_support.py")
)
naive = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(naive)

N, D, B, GAMMA = 130, 3, 7, 0.4
TASKS = ("binary", "multiclass", "regression")


def rows(task, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    if task == "regression":
        return X, np.sin(2 * X[:, 0]) * X[:, 1], 1
    signs = X[:, 0] * X[:, 1] > 0.1 * rng.standard_normal(N)
    if task == "binary":
        return X, 2.0 * signs - 1.0, 1
    return X, (signs + (X[:, 2] > 0.5)).astype(float), 3


def model_of(budget, rule, loss, K=1, kernel=None, d=D, epsilon=0.1, dtype="float64", seed=5):
    kernel = Gaussian() if kernel is None else kernel
    loss = Loss[loss.upper()]
    space = Space(kernel, GAMMA, 256, d, dtype, seed)
    return model_class(budget)(space, budget, rule, loss, epsilon, K)


def learn_in_blocks(model, X, y, cuts=(0, 1, 30, 64, N)):
    weight = np.ones(len(y))
    parts = [model.learn(X[a:b], y[a:b], weight[a:b]) for a, b in itertools.pairwise(cuts)]
    return np.concatenate(parts)


def gaussian(X):
    return np.exp(-GAMMA * ((X[:, None] - X[None]) ** 2).sum(axis=-1))


def eta(value):
    return lambda t, loss, c, q: value


PERCEPTRON, OGD = rules.Perceptron(), rules.Gradient(0.4)
R = "regression"
# budget, rule, its loss (classification, regression), step, make_room, more
CASES = {
    "none": (budgets.NoBudget(), OGD, 0, eta(0.4), None, {}),
    "decay": (
        budgets.NoBudget(), rules.Gradient(0.4, "inverse_sqrt", 0.1), 0,
        lambda t, *_: 0.4 / np.sqrt(t), None, {"alpha": 0.1},
    ),
    "olk": (
        budgets.NoBudget(), rules.ProjectedGradient(0.9, 0.5), 0,
        lambda t, *_: 0.5 / np.sqrt(t), None, {"radius": 0.9},
    ),
    "norma": (
        budgets.OldestRemoval(B), rules.Norma(0.3, 0.2, alpha=0.05), 2, eta(0.2),
        lambda m, e: m.oldest(), {"alpha": 0.05, "nu": 0.3},
    ),
    "random": (budgets.RandomRemoval(B), PERCEPTRON, 1, eta(1.0), lambda m, e: m.random(), {}),
    "pegasos-random": (
        budgets.RandomRemoval(B), rules.Pegasos(0.05, project=False), 0,
        lambda t, *_: 1.0 / (0.05 * t), lambda m, e: m.random(), {"alpha": 0.05},
    ),
    "oldest": (
        budgets.OldestRemoval(B), rules.ProjectedGradient(0.9, 0.4, "constant"), 0, eta(0.4),
        lambda m, e: m.oldest(), {"radius": 0.9},
    ),
    "smallest": (
        budgets.SmallestRemoval(B), rules.Gradient(0.4, alpha=0.05), 0, eta(0.4),
        lambda m, e: m.smallest(), {"alpha": 0.05},
    ),
    "nearest": (
        budgets.DropNearest(B), rules.Gradient(0.4, alpha=0.05), 0, eta(0.4),
        lambda m, e: m.nearest(), {"alpha": 0.05},
    ),
    "redundant": (
        budgets.MostRedundantRemoval(B), PERCEPTRON, 1, eta(1.0), "redundant", {},
    ),
    "redundant-decay": (
        budgets.MostRedundantRemoval(B), rules.Gradient(0.4, alpha=0.2), 0, eta(0.4), "redundant",
        {"alpha": 0.2},
    ),
    "forgetron": (budgets.ShrinkOldest(B), PERCEPTRON, 1, eta(1.0), "forget", {}),
    "forgetron-greedy": (
        budgets.ShrinkOldest(B, "greedy"), PERCEPTRON, 1, eta(1.0), "forget_greedily", {},
    ),
    "forgetron-lsokl": (
        budgets.ShrinkOldest(B, "lsokl"), PERCEPTRON, 1, eta(1.0), "forget_with_second_root", {},
    ),
    "forgetron-basic": (
        budgets.ShrinkOldest(B, "basic"), PERCEPTRON, 1, eta(1.0),
        lambda m, e: m.forget_basic(), {"every_time": True},
    ),
    "bogd-each": (
        budgets.BoundedRemoval(B, max_weight=1.5), OGD, 0, eta(0.4),
        lambda m, e: m.bounded("uniform", "each", 1.5 * e), {},
    ),
    "bogd-all": (
        budgets.BoundedRemoval(B, max_weight=1.5, bound="all"), rules.Gradient(0.4, alpha=0.01), 0,
        eta(0.4), lambda m, e: m.bounded("uniform", "all", 1.5 * e), {"alpha": 0.01},
    ),
    "bogd-nonuniform": (
        budgets.BoundedRemoval(B, "nonuniform", max_weight=2.0), rules.ProjectedGradient(0.9, 0.4,
        "constant"), 0, eta(0.4), lambda m, e: m.bounded("nonuniform", "each", 2.0 * e),
        {"radius": 0.9},
    ),
    "weighted": (
        budgets.BoundedRemoval(B, "nonuniform", max_weight=np.inf),
        rules.ProjectedGradient(0.9, 0.4), 0, lambda t, *_: 0.4 / np.sqrt(t),
        lambda m, e: m.bounded("nonuniform", "each", np.inf), {"radius": 0.9},
    ),
    "stochastic": (
        budgets.StochasticInsertion(0.3), rules.ProjectedGradient(1.2, 0.5, 0.65), 0,
        lambda t, *_: 0.5 * t**-0.65, None, {"radius": 1.2, "thinning": 0.3},
    ),
    "fixed-random": (
        budgets.FixedRandom(B), rules.ProjectedGradient(0.9, 0.4), 0,
        lambda t, *_: 0.4 / np.sqrt(t), lambda m, e: m.fixed_random(), {"radius": 0.9},
    ),
    "bpa-s": (
        budgets.BPASimple(B), rules.PassiveAggressive(0.5), 2,
        lambda t, loss, c, q: min(0.5, loss / max(c @ c * q, 1e-300)),
        lambda m, e: m.replace(), {},
    ),
}  # fmt: skip
LOSSES = [("hinge", "squared"), ("perceptron", "epsilon_insensitive"),
          ("hinge", "epsilon_insensitive")]  # fmt: skip


def test_every_budget_of_the_family_is_here():
    there = {name for name, cls in budgets.BUDGETS.items() if cls.family == "removal"}
    assert {case[0].name for case in CASES.values()} == there


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", CASES)
def test_scores_before_learning(name, task):
    budget, rule, losses, step, make_room, more = CASES[name]
    loss = LOSSES[losses][task == R]
    if isinstance(make_room, str):
        how = make_room
        make_room = lambda m, e: getattr(m, how)(task == R)  # noqa: E731
    X, y, K = rows(task)
    rng = naive.Random(new_state(5)[0])
    if name in ("random", "pegasos-random", "fixed-random", "weighted") or "bogd" in name:
        # the engine refills slots in place: bring the list here into the same order
        make_room = in_slots(make_room)
    expected, reference = naive.learn(
        gaussian(X), y, K, loss, step, make_room, budget.limit(), rng, **more
    )
    model = model_of(budget, rule, loss, K)
    P = learn_in_blocks(model, X, y)
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(P, expected, rtol=1e-7, atol=1e-9)
    assert model.size == len(reference.stored)
    assert budget.limit() is None or model.size <= budget.limit()
    np.testing.assert_allclose(
        np.sort(model.coef.sum(axis=0)), np.sort([a.sum() for _, _, a in reference.stored]),
        rtol=1e-6, atol=1e-8,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["smallest", "nearest", "redundant", "forgetron", "bpa-s"])
def test_stored_rows_have_their_own_kernel_values(name):
    """κ(s, s) differs from row to row; the Gaussian's is 1."""
    budget, rule, losses, step, make_room, more = CASES[name]
    if isinstance(make_room, str):
        how = make_room
        make_room = lambda m, e: getattr(m, how)(False)  # noqa: E731
    X, y, K = rows("multiclass")
    loss = LOSSES[losses][0]
    rng = naive.Random(new_state(5)[0])
    expected, _ = naive.learn(X @ X.T, y, K, loss, step, make_room, B, rng, **more)
    P = learn_in_blocks(model_of(budget, rule, loss, K, Linear()), X, y)
    np.testing.assert_allclose(P, expected, rtol=1e-7, atol=1e-9)


def in_slots(make_room):
    """Keep the list in the order of the engine's slots: a new row replaces a removed one."""

    def refill(model, e):
        order = [row[0] for row in model.stored[:-1]]
        new = model.stored[-1][0]
        make_room(model, e)
        left = {row[0]: row for row in model.stored}
        if new in left:
            order = [i if i in left else new for i in order]
        model.stored = [left[i] for i in order]

    return refill


@pytest.mark.parametrize("name", CASES)
def test_float32_and_multiclass_sets_stay_within_the_budget(name):
    budget, rule, losses, *_ = CASES[name]
    X, y, K = rows("multiclass")
    model = model_of(budget, rule, LOSSES[losses][0], K, dtype="float32")
    for t in range(N):
        model.learn(X[t : t + 1].astype(np.float32), y[t : t + 1], np.ones(1))
        assert budget.limit() is None or model.size <= B
    assert model.A.dtype == model.S.dtype == np.float32
    assert np.isfinite(model.coef).all()


@pytest.mark.parametrize(
    "name", ["oldest", "fixed-random", "bogd-nonuniform", "weighted", "olk", "stochastic"]
)
def test_norm_recursion_is_the_norm(name):
    budget, rule, *_ = CASES[name]
    X, y, K = rows("multiclass")
    model = model_of(budget, rule, "hinge", K)
    for t in range(N):
        model.learn(X[t : t + 1], y[t : t + 1], np.ones(1))
        gram = Gaussian().gram(model.support, model.support, GAMMA)
        squared = np.trace(model.coef @ gram @ model.coef.T)
        assert model.state[places.SQUARED_NORM] == pytest.approx(squared, rel=1e-9, abs=1e-12)
        assert squared <= rule.radius**2 * (1 + 1e-9)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kernel", [Gaussian(), Cauchy(), Linear()], ids=lambda k: k.name)
@pytest.mark.parametrize("name", ["oldest", "fixed-random", "weighted"])
def test_one_kernel_row_a_removal_gives_the_predictions_of_the_whole_matrix(
    name, kernel, task, monkeypatch
):
    budget, rule, losses, *_ = CASES[name]
    X, y, K = rows(task)
    loss = LOSSES[losses][task == R]
    expected = learn_in_blocks(model_of(budget, rule, loss, K, kernel), X, y)
    monkeypatch.setattr(kinds, "KEPT", 1)
    monkeypatch.setattr(removal_model, "_ROWS", 2)
    model = model_of(budget, rule, loss, K, kernel)
    assert model.arrays()["gram"].shape[0] == 2
    first = learn_in_blocks(model, X[:70], y[:70], (0, 1, 40, 70))
    again = model_of(budget, rule, loss, K, kernel)
    again.set_state(model.get_state())
    P = np.concatenate([first, learn_in_blocks(again, X[70:], y[70:], (0, 20, 60))])
    np.testing.assert_allclose(P, expected, rtol=1e-11, atol=1e-12)


def test_the_basic_forgetron_shrinks_a_small_f_by_its_own_factor():
    model = model_of(budgets.ShrinkOldest(100, "basic"), PERCEPTRON, "perceptron")
    model.learn(np.zeros((1, D)), np.array([-1.0]), np.ones(1))
    # U is 1.17, and ‖f‖ was 1
    assert model.coef.item() == pytest.approx(-(101.0 ** (-0.5 / 101.0)))


def test_the_norm_follows_where_a_third_class_comes():
    X, y, _ = rows("binary")
    model = model_of(budgets.OldestRemoval(B), rules.ProjectedGradient(0.9, 0.4), "hinge")
    learn_in_blocks(model, X, y)
    model.add_output(1)
    gram = Gaussian().gram(model.support, model.support, GAMMA)
    squared = np.trace(model.coef @ gram @ model.coef.T)
    assert model.state[places.SQUARED_NORM] == pytest.approx(squared, rel=1e-9)


def test_a_budget_that_cuts_coefficients_keeps_the_whole_matrix():
    par = rules.ProjectedGradient(0.9).parameters()
    for max_weight in (2.0, np.inf):
        budget = budgets.BoundedRemoval(600, "nonuniform", max_weight=max_weight)
        assert budget.recomputes(par) is (max_weight == np.inf)


@pytest.mark.parametrize(
    "budget", [budgets.MostRedundantRemoval(4), budgets.SmallestRemoval(4)], ids=lambda b: b.name
)
def test_of_rows_that_are_equal_the_oldest_goes(budget):
    # steps and kernel values are powers of two: margins are equal to the last digit
    model = model_of(budget, rules.Gradient(2.0**-6), "hinge")
    model.learn(np.ones((11, D)), np.ones(11), np.ones(11))
    assert model.info[BIRTH].tolist() == [8.0, 9.0, 10.0, 7.0]


@pytest.mark.compiled
def test_a_large_budget_takes_memory_in_its_order_only():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, D))
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    model = OLKFixedRegressor(
        budget=4000, gamma=GAMMA, removal="uniform", epsilon=0.0, random_state=0
    )
    model.partial_fit(X, y)
    assert model.model_.size == 2000
    assert model.nbytes_ - model.support_vectors_.nbytes < 250_000
    # a removal at B = 600, beyond what is kept
    model = OLKFixedRegressor(budget=600, gamma=GAMMA, epsilon=0.0, random_state=0)
    model.partial_fit(X, y)
    assert model.model_.counts[REMOVED] > 1000
    assert model.nbytes_ - model.support_vectors_.nbytes < 50_000


def test_an_error_of_the_kernel_in_a_removal_is_raised(monkeypatch):
    monkeypatch.setattr(kinds, "KEPT", 1)
    X, y, _ = rows(R)
    budget, rule, *_ = CASES["fixed-random"]
    model = model_of(budget, rule, "squared")
    learn_in_blocks(model, X[:20], y[:20], (0, 20))

    def ordered_gram(X, S, *args, **kwargs):
        if len(X) == 1 and not kwargs:
            raise MemoryError("no room")
        return Gaussian().ordered_gram(X, S, *args, **kwargs)

    monkeypatch.setattr(model.kernel, "ordered_gram", ordered_gram)
    with pytest.raises(MemoryError, match="no room"):
        model.learn(X[20:], y[20:], np.ones(N - 20))


@pytest.mark.parametrize("name", ["redundant", "redundant-decay", "forgetron", "oldest"])
def test_kept_kernel_matrix_and_outputs_equal_fresh_ones(name):
    budget, rule, losses, *_ = CASES[name]
    X, y, K = rows("multiclass")
    model = model_of(budget, rule, LOSSES[losses][0], K)
    learn_in_blocks(model, X, y)
    gram = Gaussian().gram(model.support, model.support, GAMMA)
    state = model.get_state()
    np.testing.assert_allclose(state["gram"], gram, atol=1e-12)
    if "redundant" in name:
        scale = model.state[places.SCALE]
        np.testing.assert_allclose(scale * state["outputs"], model.coef @ gram, atol=1e-9)


def test_kept_outputs_follow_where_the_common_factor_is_multiplied_out():
    # f is multiplied by 0.2 at each row: ten rows leave the range of the factor
    X, y, K = rows("multiclass")
    model = model_of(budgets.MostRedundantRemoval(B), rules.Gradient(0.4, alpha=2.0), "hinge", K)
    for t in range(N):
        model.learn(X[t : t + 1], y[t : t + 1], np.ones(1))
        gram = Gaussian().gram(model.support, model.support, GAMMA)
        outputs = model.state[places.SCALE] * model.outputs[:, : model.size]
        np.testing.assert_allclose(outputs, model.coef @ gram, atol=1e-9)


@pytest.mark.parametrize(
    ("rule", "losses"),
    [
        (rules.Gradient(0.1), 0),
        (rules.Gradient(0.5, "inverse_sqrt", 0.1), 0),
        (rules.Gradient(0.5, 0.75), 0),
        (rules.ProjectedGradient(0.7, 0.1), 0),
        (rules.Pegasos(0.2), 0),
        (rules.Norma(0.3, 0.05, alpha=0.1), 2),
        (rules.Perceptron(0.3), 1),
        (rules.PassiveAggressive(0.3, "PA-II"), 2),
    ],
)
@pytest.mark.parametrize("task", TASKS)
def test_a_linear_kernel_without_a_budget_is_the_linear_learner(rule, losses, task):
    X, y, K = rows(task)
    loss = LOSSES[losses][task == R]
    model = model_of(budgets.NoBudget(), rule, loss, K, Linear())
    identity = IdentityFeatures(fit_intercept=False)
    identity.start(D, "float64")
    linear = ExplicitModel(identity, rule, Loss[loss.upper()], 0.1, K)
    expected = linear.learn(X, y, np.ones(N))
    np.testing.assert_allclose(learn_in_blocks(model, X, y), expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.coef @ model.support, linear.coef, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["perceptron", "forgetron"])
def test_mistake_bounds_on_a_separable_stream(name):
    """Mistakes ≤ (‖g‖ R/margin)² of any separating g; the Forgetron's 4‖g‖² with U ≤ its limit."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, D))
    centres, heights = rng.standard_normal((4, D)), np.array([1.5, -1.5, 1.0, -1.0])
    f = Gaussian().gram(X, centres, GAMMA) @ heights
    X, f = X[np.abs(f) > 0.3], f[np.abs(f) > 0.3]
    y = np.sign(f)
    squared = heights @ Gaussian().gram(centres, centres, GAMMA) @ heights / np.abs(f).min() ** 2
    limit = 400
    assert np.sqrt(squared) < 0.25 * np.sqrt((limit + 1) / np.log(limit + 1)) * 10
    budget = budgets.NoBudget() if name == "perceptron" else budgets.ShrinkOldest(limit)
    model = model_of(budget, PERCEPTRON, "perceptron")
    P = learn_in_blocks(model, X, y, (0, 50, len(y)))
    mistakes = int(((P[:, 0] >= 0) != (y > 0)).sum())
    assert 0 < mistakes <= (1 if name == "perceptron" else 4) * squared


def test_a_weight_of_zero_changes_nothing():
    X, y, _ = rows("binary")
    model = model_of(budgets.RandomRemoval(B), OGD, "hinge")
    learn_in_blocks(model, X, y)
    before = model.get_state()
    P = model.learn(X, y, np.zeros(N))
    np.testing.assert_allclose(P, model.scores(X), atol=1e-12)
    after = model.get_state()
    for key in ("A", "S", "info", "rng", "state"):
        np.testing.assert_array_equal(after[key], before[key])


@pytest.mark.parametrize("name", ["A", "state"])
def test_numbers_of_a_model_that_are_not_finite_are_found(name):
    X, y, _ = rows("binary")
    model = model_of(budgets.RandomRemoval(B), OGD, "hinge")
    learn_in_blocks(model, X, y)
    assert model.is_finite()
    getattr(model, name).flat[-1] = np.inf
    assert not model.is_finite()


def test_growth_factors_are_multiplied_out():
    """Random removal multiplies by B/(B-1) many times; the common factor stays in range."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, D)), rng.choice([-1.0, 1.0], 400)
    budget = budgets.BoundedRemoval(2, max_weight=2.0)
    model = model_of(budget, OGD, "hinge")
    model.learn(X, y, np.ones(400))
    assert 1e-6 <= model.state[places.SCALE] <= 1e6
    assert np.abs(model.coef).max() <= 2.0 * 2.0 * 0.4


@pytest.mark.parametrize(
    ("budget", "rule", "message"),
    [
        (budgets.RandomRemoval(0), OGD, "budget=0 must be a whole number of at least 1"),
        (budgets.OldestRemoval(2.5), OGD, "budget=2.5 must be a whole number"),
        (budgets.BoundedRemoval(1), OGD, "budget=1 must be a whole number of at least 2"),
        (budgets.BoundedRemoval(5, "newest"), OGD, "removal='newest' is not one of 'uniform'"),
        (budgets.BoundedRemoval(5, bound="some"), OGD, "bound='some' is not one of 'each'"),
        (budgets.BoundedRemoval(5, max_weight=0), OGD, "max_weight=0 must be a positive"),
        (budgets.ShrinkOldest(5, "gready"), PERCEPTRON, "variant='gready' is not one of"),
        (budgets.StochasticInsertion(1.0), OGD, "thinning=1.0 must be above 0 and below 1"),
        (budgets.ShrinkOldest(5), OGD, "the perceptron's count of mistakes"),
        (budgets.BPASimple(5), OGD, "solves the passive-aggressive problem"),
        (budgets.BoundedRemoval(5), PERCEPTRON, "counted in gradient steps"),
        (budgets.RandomRemoval(5), rules.AdaGrad(), "a support set has no features that stay"),
        (budgets.NoBudget(), rules.LeastSquares(), "a support set has no features that stay"),
        (budgets.NoBudget(), rules.Norma(nu=1.0), "nu=1.0 must be above 0 and below 1"),
        (budgets.NoBudget(), rules.Gradient(schedule=1.5), "or a number above 0 and at most 1"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(budget, rule, message):
    with pytest.raises(ValueError, match=message):
        model_of(budget, rule, "hinge")


def test_an_unknown_budget_is_named():
    with pytest.raises(ValueError, match="budget='newest' is not one of 'bounded', 'bpa_nearest'"):
        budgets.make_budget("newest")
