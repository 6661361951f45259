"""What labels that come tell a model: rows by themselves and rows in blocks are the same."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from onkel import KernelRLSClassifier, KernelRLSRegressor
from onkel.intervals.feedback import Feedback


def _numbers(feedback):
    alarm, out = feedback.alarm, []
    for part in (feedback.next, feedback.alone):
        out.append(part.numbers if feedback.task == "regression" else part.q_)
    return [*out, alarm.counts_, alarm.edges_, alarm.ties_, alarm.shares_, alarm.capital_]


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_rows_by_themselves_teach_what_a_block_does(task):
    rng = np.random.default_rng(0)
    n = 1200
    a, b, c = rng.standard_normal((3, n))
    c[700:] *= 5.0
    if task == "regression":
        rows = a + c, a, 0.5 * a
    else:
        rows = np.abs(c) > 2.0, *(1.0 / (1.0 + np.exp(3.0 * x)) for x in (a, b))
    block, apart = Feedback(task), Feedback(task)
    learn = "learn_values" if task == "regression" else "learn_classes"
    getattr(block, learn)(*rows)
    for t in range(n):
        getattr(apart, learn)(*(x[t : t + 1] for x in rows))
    for one, other in zip(_numbers(block), _numbers(apart), strict=True):
        np.testing.assert_array_equal(one, other)
    assert apart.alarm.alarms_ == block.alarm.alarms_ != []
    assert apart.next.n_rows == n == apart.alone.n_rows


@pytest.mark.parametrize("kind", [KernelRLSClassifier, KernelRLSRegressor])
def test_what_both_knew_counts_once(kind):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (6000, 2))
    y = X[:, 0] * X[:, 1]
    y[1500:] *= -1.0
    y = y > 0.0 if kind is KernelRLSClassifier else y
    sample = kind(n_components=50, feedback=True)
    sample.partial_fit(X[:3000], y[:3000]).fix_map()
    parts = [copy.deepcopy(sample) for _ in range(2)]
    for k, part in enumerate(parts):
        part.partial_fit(X[3000 + k :: 2], y[3000 + k :: 2])
    assert len(sample.alarms_) == 1
    learned = 6000 - 3000 + sample.feedback_.next.n_rows
    whole = copy.deepcopy(parts[0]).merge(parts[1], since=sample)
    assert whole.alarms_ == sample.alarms_
    feedback = whole.feedback_
    assert feedback.alarm.n_rows == feedback.next.n_rows == feedback.alone.n_rows == learned
    # a part that learned nothing changes nothing
    alone = copy.deepcopy(parts[0]).merge(copy.deepcopy(sample), since=sample)
    of_both = (_numbers(alone.feedback_), _numbers(parts[0].feedback_))
    for one, other in zip(*of_both, strict=True):
        np.testing.assert_array_equal(one, other)
    assert alone.alarms_ == parts[0].alarms_


def test_a_row_that_is_no_number_teaches_nothing():
    feedback = Feedback("regression")
    one = np.ones(1)
    feedback.learn_values(one, one, one)
    before = [array.copy() for array in _numbers(feedback)]
    for row in ((np.nan, 1.0, 1.0), (1.0, np.inf, 1.0), (1.0, 1.0, 1e200)):
        feedback.learn_values(*(np.array([x]) for x in row))
    for one, other in zip(before, _numbers(feedback), strict=True):
        np.testing.assert_array_equal(one, other)
