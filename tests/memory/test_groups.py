"""Groups: a past for each key, in any blocks, bounded, saved and continued."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from onkel import OnlineKernelClassifier, OnlineKernelRegressor, load
from onkel.errors import DataError, ModelFileError
from onkel.memory import ClassMemory, ValueMemory
from onkel.memory.past import Groups

N, GROUPS = 700, 9
KEYS = [f"site {k}" for k in range(GROUPS)]


def _series(seed=0, n=N):
    """A random walk in each group, unknown to the timeless prediction."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, GROUPS, n)
    level, y = 4.0 * rng.normal(size=GROUPS), np.empty(n)
    for t, g in enumerate(groups):
        level[g] += 0.4 * rng.normal()
        y[t] = level[g]
    return [KEYS[g] for g in groups], rng.normal(size=n), y


def _memories(most=100):
    keys, f, y = _series()
    codes = np.digitize(y, [-2.0, 2.0])
    F = 0.3 * np.eye(3)[codes] + np.random.default_rng(1).normal(0.0, 0.5, (N, 3))
    yield lambda: ValueMemory(most), (f, y), keys
    yield lambda: ClassMemory(3, most), (F, codes), keys


@pytest.fixture(params=["values", "classes"])
def made(request):
    return list(_memories())[request.param == "classes"]


def _same(state, expected):
    assert state.keys() == expected.keys()
    for name, value in expected.items():
        if isinstance(value, dict):
            _same(state[name], value)
        else:
            np.testing.assert_array_equal(state[name], value, err_msg=name)


def _in_blocks(memory, rows, weight, keys, size):
    predicted = [
        memory.learn(*(r[a : a + size] for r in rows), weight[a : a + size], keys[a : a + size])
        for a in range(0, N, size)
    ]
    return np.concatenate(predicted)


# ---- keys to slots -------------------------------------------------------------------------------


def test_the_key_seen_least_recently_is_forgotten():
    groups = Groups(2)
    slots, fresh = groups.learn(list("abacb"), np.ones(5, bool))
    assert slots.tolist() == [1, 2, 1, 2, 1]
    assert fresh.tolist() == [False, False, False, True, True]
    assert groups.n_forgotten == 2
    assert groups.find(["a", "b", "c"], 3).tolist() == [0, 1, 2]


def test_a_row_that_does_not_count_is_not_seen():
    groups = Groups(2)
    slots, fresh = groups.learn(list("abac"), np.array([True, True, False, True]))
    assert slots.tolist() == [1, 2, 1, 1]
    assert list(groups.slots) == ["b", "c"]
    assert not fresh[:3].any()
    assert Groups(2).learn(["a"], np.array([False]))[0].tolist() == [0]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"keys": ["a", "a"]}, "holds one twice"),
        ({"keys": [None, "b"]}, "neither a text nor a number"),
        ({"keys": "ab"}, "is a string, not a list"),
        ({"slots": np.array([1, 3])}, "must be 1 to 2"),
        ({"slots": np.array([1])}, "has shape"),
        ({"keys": ["a", "b", "c"], "slots": np.arange(1, 4)}, "more than the 2"),
    ],
)
def test_a_crafted_state_is_refused(change, match):
    groups = Groups(2)
    groups.learn(["a", "b"], np.ones(2, bool))
    with pytest.raises(ModelFileError, match=match):
        Groups(2).set_state(groups.get_state() | change)


# ---- memories ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 7, 64])
@pytest.mark.parametrize("most", [100, 4])
@pytest.mark.parametrize("which", [0, 1])
def test_blocks_do_not_matter(size, most, which):
    make, rows, keys = list(_memories(most))[which]
    weight = (np.random.default_rng(2).uniform(size=N) < 0.9) * 1.0
    whole, parts = make(), make()
    expected = whole.learn(*rows, weight, keys)
    np.testing.assert_array_equal(_in_blocks(parts, rows, weight, keys, size), expected)
    _same(parts.get_state(), whole.get_state())
    assert (whole.groups.n_forgotten > 0) == (most < GROUPS)


@pytest.mark.parametrize("at", [0, 10, 100, 500])
@pytest.mark.parametrize("most", [100, 4])
@pytest.mark.parametrize("which", [0, 1])
def test_a_state_goes_on_bit_for_bit(at, most, which):
    make, rows, keys = list(_memories(most))[which]
    ones, first, second = np.ones(N), make(), make()
    first.learn(*(r[:at] for r in rows), ones[:at], keys[:at])
    second.set_state(first.get_state())
    rest = [*(r[at:] for r in rows), ones[at:], keys[at:]]
    np.testing.assert_array_equal(second.learn(*rest), first.learn(*rest))


def test_each_group_has_the_past_of_a_memory_of_its_own(made):
    make, rows, keys = made
    joint = make()
    joint.learn(*rows, np.ones(N), keys)
    names = ("values", "predictions") if hasattr(joint.past, "values") else ("codes", "before")
    for key in KEYS:
        own = np.array([k == key for k in keys])
        alone, slot = make(), joint.groups.slots[key]
        alone.learn(*(r[own] for r in rows), np.ones(own.sum()), [key] * own.sum())
        assert joint.past.rows[slot, 0] == alone.past.rows[1, 0] == own.sum()
        centre, spread = getattr(joint, "unit", (0.0, 1.0))
        own_centre, own_spread = getattr(alone, "unit", (0.0, 1.0))
        for name in names:
            if own.sum() < 32:
                continue  # the ring is not full yet
            value = getattr(joint.past, name)[slot] * spread + centre
            expected = getattr(alone.past, name)[1] * own_spread + own_centre
            np.testing.assert_allclose(value, expected, atol=1e-12, err_msg=name)


def test_groups_are_kept_apart(made):
    make, rows, keys = made
    joint, mixed = make(), make()
    predicted = joint.learn(*rows, np.ones(N), keys)[:, 0]
    without = mixed.learn(*rows, np.ones(N))[:, 0]
    y = rows[1]

    def error(p):
        return np.mean((p - y) ** 2) if p.ndim == 1 else np.mean(p.argmax(axis=1) != y)

    assert error(predicted) < 0.5 * error(without)


def test_a_new_group_is_predicted_without_memory(made):
    make, rows, keys = made
    memory = make()
    memory.learn(*rows, np.ones(N), keys)
    before = memory.get_state()
    predicted = memory.predict(rows[0][:3], ["new", KEYS[0], "new"])
    f = rows[0][:3] if rows[0].ndim == 1 else np.clip(rows[0][:3], 0.0, 1.0)
    f = f if f.ndim == 1 else f / f.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(predicted[[0, 2], 0], f[[0, 2]], atol=1e-6)
    assert np.abs(predicted[1, 0] - f[1]).max() > 0.01
    _same(memory.get_state(), before)


# ---- learners ------------------------------------------------------------------------------------

PARAMS = {"n_components": 15, "speed": "fast"}


def _learner(kind, **params):
    cls = OnlineKernelRegressor if kind == "values" else OnlineKernelClassifier
    return cls(**PARAMS, **params)


def _rows(kind):
    keys, f, y = _series(n=900)
    X = np.column_stack([f, np.random.default_rng(3).normal(size=900)])
    cuts = {"values": None, "two": [0.0], "three": [-2.0, 2.0]}[kind]
    return X, y if cuts is None else np.digitize(y, cuts), np.array(keys)


kinds = pytest.mark.parametrize("kind", ["values", "two", "three"])


@kinds
def test_a_learner_by_group_in_blocks_and_saved(kind, tmp_path):
    X, y, keys = _rows(kind)
    expected = _learner(kind, max_groups=5).predict_then_learn(X, y, groups=keys)
    model = _learner(kind, max_groups=5)
    predicted = []
    for a in range(0, 900, 100):
        block = slice(a, a + 100)
        predicted.append(model.predict_then_learn(X[block], y[block], groups=keys[block].tolist()))
        model.save(tmp_path / f"{a}.onkel")
        model = load(tmp_path / f"{a}.onkel")
    np.testing.assert_allclose(np.concatenate(predicted), expected, rtol=1e-6, atol=1e-7)


@kinds
def test_groups_help_and_predict_knows_none(kind):
    X, y, keys = _rows(kind)
    by_group, without = _learner(kind), _learner(kind)

    def error(predicted):
        return np.mean((predicted - y) ** 2) if kind == "values" else np.mean(predicted != y)

    assert error(by_group.predict_then_learn(X, y, groups=keys)) < 0.6 * error(
        without.predict_then_learn(X, y)
    )
    np.testing.assert_array_equal(by_group.predict(X), without.predict(X))


def test_rows_ahead_are_counted_in_their_group():
    X, y, keys = _rows("values")
    model = _learner("values").fit(X, y, groups=keys)
    asked = [KEYS[0], KEYS[1], KEYS[0], "new"]
    predicted = model.predict_next(X[:4], groups=asked)
    for t, (key, ahead) in enumerate(zip(asked, [0, 0, 1, 0], strict=True)):
        alone = model.predict_next(X[t : t + 1], ahead=ahead, groups=[key])
        np.testing.assert_allclose(alone, predicted[t : t + 1], rtol=1e-9)
    # a new group gets the timeless prediction, up to what the second model adds
    np.testing.assert_allclose(predicted[3], model.predict(X[3:4])[0], atol=0.05)


def test_a_group_that_is_missing_is_refused_with_its_row():
    X, y, keys = _rows("values")
    keys = keys.astype(object)
    keys[70] = None
    model, before = _learner("values"), _learner("values")
    with pytest.raises(DataError, match="the group is missing; every row needs one") as caught:
        model.partial_fit(X, y, groups=keys)
    assert caught.value.row == 70
    before.partial_fit(X[:70], y[:70], groups=keys[:70])
    np.testing.assert_array_equal(
        model.predict_next(X[:9], groups=keys[:9]), before.predict_next(X[:9], groups=keys[:9])
    )
    with pytest.raises(DataError, match="the group is missing"):
        model.predict_next(X[:2], groups=["a", None])


def test_groups_come_with_all_rows_or_none():
    X, y, keys = _rows("two")
    model = _learner("two").partial_fit(X, y, groups=keys)
    with pytest.raises(ValueError, match="give groups="):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="give groups="):
        model.predict_next(X)
    with pytest.raises(ValueError, match="X has 900 rows and groups has 3"):
        model.partial_fit(X, y, groups=keys[:3])
    plain = _learner("two").partial_fit(X, y)
    with pytest.raises(ValueError, match="without groups"):
        plain.predict_then_learn(X, y, groups=keys)
    with pytest.raises(ValueError, match="max_groups=0 must be a whole number from 1"):
        _learner("two", max_groups=0).fit(X, y)


@pytest.mark.parametrize(
    "groups",
    [("a", float("nan"), "b"), ["a", None, "b"], pd.array(["a", None, "b"], dtype="string"),
     pd.Series(["a", pd.NA, "b"])],
)  # fmt: skip
def test_a_missing_group_is_named_in_every_form(groups):
    with pytest.raises(DataError, match="row 1, column 'groups': the group is missing"):
        _learner("two").predict_then_learn(np.zeros((3, 2)), [0, 1, 0], groups=groups)


@pytest.mark.parametrize("ahead", [-1, 1.5, "1", None])
def test_rows_ahead_are_counted(ahead):
    X, y, _ = _rows("two")
    model = _learner("two").partial_fit(X, y)
    for method in (model.predict_next, model.predict_proba_next):
        with pytest.raises(ValueError, match="must be a whole number of at least 0"):
            method(X[:2], ahead=ahead)


@kinds
def test_without_memory_groups_change_nothing(kind):
    X, y, keys = _rows(kind)
    plain = _learner(kind, memory=False).predict_then_learn(X, y)
    grouped = _learner(kind, memory=False).predict_then_learn(X, y, groups=keys)
    np.testing.assert_array_equal(plain, grouped)
