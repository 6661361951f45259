"""The linear follower: its formula, what it is worth on a rule that turns, when it stays out."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy.special import expit, softmax

from onkel import OnlineKernelClassifier, OnlineKernelRegressor, from_bytes, to_bytes
from onkel.default.cells import LEFT, N_SUMS, PERIOD, ROWS, WHOLE
from onkel.default.corrected_by_cells import CorrectedModel
from onkel.default.linear_follower import LinearFollower
from onkel.default.losses import MORE, SQUARED, TWO
from onkel.errors import MergeError, ModelFileError
from onkel.maps.landmarks.fitted import Units

pytestmark = pytest.mark.compiled

LOSSES = [SQUARED, TWO, MORE]


def made(loss, n=1500, d=4, seed=0):
    """Rows, targets of a linear rule, predictions that know half of it, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 10.0, d) + rng.standard_normal(d)
    U = (X - X.mean(axis=0)) / X.std(axis=0)
    F = U @ rng.standard_normal((d, 3)) + 0.3 * rng.standard_normal((n, 3))
    if loss == SQUARED:
        Y = F[:, :1] + 5.0
        P = np.full((n, 1), 5.0) + 0.5 * F[:, :1]
    elif loss == TWO:
        Y = np.where(F[:, :1] > 0.0, 1.0, -1.0)
        P = 0.3 * Y * rng.uniform(-0.5, 1.5, (n, 1))
    else:
        Y = np.eye(3)[F.argmax(axis=1)]
        P = 0.3 * Y * rng.uniform(-0.5, 1.5, (n, 1)) + 0.2
    return X, Y, P, rng.integers(0, 3, n).astype(float)


def begun(X, Y, forgetting=1.0):
    return LinearFollower.begun(X[:100], Y, forgetting)


def mistaken(y, p):
    """Whether the class of p is another than that of y."""
    return y.argmax() != p.argmax() if len(y) > 1 else (y[0] > 0.0) != (p[0] >= 0.0)


def naive(X, Y, P, weight, loss, forgetting=1.0):
    """The docstring's formulas: what is added to P before each row; both models at the end."""
    first = X[:100]
    Z = np.column_stack([(X - first.mean(axis=0)) / first.std(axis=0), np.ones(len(X))])
    W = np.zeros((2, Z.shape[1], Y.shape[1]))
    rate, most = (0.05, (1.6, 1.6)) if loss != SQUARED else (np.inf, (0.2, 0.05))
    if loss == SQUARED:
        W[:, -1] = Y.mean(axis=0)
    links = {SQUARED: lambda u: u, TWO: lambda u: 2.0 * expit(u) - 1.0, MORE: softmax}
    doubts = (2.0, 1.0) if loss != SQUARED else (3.0, 3.0)
    sums, fewer = np.zeros((2, 3, 2)), np.zeros((2, 2))
    kept = (forgetting * (1.0 - 1.0 / np.array([8192.0, 256.0]))) ** PERIOD
    out, proven, n = np.zeros(Y.shape), np.zeros(2, bool), 0
    for t in range(len(Z)):
        p, w = P[t].copy(), weight[t]
        remembered = np.maximum(PERIOD * (1.0 - kept ** (n / PERIOD)) / (1.0 - kept), 1.0)
        n += w > 0.0
        for i in (0, 1):
            guess = links[loss](Z[t] @ W[i])
            s, r = guess - p, Y[t] - p
            agreed, doubt, size = sums[i]
            far = 8.0 * np.sqrt((size / remembered).min()) if loss == SQUARED else np.inf
            certain = agreed - doubts[i] * np.sqrt(doubt)
            a = np.clip(certain / size, 0.0, 1.0).min() if size.any() else 0.0
            helps = proven[i] and (loss == SQUARED or fewer[i, 0] > np.sqrt(fewer[i, 1]))
            if w:
                d = w * (float(mistaken(Y[t], p)) - float(mistaken(Y[t], p + a * s)))
                fewer[i] += [d, d * d]
                best = np.clip(agreed / size, 0.0, 1.0) if size.any() else np.zeros(2)
                off = w * (r @ s - best * (s @ s))
                sums[i] += [np.full(2, w * (r @ s)), off**2, np.full(2, w * (s @ s))]
                if n % PERIOD == 0:
                    sums[i] *= [kept, kept**2, kept]
                    fewer[i] *= [kept[0], kept[0] ** 2]
                proven[i] |= n >= 32 and sums[i, 0, 0] > 4.0 * np.sqrt(sums[i, 1, 0])
                if i or loss == SQUARED:
                    slope = (Y[t] - guess) / (2.0 if loss == TWO else 1.0)
                    W[i] += min(rate * w, most[i] / (Z[t] @ Z[t])) * np.outer(Z[t], slope)
            if helps:
                p += a * np.clip(s, -far, far)
        out[t] = p - P[t]
        if w and loss != SQUARED:
            W[0] += max(4.0 / (n + 3.0), 1.0 - forgetting) * (W[1] - W[0])
    return out, W, proven


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("forgetting", [1.0, 0.999])
def test_it_is_the_formula(loss, forgetting):
    X, Y, P, weight = made(loss)
    part = begun(X, Y, forgetting)
    expected, W, proven = naive(X, Y, P, weight, loss, forgetting)
    found = part.learn(X, Y, P, weight)
    np.testing.assert_allclose(part.W, W, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    assert part.loss == loss
    assert part.rows == np.count_nonzero(weight)
    np.testing.assert_array_equal(part.proven, proven)
    assert proven.any()
    assert 0.0 < part.left < 0.9
    sums = part.sums[:, 0]
    assert part.left == pytest.approx(np.prod(sums[:, LEFT] / sums[:, WHOLE]), rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("block", [1, 7, 300])
def test_blocks_do_not_matter(loss, block):
    X, Y, P, weight = made(loss, 700)
    one, other = begun(X, Y), begun(X, Y)
    whole = one.learn(X, Y, P, weight)
    cuts = [slice(a, a + block) for a in range(0, len(X), block)]
    found = [other.learn(X[of], Y[of], P[of], weight[of]) for of in cuts]
    np.testing.assert_array_equal(np.concatenate(found), whole)
    np.testing.assert_array_equal(one.W, other.W)
    np.testing.assert_array_equal(one.sums, other.sums)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_correction_is_what_learning_adds_and_changes_nothing(loss):
    X, Y, P, weight = made(loss)
    part = begun(X, Y)
    part.learn(X[:1000], Y[:1000], P[:1000], weight[:1000])
    before = part.get_state()
    expected = part.correction(X[1000:1001], P[1000:1001])
    assert np.abs(expected).max() > 0.01
    for name, value in part.get_state().items():
        np.testing.assert_array_equal(value, before[name])
    row = slice(1000, 1001)
    np.testing.assert_allclose(part.learn(X[row], Y[row], P[row], weight[row]), expected)


@pytest.mark.parametrize("loss", LOSSES)
def test_it_stays_out_until_it_is_clearly_right(loss):
    X, Y, *_ = made(loss)
    rng, ones = np.random.default_rng(1), np.ones(len(X))
    # predictions that are better than what a linear model knows
    P = Y + 0.01 * rng.standard_normal(Y.shape)
    part = begun(X, Y)
    assert not part.learn(X, Y, P, ones).any()
    assert not part.proven.any()
    assert part.left == 1.0
    assert part.shares == [0.0, 0.0]
    assert not part.correction(X, P).any()
    # once it was right it stays known, until other predictions begin
    part.learn(X, Y, np.full(Y.shape, Y.mean()), ones)
    assert part.proven[1]
    assert max(part.shares) > 0.1
    part.begin_share()
    assert not part.proven.any()
    assert (part.shares, part.left) == ([0.0, 0.0], 1.0)


@pytest.mark.parametrize("loss", [TWO, MORE])
def test_squares_alone_are_no_proof_for_classes(loss):
    X, Y, _, _ = made(loss)
    # right in each row, but far from the targets
    P = 0.1 * Y if loss == TWO else 0.4 + 0.1 * Y
    part = begun(X, Y)
    assert not part.learn(X, Y, P, np.ones(len(X))).any()
    assert part.proven.all()
    assert (part.fewer[:, 0] <= 0.0).all()
    assert part.shares == [0.0, 0.0]
    assert part.left == 1.0
    part.fewer[:] = 3.0, 1.0
    assert min(part.shares) > 0.1


def test_a_share_is_that_of_the_last_rows_if_it_is_smaller():
    X, Y, P, weight = made(SQUARED)
    part = begun(X, Y)
    part.learn(X, Y, P, weight)
    assert part.shares[0] > 0.1
    part.sums[0, 1, :ROWS] *= -1.0
    assert part.shares[0] == 0.0


def test_far_rows_and_heavy_ones_move_it_no_farther_than_to_their_target():
    X, Y, P, _ = made(SQUARED)
    part = begun(X, Y)
    far = X[:1] + 1e9
    for _ in range(500):
        part.learn(far, np.array([[7.0]]), P[:1], np.array([1e6]))
    assert part._features(far) @ part.W[1] == pytest.approx(7.0, rel=1e-6)
    X, Y, P, _ = made(TWO)
    part = begun(X, Y)
    part.learn(np.tile(X + 1e9, (2, 1)), np.tile(Y, (2, 1)), np.tile(P, (2, 1)), np.full(3000, 1e9))
    assert np.abs(part.W).max() < 100.0


def test_far_from_all_rows_it_moves_a_prediction_no_farther_than_it_ever_had_reason_to():
    X, Y, P, weight = made(SQUARED)
    part = begun(X, Y)
    part.learn(X, Y, P, weight)
    usual = np.sqrt(np.mean((part._features(X) @ part.W[0] - P) ** 2))
    far = X[:1] + 1e9 * np.sign(part.W[0, :-1, 0])
    assert part.shares[0] > 0.1
    assert (part._features(far) @ part.W[0] - P[:1]).item() > 50.0 * usual
    assert usual < part.correction(far, P[:1]).item() < 18.0 * usual


def test_columns_that_came_later_are_left_out():
    X, Y, P, weight = made(TWO)
    part, other = begun(X, Y), begun(X, Y)
    found = part.learn(np.hstack([X, np.full((len(X), 2), 7.0)]), Y, P, weight)
    np.testing.assert_array_equal(found, other.learn(X, Y, P, weight))


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_class_comes(position):
    X, Y, P, weight = made(TWO)
    part = begun(X, Y)
    part.learn(X, Y, P, weight)
    u = part._features(X) @ part.W
    sums = part.sums.copy()
    part.add_output(position)
    chances = softmax(part._features(X) @ part.W, axis=2)
    # it is seldom at first, and the others are as likely as before
    old = np.delete(chances, position, axis=2)
    assert np.median(chances[:, :, position], axis=1).max() < 0.01
    np.testing.assert_allclose(old[..., 1:] / old.sum(axis=2, keepdims=True), expit(u))
    np.testing.assert_array_equal(part.sums[..., :ROWS], 0.5 * sums[..., :ROWS])
    np.testing.assert_array_equal(part.sums[..., ROWS], sums[..., ROWS])
    part.add_output(0)
    assert part.W.shape[2] == 4
    np.testing.assert_array_equal(part.sums[..., :ROWS], 0.5 * sums[..., :ROWS])


@pytest.mark.parametrize("constant", [-8.0, 8.0])
def test_a_class_that_comes_is_seldom_beside_one_that_hardly_ever_came(constant):
    X, Y, *_ = made(TWO)
    part = begun(X, Y)
    part.W[:, -1] = constant
    part.add_output(1)
    np.testing.assert_array_equal(np.sort(part.W[:, -1]), [[-9.0, -4.0, 4.0]] * 2)


def test_two_followers_merge_to_their_mean_by_rows_of_which_the_first_fade():
    X, Y, P, weight = made(TWO, 2000)
    origin = begun(X, Y)
    origin.learn(X[:600], Y[:600], P[:600], weight[:600])
    mine, other = copy.deepcopy(origin), copy.deepcopy(origin)
    mine.learn(X[600:1300], Y[600:1300], P[600:1300], weight[600:1300])
    other.learn(X[1300:], Y[1300:], P[1300:], weight[1300:])
    mine.require_alike(other)
    own, theirs = (np.count_nonzero(weight[of]) for of in (slice(600, 1300), slice(1300, None)))
    left = (mine.rows / (mine.rows + theirs)) ** 4, (255 / 256) ** theirs
    W = [(k * own * a + theirs * b) / (k * own + theirs)
         for k, a, b in zip(left, mine.W, other.W, strict=True)]  # fmt: skip
    rows = mine.sums[..., ROWS] + other.sums[..., ROWS] - origin.sums[..., ROWS]
    mine.proven[:] = 0
    mine.take_in(other, origin)
    np.testing.assert_allclose(mine.W, W, rtol=1e-12)
    np.testing.assert_array_equal(mine.sums[..., ROWS], rows)
    assert mine.rows == np.count_nonzero(weight)
    np.testing.assert_array_equal(mine.proven, other.proven)
    assert 0.1 < mine.shares[0] <= 1.0
    alone = begun(X, Y)
    alone.take_in(begun(X, Y), None)
    assert not alone.proven.any()


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_merged_parts_follow_the_last_one(task):
    """A mean of what a rule was, and of what it became, would be worse than nothing."""
    X, y = turning(task=task)
    sample = small(task, memory=False).partial_fit(X[:1024], y[:1024]).fix_map()
    one = copy.deepcopy(sample).partial_fit(X[1024:5000], y[1024:5000])
    merged, last = (
        copy.deepcopy(sample).partial_fit(X[of], y[of])
        for of in (slice(1024, 3000), slice(3000, 5000))
    )
    merged.merge(last, since=sample)
    follower = merged.model_.current.follower
    assert max(follower.shares) > 0.2
    errors = [np.mean((of.predict(X[5000:5300]) - 1.0 * y[5000:5300]) ** 2) for of in (merged, one)]
    assert errors[0] < 1.15 * errors[1]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("forgetting", [1.0, 0.999])
def test_a_part_that_learned_nothing_changes_no_follower(loss, forgetting):
    X, Y, P, weight = made(loss)
    origin = begun(X, Y, forgetting)
    origin.learn(X[:600], Y[:600], P[:600], weight[:600])
    one = copy.deepcopy(origin)
    one.learn(X[600:], Y[600:], P[600:], weight[600:])
    for mine, other in ((one, origin), (origin, one), (origin, origin)):
        merged = copy.deepcopy(mine)
        merged.take_in(other, origin)
        for name, value in (origin if mine is other else one).get_state().items():
            np.testing.assert_allclose(merged.get_state()[name], value, rtol=1e-9)


@pytest.mark.parametrize("name", ["tails", "middle", "scale", "loss"])
def test_followers_of_other_units_do_not_merge(name):
    X, Y, *_ = made(TWO)
    mine, other = begun(X, Y), begun(X, Y)
    setattr(other, name, getattr(other, name) + 1)
    with pytest.raises(MergeError, match="the units of the linear follower"):
        mine.require_alike(other)


def test_a_state_goes_on_bit_for_bit_and_crafted_ones_are_refused():
    X, Y, P, weight = made(MORE)
    part, other = begun(X, Y), LinearFollower(Units.none(0), 3)
    part.learn(X[:700], Y[:700], P[:700], weight[:700])
    other.set_state(part.get_state())
    for one in (part, other):
        one.learn(X[700:], Y[700:], P[700:], weight[700:])
    np.testing.assert_array_equal(other.correction(X, P), part.correction(X, P))
    state = part.get_state()
    with pytest.raises(ModelFileError, match="W: has 4 rows, and there are 4 columns"):
        LinearFollower(Units.none(0), 3).set_state({**state, "W": state["W"][:, 1:]})
    with pytest.raises(ModelFileError, match="sums"):
        LinearFollower(Units.none(0), 3).set_state({**state, "sums": np.zeros((3, 2, N_SUMS))})


# ---- in the default -----------------------------------------------------------------------------


def turning(n=6000, d=6, task="classes"):
    """A linear rule that keeps turning: once around in 4 000 rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    angle = 2.0 * np.pi * np.arange(n) / 4000.0
    f = np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1] + 0.5 * X[:, 2]
    if task == "numbers":
        return X, f + 0.3 * rng.standard_normal(n)
    return X, (f > 0.0) ^ (rng.random(n) < 0.05)


def small(task, **params):
    learner = OnlineKernelRegressor if task == "numbers" else OnlineKernelClassifier
    return learner(n_components=50, speed="fast", **params)


@pytest.mark.parametrize(("task", "share"), [("classes", 0.75), ("numbers", 0.65)])
def test_a_rule_that_turns_is_followed(task, share, monkeypatch):
    X, y = turning(task=task)
    errors = []
    for follows in (True, False):
        monkeypatch.setattr(CorrectedModel, "follows", follows)
        model = small(task, memory=False)
        errors.append(np.mean((model.predict_then_learn(X, y)[1024:] - 1.0 * y[1024:]) ** 2))
    assert errors[0] < share * errors[1]


def test_a_rule_that_stays_is_learned_as_before(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 4))
    y = X[:, 0] * X[:, 1] + X[:, 2] > 0.0
    found = []
    for follows in (True, False):
        monkeypatch.setattr(CorrectedModel, "follows", follows)
        found.append(small("classes").predict_then_learn(X, y, return_scores=True))
    np.testing.assert_array_equal(*found)


def test_it_goes_on_in_the_model_that_takes_over_and_begins_anew_at_the_last_fit():
    X, y = turning()
    model = small("classes").partial_fit(X, y)
    follower = model.model_.current.follower
    assert max(follower.shares) > 0.1
    assert follower.rows > 0
    other = model.model_._new_model(1)
    other.succeed(model.model_.current)
    assert other.follower is follower
    # the mean is that of the weights since
    assert follower.rows == 0
    model.consolidate()
    assert model.model_.current.follower.shares == [0.0, 0.0]


@pytest.mark.parametrize(("d", "there"), [(4, True), (40, True), (41, False)])
def test_it_is_there_where_columns_are_not_too_many(d, there):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1100, d))
    model = OnlineKernelRegressor(n_components=10, speed="fast", restart=False)
    model.partial_fit(X, X[:, 0])
    assert (model.model_.follower is not None) == there


def test_a_model_of_before_goes_on_without(monkeypatch):
    X, y = turning(2000)
    monkeypatch.setattr(CorrectedModel, "follows", False)
    model = small("classes").partial_fit(X, y)
    assert model.model_.current.follower is None
    monkeypatch.undo()
    again = from_bytes(to_bytes(model))
    for one in (model, again):
        one.partial_fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_a_saved_model_follows_on_and_a_class_comes():
    X, y = turning()
    y = np.where(y, "above", "below")
    y[5000:5050] = "late"
    model = small("classes").partial_fit(X[:4000], y[:4000])
    again = from_bytes(to_bytes(model))
    for one in (model, again):
        one.partial_fit(X[4000:], y[4000:])
    assert max(model.model_.current.follower.shares) > 0.05
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_a_file_with_more_columns_than_rows_have_is_refused():
    X, y = turning(1500)
    model = small("classes", restart=False).partial_fit(X, y)
    follower = model.model_.follower
    wide = np.hstack([X, X])
    model.model_.follower = LinearFollower.begun(wide, np.sign(follower.W[0, :1]) + 0.0, 1.0)
    with pytest.raises(ModelFileError, match="follower/middle: has more columns than rows have"):
        from_bytes(to_bytes(model))
