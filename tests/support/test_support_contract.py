"""Properties of every support set: blocks don't matter, and states are checked."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import ALGORITHMS, make
from onkel.budgets import BUDGETS, RandomRemoval, model_of
from onkel.errors import ModelFileError
from onkel.kernels import Gaussian
from onkel.losses import Loss
from onkel.rules import Perceptron
from onkel.support.exchange.bpa import BPAProjection
from onkel.support.model import Space
from onkel.support.slots import BORN, SIZE

N = 1200
LEARNERS = [name for name, row in ALGORITHMS.items() if row.representation == "support set"]


def stream(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    if kind == "whole":
        X = np.round(X)
        # a third of the rows repeat an earlier one
        X[rng.random(N) < 1 / 3] = X[0]
    f = np.sin(2 * X[:, 0]) * X[:, 1] + 0.5 * X[:, 2] + 0.3 * rng.normal(size=N)
    return X.astype(np.float32), np.digitize(f, [-0.5, 0.5] if kind == "real" else [0.0])


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["real", "whole"])
@pytest.mark.parametrize("name", LEARNERS)
def test_blocks_do_not_matter(name, kind):
    """In float32, with real rows in three classes, and whole numbers and repeats in two."""
    X, y = stream(kind)

    def learn(size):
        model = make(name)
        if "random_state" in model.get_params():
            model.set_params(random_state=3)
        return np.concatenate([
            model.predict_then_learn(
                X[a : a + size], y[a : a + size], classes=np.unique(y), return_scores=True
            )
            for a in range(0, N, size)
        ])  # fmt: skip

    whole = learn(N)
    assert np.abs(whole).max() > 0.1
    for size in (1, 7, 64, 97):
        np.testing.assert_allclose(learn(size), whole, rtol=1e-6, atol=1e-6, err_msg=str(size))


# ---- dispatch ------------------------------------------------------------------------------------


def learned(budget, n=60):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(n, 3)), rng.choice([-1.0, 1.0], n)
    rule = Perceptron()
    space = Space(Gaussian(), 0.5, 256, 3, "float64")
    model = model_of(budget)(space, budget, rule, Loss.PERCEPTRON, 0.0, 1)
    model.learn(X, y, np.ones(n))
    return model


def test_every_budget_is_of_a_family_that_has_a_model():
    assert all(model_of(cls()) for cls in BUDGETS.values())


def test_a_family_without_a_model_is_named():
    budget = RandomRemoval(5)
    budget.family = "sketching"
    with pytest.raises(ValueError, match="of the family 'sketching', which has no model"):
        model_of(budget)


@pytest.mark.parametrize("cls", [RandomRemoval, BPAProjection])
def test_a_budget_without_a_branch_is_no_other_budget(cls):
    budget = cls(5)
    budget.kind = 99
    with pytest.raises(NotImplementedError, match="unknown budget"):
        learned(budget)


# ---- states --------------------------------------------------------------------------------------


def forge(name, index, value):
    def change(state):
        state[name] = state[name].copy()
        state[name][index] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (forge("counts", SIZE, 2_000_000_000), "size of 2000000000"),
        (forge("counts", SIZE, -5), "counts: holds numbers from -5"),
        (forge("counts", BORN, 0), "fewer rows ever stored than are there"),
        (forge("A", (0, 0), np.nan), "A: holds NaN or infinity"),
        (forge("state", 1, 0.0), "scale of 0"),
        (lambda state: state.update(S=state["S"][:2]), "has shape"),
        (lambda state: state.update(A=state["A"].astype(np.float32)), "A: has dtype float32"),
        (lambda state: state.pop("info"), "info: is missing"),
    ],
)
def test_a_forged_state_is_refused(change, message):
    budget = BUDGETS["shrink_oldest"](5)
    state = learned(budget).get_state()
    learned(budget).set_state(dict(state))
    change(state)
    with pytest.raises(ModelFileError, match=message):
        learned(budget).set_state(state)


def test_a_state_of_more_rows_than_the_budget_is_refused():
    state = learned(BUDGETS["shrink_oldest"](6)).get_state()
    with pytest.raises(ModelFileError, match="size of 6; there are 6 rows, and 5 at most"):
        learned(BUDGETS["shrink_oldest"](5)).set_state(state)
