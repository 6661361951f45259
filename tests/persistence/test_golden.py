"""Files that earlier versions wrote are read, predict what they predicted, and go on learning."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.persistence.golden.make import FOLDER, learn_on, models, predictions

import onkel
from onkel.errors import ModelFileError
from onkel.persistence import files

FILES = sorted((Path(__file__).parent / "golden").glob("format-*/*.onkel"))


def _recorded(path):
    return json.loads(path.with_suffix(".json").read_text("utf8"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_golden_file_predicts_what_was_recorded(path):
    model, recorded = onkel.load(path), _recorded(path)
    # in float32 another processor rounds otherwise
    np.testing.assert_allclose(predictions(model), recorded["predicts"], rtol=1e-4, atol=1e-4)
    learn_on(model)
    np.testing.assert_allclose(
        predictions(model), recorded["and after twelve more rows"], rtol=1e-3, atol=1e-3
    )


def test_each_learner_has_golden_files_of_this_format():
    found = {path.stem for path in FILES if path.parent == FOLDER}
    expected = {
        f"{name}-{task}"
        for name, row in onkel.ALGORITHMS.items()
        for task in ("multiclass", "regression")
        if task in row.tasks
    }
    assert expected <= found
    assert {"late-labels", "sentences"} <= found
    assert {"table-of-okl-multiclass", "table-of-okl-regression"} <= found


def test_what_the_script_makes_is_named_by_learner_and_task():
    name, model = next(models())
    assert name == "okl-multiclass"
    assert model.n_rows_ == 260


def test_a_file_of_a_later_version_is_refused_with_the_version_needed(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "FORMAT_VERSION", files.FORMAT_VERSION + 1)
    monkeypatch.setattr(files, "__version__", "7.8.9")
    path = tmp_path / "later.onkel"
    onkel.make("pa").fit([[0.0], [1.0]], ["a", "b"]).save(path)
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match=r"upgrade to onkel 7\.8\.9 or later"):
        onkel.load(path)


def test_a_file_says_its_format(tmp_path):
    from safetensors import safe_open

    for path in FILES[:3]:
        with safe_open(path, framework="numpy") as file:
            document = json.loads(file.metadata()["onkel"])
        assert f"format-{document['format']}" == path.parent.name
