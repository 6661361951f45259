"""Damaged files through ``onkel learn``: no traceback, and the model of the rows it accepted.

ONKEL_FUZZ_SECONDS=3600 runs for an hour. So many cases: ``python -m tests.fuzz.test_learning FIRST
COUNT``.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from tests.fuzz.conftest import SECONDS
from tests.fuzz.test_inputs import FORMATS, encode, make, mutate
from typer.testing import CliRunner

from onkel import load
from onkel.cli import app
from onkel.cli.learn.options import LearnOptions
from onkel.errors import DataError
from onkel.pipeline import StreamModel

STATUSES = (0, 2)


def learned_again(path, model):
    """The model of the rows that are accepted, learned in other blocks."""
    options = LearnOptions(sources=[str(path)], target="y")
    stream = options.open(block_rows=7, fingerprint=False)
    again = None
    try:
        for block in stream:
            if again is None:
                estimator = type(model.estimator)(**model.estimator.get_params())
                again = StreamModel(estimator, encoder=stream.encoder)
            again.learn(block)
    except DataError:
        pass
    return again


def check(case, folder):
    """Raise an error if a case ends in a traceback or in a model of other rows."""
    rng = np.random.default_rng([case, 11])
    form = FORMATS[case % len(FORMATS)]
    path, saved = Path(folder) / f"case.{form}", Path(folder) / "case.onkel"
    saved.unlink(missing_ok=True)
    path.write_bytes(mutate(encode(make(rng, int(rng.integers(1, 120))), form, rng), form, rng))
    target = () if form == "svm" else ("--target", "y")
    asked = ["learn", str(path), *target, "-a", "fogd", "--set", "n_components=8"]
    done = CliRunner().invoke(app, [*asked, "--save", str(saved), "--json"])
    assert done.exit_code in STATUSES, f"status {done.exit_code}: {done.exception!r}"
    assert "Traceback" not in done.stderr, done.stderr
    if done.exit_code:
        assert done.stderr.strip(), "nothing is said"
    if saved.exists() and form != "svm":
        model = load(saved)
        again = learned_again(path, model)
        assert again is not None, "a model without rows"
        assert again.n_rows == model.n_rows, f"{model.n_rows} rows, {again.n_rows} accepted"
        state, expected = model.estimator.get_state(), again.estimator.get_state()
        W, V = (one["fitted"]["model"].get("W") for one in (state, expected))
        if W is not None:
            # float32 features round differently in blocks of other sizes
            np.testing.assert_allclose(W, V, rtol=1e-4, atol=1e-6)


def main(first, count):
    """Try a number of cases; return how many failed."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in range(first, first + count):
            try:
                check(case, folder)
            except Exception as error:
                failed += 1
                print(f"case {case}: {error!r}"[:600], flush=True)
    print(f"{count} cases, {failed} failed")
    return failed


@pytest.mark.slow
def test_damaged_files_are_refused_or_learned_as_far_as_they_are_good(tmp_path):
    for case in range(max(14, int(8 * SECONDS))):
        check(case, tmp_path)


if __name__ == "__main__":
    sys.exit(min(main(int(sys.argv[1]), int(sys.argv[2])), 1))
