"""A block is learned whole, or up to the refused row, or not at all; also when Ctrl-C comes."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import numpy as np
import pytest

import onkel
from onkel.learners import FOGDClassifier, FOGDRegressor
from onkel.pipeline import StreamModel

_ROOM = str(Path(onkel.__file__).parent)
_WHERE = tuple(f"{_ROOM}/{room}/" for room in ("pipeline", "columns"))


class _Interrupt:
    """Raise KeyboardInterrupt at the k-th call of a function of the pipeline or the columns."""

    def __init__(self, k):
        self.left, self.came = k, False

    def __call__(self, frame, event, arg):
        # an error in a generator that is being closed would be lost
        code = frame.f_code
        within = code.co_filename.startswith(_WHERE) and not code.co_flags & inspect.CO_GENERATOR
        if event == "call" and within:
            self.left -= 1
            if self.left == 0:
                self.came = True
                raise KeyboardInterrupt

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self)

    def __exit__(self, *_):
        sys.settrace(self.before)


def _rows(n=60):
    rng = np.random.default_rng(0)
    a, size = rng.normal(size=n), rng.lognormal(3.0, 2.0, n)
    rows = [
        {"a": x, "size": s, "place": "nsew"[k % 4]}
        for k, (x, s) in enumerate(zip(a, size, strict=True))
    ]
    return rows, 100.0 * a + size


def _model(task):
    learner = FOGDRegressor if task == "regression" else FOGDClassifier
    return StreamModel(learner(n_components=10, gamma=0.3, random_state=0))


@pytest.mark.slow
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_after_an_interrupt_the_model_is_that_of_its_rows(task):
    rows, y = _rows()
    y = y if task == "regression" else np.where(y > 20.0, "high", "low")
    whole = _model(task).partial_fit(rows[:20], y[:20]).partial_fit(rows[20:], y[20:])
    # columns that come within the block: the learner is widened in its middle
    late = [row | ({"place": f"new {k % 3}"} if k > 40 else {}) for k, row in enumerate(rows)]
    wide = _model(task).partial_fit(rows[:20], y[:20]).partial_fit(late[20:], y[20:])
    reached = set()
    for own, reference in ((rows, whole), (late, wide)):
        for k in [*range(1, 40), *range(40, 1000, 7)]:
            model, interrupt = _model(task).partial_fit(rows[:20], y[:20]), _Interrupt(k)
            try:
                with interrupt:
                    model.partial_fit(own[20:], y[20:])
            except KeyboardInterrupt:
                pass
            if not interrupt.came:
                break
            n = model.n_rows
            reached.add(n)
            assert n in range(20, 61)
            if n < 60:
                model.partial_fit(own[n:], y[n:])
            np.testing.assert_array_equal(model.predict(own), reference.predict(own))
            assert model.scaler.n_rows_ == 60
            np.testing.assert_array_equal(model.scaler.center_, reference.scaler.center_)
    assert 20 in reached
    assert any(20 < n < 60 for n in reached)


@pytest.mark.parametrize("bad", [0, 7, 25])
def test_a_refused_row_ends_the_block_in_all_parts(bad):
    rows, y = _rows()
    for wrong in ("target", "feature"):
        given, targets = [dict(row) for row in rows], y.copy()
        if wrong == "target":
            targets[20 + bad] = 1e200
        else:
            given[20 + bad]["size"] = 1e200
        model = _model("regression").partial_fit(rows[:20], y[:20])
        with pytest.raises(onkel.DataError) as error:
            model.partial_fit(given[20:], targets[20:])
        assert (error.value.row, model.n_rows) == (bad, 20 + bad)
        model.partial_fit(rows[20 + bad :], y[20 + bad :])
        whole = _model("regression").partial_fit(rows, y)
        np.testing.assert_array_equal(model.predict(rows), whole.predict(rows))
