"""Calls in any order: ``python tests/fuzz/sequences.py FIRST COUNT ALGORITHM:TASK ...``.

Each seed makes a sequence of calls: rows learned in blocks of any size, rows that are refused, rows
of weight 0, wrong calls, predictions, copies and files that the learner goes on from. At the end it
must be the learner that got the accepted rows in one block.
"""

from __future__ import annotations

import copy
import faulthandler
import pickle
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone

from onkel import load, make
from onkel.errors import DataError

HERE = Path(__file__).parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))
from states import HANGS, SMALL  # noqa: E402

N_ROWS, LARGEST_BLOCK = 240, 60
BAD = (np.nan, np.inf, -np.inf)
#: relative to the largest score; blocks change the order of float64 sums
TOLERANCE = 1e-6


def rows(task, rng):
    """Rows whose third class comes late."""
    X = rng.normal(size=(N_ROWS, 3))
    if task == "regression":
        return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]
    if task == "binary":
        return X, (X[:, 0] * X[:, 1] > 0.0).astype(int)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    y[:100] = y[:100].clip(max=1)
    return X, y


def small(name, task):
    model = make(name, task)
    wanted = SMALL | {"dtype": "float64"}
    known = model.get_params()
    return model.set_params(**{key: value for key, value in wanted.items() if key in known})


def scores(model, X):
    return model.model_.scores(model._check_scoring(X))


def learn(model, X, y, rng, weight=None):
    """Learn one block by either call; True if it was refused."""
    call = model.partial_fit if rng.integers(2) else model.predict_then_learn
    try:
        call(X, y, sample_weight=weight)
    except DataError as error:
        return error
    return None


def refuse(model, X, y, rng):
    """Learn a block with a bad row; return the number of rows learned before it."""
    X, bad = X.copy(), int(rng.integers(len(X)))
    X[bad, rng.integers(X.shape[1])] = BAD[rng.integers(len(BAD))]
    error = learn(model, X, y, rng)
    assert error is not None, "learned a number that is not finite"
    assert error.row == bad, f"blamed row {error.row} for row {bad}"
    return bad


def ignore(model, X, y, rng):
    """Rows of weight 0 change nothing."""
    before = scores(model, X)
    assert learn(model, X[::-1] + 1.0, y, rng, np.zeros(len(X))) is None
    assert np.array_equal(before, scores(model, X)), "a row of weight 0 moved the model"


def mistake(model, X, y, rng):
    """A call that is wrong as a whole is refused as a whole."""
    before = scores(model, X)
    for wrong in ((np.hstack([X, X]), y), (X, y[:-1]), (X[0], y), (np.full(X.shape, "x"), y)):
        try:
            model.partial_fit(*wrong)
        except (ValueError, TypeError):
            continue
        raise AssertionError("took a wrong call")
    assert np.array_equal(before, scores(model, X)), "a wrong call moved the model"


def moved(model, rng, folder):
    """The learner after a round trip by copy, pickle, state or file."""
    kind = rng.integers(5)
    if kind == 0:
        return copy.deepcopy(model)
    if kind == 1:
        return pickle.loads(pickle.dumps(model))
    if kind == 2:
        return type(model).from_state(model.get_state())
    if kind == 3:
        assert not hasattr(clone(model), "model_")
        return model
    path = Path(folder) / "m.onkel"
    model.save(path)
    return load(path)


def play(name, task, seed, folder):
    """Play one sequence; raise an error if the learner is not as it should be."""
    rng = np.random.default_rng([seed, 11])
    X, y = rows(task, rng)
    model, done, accepted = small(name, task), 0, []
    while done < len(X):
        n = int(rng.integers(1, LARGEST_BLOCK))
        block = slice(done, min(done + n, len(X)))
        kind = rng.integers(8) if accepted else 0
        if kind <= 3:
            assert learn(model, X[block], y[block], rng) is None, "refused good rows"
            accepted += range(block.start, block.stop)
        elif kind == 4:
            bad = refuse(model, X[block], y[block], rng)
            accepted += range(block.start, block.start + bad)
        elif kind == 5:
            ignore(model, X[:5], y[:5], rng)
            continue
        elif kind == 6:
            mistake(model, X[:5], y[:5], rng)
            continue
        else:
            model = moved(model, rng, folder)
            continue
        done = block.stop
        assert np.isfinite(scores(model, X[:20])).all(), "predicts what is not finite"
    whole = small(name, task).partial_fit(X[accepted], y[accepted])
    found, expected = scores(model, X), scores(whole, X)
    gap = np.abs(found - expected).max() / max(np.abs(expected).max(), 1.0)
    assert gap < TOLERANCE, f"parts by {gap:.1e} from the learner of the accepted rows"
    assert model.n_rows_ == whole.n_rows_


def main(first, count, *cases):
    faulthandler.enable()
    warnings.simplefilter("ignore")
    failed = 0
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        for case in cases:
            name, task = case.split(":")
            for seed in range(int(first), int(first) + int(count)):
                print(f"{name} {task} seed {seed}", flush=True)
                faulthandler.dump_traceback_later(HANGS, exit=True)
                try:
                    play(name, task, seed, folder)
                except Exception as error:
                    failed += 1
                    print(f"FAILED {name} {task} seed {seed}: {error!r}", flush=True)
                faulthandler.cancel_dump_traceback_later()
    print(f"DONE {int(count) * len(cases)} failed {failed}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
