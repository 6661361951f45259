"""Model files that were changed: refused, or a model that predicts and learns."""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests.fuzz.conftest import SECONDS

from onkel import ALGORITHMS, load
from onkel.errors import ModelFileError
from onkel.learners import FOGDClassifier

pytestmark = pytest.mark.slow

CASES = [f"{name}:{task}" for name, row in ALGORITHMS.items() for task in row.tasks]
CASES.append("stream:regression")
# a mutation of a small learner takes some milliseconds
EACH = max(2, int(SECONDS * 20 / len(CASES)))
#: processes: a crash ends one of them
PARTS = 4
FIRST = int(os.environ.get("ONKEL_FUZZ_SEED", "0"))


@pytest.mark.compiled
@pytest.mark.parametrize("part", range(PARTS))
def test_states_are_refused_or_predict_and_learn(fuzz, part):
    cases = CASES[part::PARTS]
    lines = fuzz("states.py", FIRST, EACH, *cases, seconds=SECONDS)
    assert lines[-1].startswith(f"DONE {EACH * len(cases)}")
    assert [line for line in lines if line.startswith("FAILED")] == []


def test_bytes_are_refused_or_change_nothing(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = FOGDClassifier(n_components=8, gamma=0.5, random_state=0).fit(X, X[:, 0] > 0)
    path = tmp_path / "model.onkel"
    model.save(path)
    content, expected = path.read_bytes(), model.decision_function(X)
    rng = np.random.default_rng(FIRST)
    for _ in range(int(10 * SECONDS)):
        altered = bytearray(content)
        for at in rng.integers(len(content), size=rng.integers(1, 4)):
            altered[at] = rng.integers(256)
        if rng.integers(4) == 0:
            altered = altered[: rng.integers(len(content))]
        path.write_bytes(altered)
        try:
            loaded = load(path)
        except ModelFileError:
            continue
        # only a change in the header's padding may go unnoticed
        assert np.array_equal(loaded.decision_function(X), expected)
