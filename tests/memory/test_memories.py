"""Memories of targets: against plain NumPy, in any blocks, saved and continued."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onkel.memory import ClassMemory, Experts, Gain, ValueMemory, regressions
from onkel.memory import value_loops as loops
from onkel.memory.past import find_periods
from onkel.memory.regressions import absorb, begin, forget, learn_row, move, times

N = 700


def _values(seed=0, n=N):
    """A walk that the timeless predictions partly know, and rows of weight 0."""
    rng = np.random.default_rng(seed)
    f = np.sin(np.arange(n) / 9.0) * 3.0 + 20.0
    y = f + np.cumsum(rng.normal(size=n)) * 0.3 + 2.0 * (np.arange(n) % 24 < 5)
    weight = (rng.uniform(size=n) < 0.9) * rng.uniform(0.5, 2.0, n)
    return f, y, weight


def _classes(K, seed=0, n=N):
    rng = np.random.default_rng(seed)
    codes = np.repeat(rng.integers(0, K, n), rng.integers(1, 9, n))[:n]
    F = 0.5 * np.eye(K)[codes] + rng.normal(0.0, 0.5, (n, K))
    weight = (rng.uniform(size=n) < 0.9) * 1.0
    return F, codes, weight


MAKE = {
    "values": (ValueMemory, lambda n=N: _values(n=n)),
    "two classes": (lambda: ClassMemory(2), lambda n=N: _classes(2, n=n)),
    "five classes": (lambda: ClassMemory(5), lambda n=N: _classes(5, n=n)),
}


@pytest.fixture(params=MAKE)
def made(request):
    return MAKE[request.param]


def _in_blocks(memory, rows, cuts):
    return np.concatenate([memory.learn(*(r[a:b] for r in rows)) for a, b in cuts])


def _cuts(n, size):
    return [(a, min(a + size, n)) for a in range(0, n, size)]


def _assert_same(state, expected):
    assert state.keys() == expected.keys()
    for name, value in expected.items():
        if isinstance(value, dict):
            _assert_same(state[name], value)
        else:
            np.testing.assert_array_equal(state[name], value, err_msg=name)


@pytest.mark.parametrize("size", [1, 7, 64])
def test_blocks_do_not_matter(made, size):
    make, rows = made[0], made[1]()
    whole, parts = make(), make()
    expected = whole.learn(*rows)
    np.testing.assert_array_equal(_in_blocks(parts, rows, _cuts(N, size)), expected)
    _assert_same(parts.get_state(), whole.get_state())


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(1, 300), min_size=1, max_size=6))
def test_any_blocks(sizes):
    rows = _values()
    ends = [0, *np.minimum(np.cumsum(sizes), N).tolist(), N]
    cuts = list(pairwise(ends))
    np.testing.assert_array_equal(_in_blocks(ValueMemory(), rows, cuts), ValueMemory().learn(*rows))


@pytest.mark.parametrize("at", [0, 10, 100, 500, 2400])
def test_a_state_goes_on_bit_for_bit(made, at):
    make, rows = made[0], made[1](at + 200)
    first, second = make(), make()
    first.learn(*(r[:at] for r in rows))
    second.set_state(first.get_state())
    rest = [r[at:] for r in rows]
    np.testing.assert_array_equal(second.learn(*rest), first.learn(*rest))


def test_rows_of_weight_0_leave_no_trace(made):
    make, (f, y, weight) = made[0], made[1]()
    counted = weight > 0.0
    all_rows, some = make(), make()
    expected = all_rows.learn(f, y, weight)[counted]
    got = some.learn(f[counted], y[counted], weight[counted])
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("at", [500, 2200])
def test_a_far_value_of_weight_0_leaves_no_trace(at):
    f, y, weight = _values(n=2400)
    weight[at] = 0.0
    far = y.copy()
    far[at] = 1e12
    one, other = ValueMemory(), ValueMemory()
    np.testing.assert_array_equal(one.learn(f, far, weight), other.learn(f, y, weight))
    _assert_same(one.get_state(), other.get_state())


def test_the_unit_is_measured_at_16_rows_and_whenever_they_have_doubled_up_to_2048():
    f, y, _ = _values(n=3000)
    memory, done = ValueMemory(), 0
    looks = {15: 0, 16: 16, 31: 16, 100: 64, 2047: 1024, 2048: 2048, 3000: 2048}
    for n, seen in looks.items():
        memory.learn(f[done:n], y[done:n], np.ones(n - done))
        done, known = n, y[:seen]
        unit = [known.mean(), known.std()] if seen else [0.0, 0.0]
        np.testing.assert_allclose(memory.unit, unit, rtol=1e-9)


def test_predict_is_what_learn_predicts_and_changes_nothing(made):
    make, (f, y, weight) = made[0], made[1]()
    memory = make()
    for t in range(0, N, 50):
        row = slice(t, t + 1)
        before = memory.get_state()
        predicted = memory.predict(f[row])
        _assert_same(memory.get_state(), before)
        np.testing.assert_array_equal(memory.learn(f[row], y[row], weight[row]), predicted)
        memory.learn(*(r[t + 1 : t + 50] for r in (f, y, weight)))


def test_values_have_no_unit():
    f, y, weight = _values()
    plain = ValueMemory().learn(f, y, weight)[:, 0]
    scaled = ValueMemory().learn(1e6 * f - 3e7, 1e6 * y - 3e7, weight)[:, 0]
    np.testing.assert_allclose((scaled + 3e7) / 1e6, plain, atol=1e-6)


def test_a_walk_is_followed_and_noise_is_not():
    rng = np.random.default_rng(1)
    n = 4000
    ones, f = np.ones(n), rng.normal(size=n)

    def error(p, y):
        return float(np.mean((p - y) ** 2))

    walk = f + np.cumsum(rng.normal(size=n))
    predicted = ValueMemory().learn(f, walk, ones)[:, 0]
    assert error(predicted[1000:], walk[1000:]) < 1.1 < 10.0 < error(f, walk)
    noise = f + rng.normal(size=n)
    predicted = ValueMemory().learn(f, noise, ones)[:, 0]
    assert error(predicted, noise) < 1.02 * error(f, noise)


@pytest.mark.parametrize("rate", [0.3, 1.0, 2.0])
def test_a_jump_as_never_before_is_not_prolonged(rate):
    rng, n = np.random.default_rng(0), 120
    # an oscillation that regressions follow closely, then a much larger drop
    y = 100.0 + np.sin(np.arange(n) * rate) + 0.01 * rng.normal(size=n)
    y[60:63], y[63:] = [97.0, 52.0, 48.0], 24.0
    f = np.concatenate([[100.0], y[:-1]]) + rng.normal(size=n)
    predicted = ValueMemory().learn(f, y, np.ones(n))[:, 0]
    last = np.concatenate([f[:1], y[:-1]])
    steps = np.maximum.accumulate(np.abs(np.concatenate([[0.0, 0.0], np.diff(y)])))[:-1]
    most = np.maximum(steps, np.abs(f - last)) + 1e-9
    known = slice(16, None)
    assert (predicted >= np.minimum(f, last) - most)[known].all()
    assert (predicted <= np.maximum(f, last) + most)[known].all()
    assert np.sum((predicted - y)[60:70] ** 2) < 2.0 * np.sum((last - y)[60:70] ** 2)


def test_a_constant_target_is_no_error():
    y = np.full(100, 3.0)
    predicted = ValueMemory().learn(y, y, np.ones(100))
    np.testing.assert_array_equal(predicted[:, 0], y)


def test_classes_that_come_in_turn_are_known():
    codes = np.arange(1500) % 12
    F = np.random.default_rng(0).normal(0.0, 0.3, (1500, 12))
    predicted = ClassMemory(12).learn(F, codes, np.ones(1500))[:, 0]
    assert np.mean(predicted.argmax(axis=1)[300:] != codes[300:]) < 0.01
    np.testing.assert_allclose(predicted.sum(axis=1), 1.0)


def test_a_class_that_was_never_seen_changes_little():
    F, codes, weight = _classes(4)
    four, five = ClassMemory(4), ClassMemory(4)
    four.learn(F, codes, weight)
    five.learn(F, codes, weight)
    five.add_class(1)
    wide = np.insert(F[:1], 1, 0.0, axis=1)
    predicted, expected = five.predict(wide)[0, 0], four.predict(F[:1])[0, 0]
    np.testing.assert_allclose(np.delete(predicted, 1), expected, atol=0.1)
    shifted = codes + (codes >= 1)
    assert np.isfinite(five.learn(np.insert(F, 1, 0.0, axis=1), shifted, weight)).all()


@pytest.mark.parametrize("position", [0, 1, 3])
def test_a_class_that_comes_leaves_what_is_known_of_the_others(position):
    memory = ClassMemory(3)
    memory.learn(*_classes(3, n=300))
    old = {name: array.copy() for name, array in memory.past._asdict().items()}
    memory.add_class(position)
    past, others = memory.past, np.delete(np.arange(4), position)
    np.testing.assert_array_equal(past.codes[1], others[old["codes"][1]])
    np.testing.assert_array_equal(past.followed[np.ix_(others, others)], old["followed"])
    assert not past.followed[position].any()
    assert not past.followed[:, position].any()
    for name in ("before", "levels", "residual_levels", "residuals"):
        now = getattr(past, name)
        np.testing.assert_array_equal(now[..., others], old[name])
        assert not now[..., position].any()


def test_many_classes_are_not_counted_in_pairs():
    memory = ClassMemory(300)
    assert memory.past.followed.shape == (0, 0)
    F = np.zeros((20, 300))
    assert np.isfinite(memory.learn(F, np.arange(20), np.ones(20))).all()


# ---- parts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("at_once", [False, True])
def test_least_squares_against_the_normal_equations(at_once):
    rng = np.random.default_rng(0)
    n, p, forgetting, ridge = 60, 4, 0.97, 0.5
    U, y, first = rng.normal(size=(n, p)), rng.normal(size=n), rng.normal(size=p)
    P, w, k, g = np.zeros((p, p)), first.copy(), np.zeros(p), np.zeros(p)
    begin(P, ridge)
    A, b = ridge * np.eye(p), ridge * first
    for t in range(n):
        if at_once:
            error = y[t] - w @ U[t]
            learn_row(P, w, first, p, t, forgetting, ridge, U[t], error, 1.0, k, g)
        else:
            forget(P, w, first, p, t, forgetting, ridge, k)
            spread = 1.0 + times(P, U[t], p, k)
            move(w, p, k, (y[t] - w @ U[t]) / spread)
            absorb(P, p, k, spread)
        given_back = (1.0 - forgetting) * p * ridge
        A, b = forgetting * A, forgetting * b
        A[t % p, t % p] += given_back
        b[t % p] += given_back * first[t % p]
        A, b = A + np.outer(U[t], U[t]), b + y[t] * U[t]
        np.testing.assert_allclose(w, np.linalg.solve(A, b), rtol=1e-8)


def test_experts_against_their_definition():
    rng = np.random.default_rng(0)
    n, N_experts, K = 80, 3, 2
    E, y = rng.normal(size=(n, N_experts, K)), rng.normal(size=(n, K))
    R, S, b, w = np.zeros(3), np.zeros(3), 0.0, np.full(3, 1 / 3)
    experts = Experts(3)
    predicted = experts.learn(E, y, np.ones(n))
    for t in range(n):
        p = w @ E[t]
        np.testing.assert_allclose(predicted[t], p)
        r = 2.0 * ((p - y[t]) * (p - E[t])).sum(axis=1)
        R, S, b = R + r, S + r**2, max(b, np.abs(r).max())
        w = np.maximum(R, 0.0) / (b**2 + S)
        w = w / w.sum() if w.sum() > 0.0 else np.full(3, 1 / 3)


def test_experts_regret_is_small():
    rng = np.random.default_rng(0)
    n, y = 5000, np.zeros((5000, 1))
    E = rng.normal(0.0, [0.5, 1.0, 2.0], (n, 3))[:, :, None]
    loss = np.sum(Experts(3).learn(E, y, np.ones(n)) ** 2)
    assert loss < np.sum(E[:, 0] ** 2) * 1.02


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=20),
    st.integers(1, 4),
    st.integers(0, 99),
)
def test_experts_that_agree_are_their_mixture_and_move_no_weight(values, K, seed):
    """To the bit: regrets that are only rounding would make the weights of later rows noise."""
    rng = np.random.default_rng(seed)
    experts, agreed = Experts(3), np.repeat(np.resize(values, (len(values), 1, K)), 3, axis=1)
    for other in (np.empty((0, 3, K)), rng.normal(size=(9, 3, K))):
        experts.learn(other, rng.normal(size=(len(other), K)), np.ones(len(other)))
        before = [part.copy() for part in experts.mixture[:4]]
        predicted = experts.learn(agreed, rng.normal(size=agreed[:, 0].shape), np.ones(len(agreed)))
        np.testing.assert_array_equal(predicted, agreed[:, 0])
        np.testing.assert_array_equal(experts.predict(agreed), agreed[:, 0])
        for part, known in zip(experts.mixture[:4], before, strict=True):
            np.testing.assert_array_equal(part, known)


def _naive_mixture(E, targets, weight):
    """The formulas of the module's docstring; also how often regrets began again."""
    n, N = E.shape[:2]
    R, V, b, w, again = np.zeros(N), np.zeros(N), 0.0, np.full(N, 1.0 / N), 0
    losses, count, out = np.zeros(N + 1), 0.0, np.zeros(targets.shape)
    for t in range(n):
        p = w @ E[t]
        out[t] = p
        if weight[t] == 0.0:
            continue
        own = weight[t] * ((np.vstack([E[t], p]) - targets[t]) ** 2).sum(axis=1)
        losses, count = 63.0 / 64.0 * losses + own, 63.0 / 64.0 * count + 1.0
        best = losses[:-1].min()
        if count >= 32.0 and losses[-1] > 4.0 * best:
            R = losses[-1] - losses[:-1]
            R[losses[:-1] > 2.0 * best] = np.minimum(R[losses[:-1] > 2.0 * best], 0.0)
            V, b, again = np.zeros(N), losses[-1] / count, again + 1
            losses, count = np.zeros(N + 1), 0.0
        r = 2.0 * weight[t] * ((p - targets[t]) * (p - E[t])).sum(axis=1)
        R, V, b = R + r, V + r**2, max(b, np.abs(r).max())
        w = np.maximum(R, 0.0) / (b**2 + V)
        w = w / w.sum() if w.any() else np.full(N, 1.0 / N)
    return out, again


@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_a_mixture_is_the_formula(K, seed):
    rng = np.random.default_rng(seed)
    targets, weight = rng.normal(size=(900, K)), rng.integers(0, 3, 900).astype(float)
    E = targets[:, None] + rng.normal(size=(900, 3, K)) * np.array([0.1, 0.5, 1.0])[:, None]
    # the first is far off for a while
    E[300:330, 0] += 1000.0
    expected, again = _naive_mixture(E, targets, weight)
    np.testing.assert_allclose(Experts(3).learn(E, targets, weight), expected, rtol=1e-6, atol=1e-7)
    assert again > 0


def test_an_expert_that_was_far_off_for_some_rows_is_followed_again():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(3000, 1))
    E = y[:, None] + rng.normal(size=(3000, 2, 1)) * np.array([0.1, 1.0])[:, None]
    E[1000:1100, 0] += 1000.0 * np.exp(-np.arange(100.0) / 10.0)[:, None]
    errors = (Experts(2).learn(E, y, np.ones(len(y))) - y)[:, 0]
    assert np.mean(errors[2000:] ** 2) < 1.1 * np.mean((E[2000:, 0] - y[2000:]) ** 2)


def test_a_mixture_of_f_alone_is_f_to_the_bit():
    """In the target's units, too."""
    f, y, weight = _values()
    f, y = f - 20.0, y - 20.0
    memory = ValueMemory()
    memory.learn(f, y, weight)
    memory.mixture.weights[:] = [1.0] + [0.0] * (loops.N_EXPERTS - 1)
    np.testing.assert_array_equal(memory.predict(f)[:, 0], f)
    np.testing.assert_array_equal(memory.learn(f[:1], y[:1], np.ones(1))[:, 0], f[:1])


@pytest.mark.parametrize("period", [7, 24, 168])
def test_a_period_is_found(period):
    rng = np.random.default_rng(0)
    shape = np.cumsum(rng.normal(size=period))
    values = np.tile(shape, 2048 // period + 1)[:2048] + rng.normal(0.0, 0.2, 2048)
    assert find_periods(values[:, None])[0] == period


def test_noise_and_constants_have_no_period():
    noise = np.random.default_rng(0).normal(size=(2048, 1))
    assert not find_periods(np.cumsum(noise, axis=0)).any()
    assert not find_periods(np.ones((500, 1))).any()
    # few rows correlate by chance
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(size=(100, 1))
        assert not find_periods(np.cumsum(noise, axis=0)).any()


def test_what_alternates_is_no_period_of_two():
    """The last two values tell that; the first period is a multiple."""
    values = (-1.0) ** np.arange(500) + 0.01 * np.random.default_rng(0).normal(size=500)
    assert find_periods(values[:, None])[0] == 4


def test_the_shortest_strong_period_comes_before_the_strongest():
    """As a naive autocorrelation of the differences has it, each lag by the mean of its pairs."""
    rng = np.random.default_rng(0)
    t = np.arange(1500)
    values = np.sin(2 * np.pi * t / 7) + 0.45 * np.sin(2 * np.pi * t / 91) + 1.5 * t
    values += 3.0 * (t % 700 == 5) + 0.1 * rng.standard_normal(1500)
    steps = np.diff(values) - np.diff(values).mean()
    size = np.mean(steps**2)
    lags = range(1, len(steps) // 2 - 1)
    found = {k: np.mean(steps[k:] * steps[: len(steps) - k]) / size for k in lags}
    peaks = [k for k in lags if k >= 3 and found[k - 1] < found[k] >= found.get(k + 1, 1.0)]
    peaks = [k for k in peaks if found[k] > 4.0 / np.sqrt(len(steps))]
    strongest = max(peaks, key=found.get)
    shortest = next(k for k in peaks if found[k] >= 0.9 * found[strongest])
    assert find_periods(values[:, None]).tolist() == [shortest, strongest]
    assert 3 <= shortest < 100 < strongest


def test_periods_are_looked_for_at_row_numbers():
    memory, at = ClassMemory(2), []
    while memory.n_rows < 8192:
        memory.past.total[0] += memory._rows_until_look(memory.n_rows)
        at.append(memory.n_rows)
    assert at == [128, 256, 512, 1024, 2048, 4096, 6144, 8192]
    # also from between two of them
    for n, look in ((0, 128), (127, 128), (1500, 2048), (2049, 4096), (6000, 6144)):
        assert n + memory._rows_until_look(n) == look


def test_gain_is_shown_by_gain_alone():
    rng = np.random.default_rng(0)
    losses = rng.exponential(size=(50, 64))
    better, same = Gain(), Gain()
    assert any(better.add(rows, 0.8 * rows) for rows in losses)
    assert not any(same.add(rows, rng.permutation(rows)) for rows in losses)


def test_a_gain_must_be_certain_and_worth_two_percent():
    rng = np.random.default_rng(0)
    losses = rng.exponential(size=(200, 64))
    tiny, lucky = Gain(), Gain()
    assert not any(tiny.add(rows, 0.981 * rows) for rows in losses)
    # half less in the mean, but all of it in two rows
    few = losses.copy()
    few[[3, 9], [5, 20]] += 600.0
    assert not any(lucky.add(*rows) for rows in zip(few[:20], losses[:20], strict=True))


def test_a_test_comes_every_64_rows_then_every_1024_and_older_rows_count_less():
    gain, losses = Gain(), np.ones(64)
    until = []
    for _ in range(40):
        until.append(gain.until_test)
        n = min(gain.until_test, 64)
        gain.add(losses[:n], losses[:n])
    assert until[:17] == [64] * 16 + [1024]
    assert until[17:33] == [1024 - 64 * k for k in range(1, 16)] + [1024]
    # the sums at row 2048: sixteen times 1 % less of those at row 1024
    early = sum(64 * 0.99**k for k in range(16))
    assert gain.sums[0] == pytest.approx(early * 0.99**16 + 1024)
    again = Gain.from_state(gain.get_state())
    assert again.until_test == gain.until_test


def test_errors_in_another_scale_change_nothing():
    rng = np.random.default_rng(0)
    without, gains = rng.exponential(size=(30, 50)), (Gain(), Gain())
    mixtures, E = (Experts(3), Experts(3)), rng.normal(size=(1500, 3, 1))
    targets = 0.3 * E[:, 1] + 0.7 * E[:, 2] + 0.5 * rng.normal(size=(1500, 1))
    found = [[], []]
    for k, rows in enumerate(without):
        if k == 15:
            # errors are 8 times as large from now on, and their squares 64 times
            gains[1].rescale(3)
            mixtures[1].rescale(3)
        part = slice(50 * k, 50 * k + 50)
        for i, scale in enumerate((1.0, 8.0 if k >= 15 else 1.0)):
            for one in range(0, 50, 2):
                some = scale**2 * rows[one : one + 2]
                found[i].append(gains[i].add(some, 0.9 * some))
            p = mixtures[i].learn(scale * E[part], scale * targets[part], np.ones(50))
            found[i] += (p / scale).ravel().tolist()
    assert found[0] == found[1]
    assert any(one is True for one in found[0])
    np.testing.assert_array_equal(gains[1].sums, gains[0].sums * [64.0, 64.0, 4096.0])
    assert (mixtures[0].mixture.weights > 0.1).sum() == 2


def test_a_newton_step_of_two_classes_is_that_of_several():
    rng = np.random.default_rng(0)
    n = 6
    P, Q = np.zeros((n, n)), np.zeros((n, n))
    w, v, work = np.zeros(n), np.zeros(n), [*np.zeros((3, n)), None]
    begin(P, 1.0)
    begin(Q, 1.0)
    for _ in range(40):
        U, code, weight = rng.normal(size=(2, n)), int(rng.integers(2)), rng.uniform(0.5, 2.0)
        share = rng.uniform(0.01, 0.99)
        p = np.array([share, 1.0 - share])
        regressions.newton(U, n, p, code, weight, P, w, *work)
        regressions.newton_of_two(U, n, p, code, weight, Q, v, *work[1:3])
        np.testing.assert_allclose(v, w, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(Q, P, rtol=1e-9, atol=1e-12)


def test_a_newton_step_of_many_classes_adds_their_curvature():
    rng = np.random.default_rng(0)
    n, K = 5, 80
    P, w, work = np.zeros((n, n)), np.zeros(n), [*np.zeros((3, n)), np.zeros((n, n))]
    begin(P, 1.0)
    R, v = np.eye(n), np.zeros(n)
    for _ in range(20):
        U, code, weight = rng.normal(size=(K, n)), int(rng.integers(K)), rng.uniform(0.5, 2.0)
        # a feature without a spread adds no column to the factor
        U[:, 2] = 1.0
        p = rng.dirichlet(np.ones(K))
        regressions.newton(U, n, p, code, weight, P, w, *work)
        away = U - p @ U
        R += weight * (away.T * p) @ away
        v += np.linalg.solve(R, weight * away[code])
        np.testing.assert_allclose(P, np.linalg.inv(R), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(w, v, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("classes", [False, True])
def test_what_is_forgotten_does_not_come_back_as_rounding(classes):
    # asymmetry in P would grow by 1/.999 with every row, and compilers may round (i, j) and (j, i)
    # differently
    rng = np.random.default_rng(0)
    n = 60_000
    if classes:
        memory, y = ClassMemory(2), rng.integers(0, 2, n)
        f = np.tile([0.5, 0.5], (n, 1))
    else:
        memory, y = ValueMemory(), rng.normal(size=n)
        f = 0.1 * rng.normal(size=n)
    predicted = memory.learn(f, y, np.ones(n))
    assert all(np.abs(P - P.T).max() < 1e-12 for P in memory.P)
    assert max(np.abs(P).max() for P in memory.P) < 3.0
    late = predicted[-5000:, 0]
    target = np.eye(2)[y[-5000:]] if classes else y[-5000:]
    assert np.mean((late - target) ** 2) < 1.02 * np.mean((f[-5000:] - target) ** 2)


@pytest.mark.parametrize("grouped", [False, True])
def test_targets_that_leave_the_unit_begin_it_anew(grouped):
    f, y, weight = _values(n=4000)
    f[2500:] *= 1e9
    y[2500:] *= 1e9
    keys = ["one", "other"] * 2000 if grouped else None
    whole = ValueMemory(2).learn(f, y, weight, keys)
    assert np.isfinite(whole).all()
    last = slice(3500, None)
    assert np.std(whole[last, 0] - y[last]) < 0.8 * np.std(f[last] - y[last])
    memory = ValueMemory(2)
    parts = [
        memory.learn(f[a : a + 97], y[a : a + 97], weight[a : a + 97], keys and keys[a : a + 97])
        for a in range(0, 4000, 97)
    ]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
