"""Every loss: its value by its formula, its direction against finite differences, its ties."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.losses import CLASSIFICATION, REGRESSION, Loss, evaluate, parse_loss

ONE_OUTPUT = {
    "hinge": lambda p, y, e: max(0.0, 1 - y * p),
    "squared_hinge": lambda p, y, e: max(0.0, 1 - y * p) ** 2,
    "logistic": lambda p, y, e: np.logaddexp(0.0, -y * p),
    "margin_logistic": lambda p, y, e: np.logaddexp(0.0, -y * p),
    "perceptron": lambda p, y, e: max(0.0, -y * p),
    "squared": lambda p, y, e: 0.5 * (y - p) ** 2 * (abs(y - p) > e),
    "absolute": lambda p, y, e: abs(y - p),
    "epsilon_insensitive": lambda p, y, e: max(0.0, abs(y - p) - e),
}


def loss_of(name, p, y, epsilon=0.1):
    p = np.atleast_1d(np.asarray(p, float))
    c = np.full(len(p), np.nan)
    value = evaluate(int(Loss[name.upper()]), p[None, :], 0, float(y), epsilon, c)
    return value, c


def margin(p, y):
    return p[y] - np.delete(p, y).max()


MANY_OUTPUTS = {
    "hinge": lambda p, y: max(0.0, 1 - margin(p, y)),
    "squared_hinge": lambda p, y: max(0.0, 1 - margin(p, y)) ** 2,
    "logistic": lambda p, y: np.log(np.exp(p - p[y]).sum()),
    "margin_logistic": lambda p, y: np.log1p(np.exp(-margin(p, y))),
    "perceptron": lambda p, y: max(0.0, -margin(p, y)),
}


@pytest.mark.parametrize("name", CLASSIFICATION + REGRESSION)
def test_one_output(name):
    rng = np.random.default_rng(0)
    for p in rng.uniform(-3, 3, 50):
        y = rng.choice([-1.0, 1.0]) if name in CLASSIFICATION else rng.uniform(-3, 3)
        value, c = loss_of(name, p, y)
        assert value == pytest.approx(ONE_OUTPUT[name](p, y, 0.1), abs=1e-12)
        h = 1e-6
        slope = (loss_of(name, p + h, y)[0] - loss_of(name, p - h, y)[0]) / (2 * h)
        assert c[0] == pytest.approx(-slope, abs=1e-5)


@pytest.mark.parametrize("name", CLASSIFICATION)
def test_many_outputs(name):
    rng = np.random.default_rng(1)
    for _ in range(50):
        p, y = rng.uniform(-2, 2, 5), int(rng.integers(5))
        value, c = loss_of(name, p, y)
        assert value == pytest.approx(MANY_OUTPUTS[name](p, y), abs=1e-12)
        for k in range(5):
            step = 1e-6 * np.eye(5)[k]
            slope = (loss_of(name, p + step, y)[0] - loss_of(name, p - step, y)[0]) / 2e-6
            assert c[k] == pytest.approx(-slope, abs=1e-5)
        assert c.sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("p", [-800.0, 800.0])
@pytest.mark.parametrize("y", [-1.0, 1.0])
@pytest.mark.parametrize("name", ["logistic", "margin_logistic"])
def test_logistic_does_not_overflow(name, p, y):
    value, c = loss_of(name, p, y)
    assert value == pytest.approx(max(0.0, -y * p))
    assert np.isfinite(c).all()
    value, c = loss_of(name, [p, 0.0, -p], 1)
    assert value == pytest.approx(800.0)
    assert np.isfinite(c).all()


def test_perceptron_moves_on_mistakes_only():
    # a score of 0 predicts +1; of equal scores the first class is predicted
    assert loss_of("perceptron", 0.0, 1.0)[1][0] == 0.0
    assert loss_of("perceptron", 0.0, -1.0)[1][0] == -1.0
    assert not loss_of("perceptron", [0.0, 0.0, 0.0], 0)[1].any()
    np.testing.assert_array_equal(loss_of("perceptron", [0.0, 0.0, 0.0], 2)[1], [-1, 0, 1])


def test_squared_loss_has_a_dead_zone():
    assert loss_of("squared", 0.95, 1.0, epsilon=0.1) == (0.0, [0.0])
    assert loss_of("squared", 0.5, 1.0, epsilon=0.1)[1][0] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("name", "p", "y"),
    [
        ("hinge", 1.0, 1.0),
        ("squared_hinge", -1.0, -1.0),
        ("hinge", [0.5, 1.5, 0.0], 1),
        ("squared", 0.75, 1.0),
        ("epsilon_insensitive", 0.75, 1.0),
        ("absolute", 1.0, 1.0),
    ],
)
def test_a_row_at_the_edge_of_a_loss_does_not_move_f(name, p, y):
    value, c = loss_of(name, p, y, epsilon=0.25)
    assert value == 0.0
    assert not c.any()


def test_names():
    assert parse_loss("softmax", CLASSIFICATION) is Loss.LOGISTIC
    assert parse_loss("l1", REGRESSION) is Loss.ABSOLUTE
    with pytest.raises(ValueError, match="loss='hing' is not one of 'hinge'"):
        parse_loss("hing", CLASSIFICATION)
