"""Support-set learners run by run against the original programs (LSOKL), in their orders."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.algorithms import make
from onkel.support.removal.forgetron import MISTAKES

GAMMA = 1.0 / 128.0
OLDEST = {"removal": "oldest", "max_weight": np.inf}
SETTINGS = {
    ("german", "perceptron"): {},
    ("german", "ogd"): {"learning_rate": 0.2},
    ("german", "forgetron"): {"budget": 100},
    ("german", "bpa-s"): {"budget": 100, "C": 1.0},
    ("dna", "perceptron"): {},
    ("dna", "ogd"): {"learning_rate": 0.5},
    ("dna", "forgetron"): {"budget": 200},
    ("dna", "rbp"): {"budget": 200},
    ("dna", "bogd"): {"budget": 200, "learning_rate": 0.5, "alpha": 1e-5, **OLDEST},
    ("dna", "bpa-s"): {"budget": 200, "C": 1.0},
    ("housing", "perceptron"): {"learning_rate": 0.1},
    ("housing", "ogd"): {"learning_rate": 0.3},
    ("housing", "norma"): {"learning_rate": 0.03, "nu": 0.4, "alpha": 0.03, "budget": 10_000},
    ("housing", "forgetron"): {"budget": 20, "learning_rate": 0.1},
    ("housing", "rbp"): {"budget": 20, "learning_rate": 0.1},
    ("housing", "bogd"): {"budget": 20, "learning_rate": 0.1, "alpha": 0.03, **OLDEST},
}
RANDOM = [("dna", "rbp"), ("housing", "rbp")]
# the original takes the root φ > 1 if its quadratic opens downwards (and its binary form starts
# with the first row in the set, whatever its label); ours by default takes the other root
OTHER_ROOT = [("german", "forgetron"), ("dna", "forgetron")]
EXACT = [key for key in SETTINGS if key not in (*RANDOM, *OTHER_ROOT)]


def all_runs(key, X, y, orders, **params):
    """Mistakes, or the mean squared error, of each run."""
    task = "regression" if key[0] == "housing" else "classification"
    out = []
    for r, rows in enumerate(orders):
        model = make(key[1], task, gamma=GAMMA, dtype="float64", **(params or SETTINGS[key]))
        if "random_state" in model.get_params():
            model.set_params(random_state=r)
        if task == "regression":
            out.append(np.mean((model.predict_then_learn(X[rows], y[rows]) - y[rows]) ** 2))
            continue
        before = model.predict_then_learn(X[rows], y[rows], classes=np.unique(y))
        out.append(int((before != y[rows]).sum()))
    return np.array(out)


@pytest.mark.parametrize("key", EXACT, ids="-".join)
def test_run_by_run(oracle, key):
    X, y, orders, theirs = oracle(*key)
    ours = all_runs(key, X, y, orders)
    if key[0] == "housing":
        np.testing.assert_allclose(ours, theirs, rtol=1e-7)
    else:
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("key", RANDOM + OTHER_ROOT, ids="-".join)
def test_in_the_mean(oracle, key):
    X, y, orders, theirs = oracle(*key)
    ours = all_runs(key, X, y, orders)
    error = np.sqrt((ours.var(ddof=1) + theirs.var(ddof=1)) / len(theirs))
    assert abs(ours.mean() - theirs.mean()) <= 2 * error


def test_forgetron_with_their_root_on_dna(oracle):
    X, y, orders, theirs = oracle("dna", "forgetron")
    ours = all_runs(("dna", "forgetron"), X, y, orders, budget=200, variant="lsokl")
    np.testing.assert_array_equal(ours, theirs)


def forgetron_from_the_first_row(X, y, variant):
    """Mistakes if the first row is always stored, without counting as a mistake.

    A score of 0 predicts +1, so a first row of +1 is no mistake, and the learner would not store
    it. With all labels flipped it is a mistake, and f becomes -f.
    """
    turned = y[0] > 0
    model = make("forgetron", budget=100, variant=variant, gamma=GAMMA, dtype="float64")
    labels = -y if turned else y
    first = model.predict_then_learn(X[:1], labels[:1], classes=[-1, 1])
    model.model_.state[MISTAKES] -= turned
    rest = model.predict_then_learn(X[1:], labels[1:])
    return int(np.sum(np.append(first, rest) != labels)) - int(turned)


def test_forgetron_from_the_first_row_on_german(oracle):
    """The binary original starts with the first row in its set; if ours does, they are equal."""
    X, y, orders, theirs = oracle("german", "forgetron")
    ours = [forgetron_from_the_first_row(X[rows], y[rows], "lsokl") for rows in orders]
    np.testing.assert_array_equal(ours, theirs)


def test_bogd_in_the_form_of_the_original(oracle):
    """German, B = 100: 32.0 % in the program, 30.4 % where the oldest is dropped (the facts)."""
    X, y, orders, _ = oracle("german", "ogd")
    for more, percent in (({"bound": "all"}, 32.0), (OLDEST, 30.4)):
        params = {"budget": 100, "learning_rate": 0.2, "alpha": 1e-6, **more}
        ours = all_runs(("german", "bogd"), X, y, orders, **params) / 10.0
        assert abs(ours.mean() - percent) <= 1.0
