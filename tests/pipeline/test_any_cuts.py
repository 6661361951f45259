"""What depends on how rows are cut into blocks: nothing, or the last digits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import onkel
from onkel.algorithms import ALGORITHMS

# Sums that BLAS adds in an order of its own, which depends on the rows in a block.
_BY_BLAS = {
    "fogd", "orf", "doubly-sgd", "dualsgd",  # features of many columns
    "nogd", "nolana", "aligned",  # features of landmarks, candidates
    "okl", "krls",  # matrices of the second order
    "bpa-p", "bsgd-p", "bsgd-m",  # projections, and distances of merged rows
}  # fmt: skip
_LEARNERS = [
    (name, task)
    for name, own in ALGORITHMS.items()
    for task, made in (("classification", own.classifier), ("regression", own.regressor))
    if made is not None
]
_FIRST, _ROWS = 200, 400


def _table(task):
    """Messy rows; the first 200 show each column's gaps and categories."""
    rng = np.random.default_rng(3)
    rows = [
        {
            "a": float(rng.normal()),
            "b": None if t % 20 == 7 else float(10.0 * rng.normal()),
            "c": float(rng.integers(0, 5)),
            "t": None if t % 23 == 5 else "xyz"[rng.integers(0, 3)],
            "said": " ".join(rng.choice(["yes", "no", "so", "we", "go", "up"], 4)),
        }
        for t in range(_ROWS)
    ]
    values = [row["a"] + 0.1 * (row["b"] or 0.0) + (row["t"] == "x") for row in rows]
    return rows, values if task == "regression" else [["no", "yes"][v > 0.5] for v in values]


def _learned(name, task, ends, **how):
    """A model that learned the table in blocks with these ends, and its predictions."""
    rows, y = _table(task)
    learner = onkel.make(name, task=task, **how)
    if "random_state" in learner.get_params():
        learner.set_params(random_state=0)
    model = onkel.StreamModel(learner)
    predicted = []
    for start, end in pairwise([0, _FIRST, *ends, _ROWS]):
        predicted += model.predict_then_learn(rows[start:end], y[start:end]).tolist()
    return model, predicted


def _ways():
    """No cuts in the later rows, one, many of random sizes, and single rows."""
    cuts = np.cumsum(np.random.default_rng(1).integers(1, 40, _ROWS))
    return [
        [],
        [300],
        [_FIRST + int(c) for c in cuts if _FIRST + c < _ROWS],
        range(_FIRST + 1, _ROWS),
    ]


@pytest.mark.parametrize(("name", "task"), [own for own in _LEARNERS if own[0] not in _BY_BLAS])
def test_blocks_cuts_and_single_rows_write_the_same_file(name, task):
    assert len({_learned(name, task, way)[0].to_bytes() for way in _ways()}) == 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "task"), [own for own in _LEARNERS if own[0] in _BY_BLAS])
def test_other_cuts_move_predictions_in_their_last_digits(name, task, dtype):
    digits = 1e-9 if dtype == "float64" else 1e-3 if name == "krls" else 1e-4
    whole, *others = (_learned(name, task, way, dtype=dtype)[1] for way in _ways())
    for predicted in others:
        if task == "classification":
            assert predicted == whole
        else:
            assert predicted == pytest.approx(whole, rel=digits, abs=digits)
