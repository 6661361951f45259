"""Models as ONNX graphs: written, checked, and run by onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest


@pytest.fixture
def graph_of(tmp_path):
    """``graph_of(model)``: what ``export_onnx`` wrote, as a function of its inputs by name."""

    def write(model):
        path = tmp_path / "model.onnx"
        model.export_onnx(path)
        onnx.checker.check_model(onnx.load(path), full_check=True)
        session = onnxruntime.InferenceSession(path)
        names = [output.name for output in session.get_outputs()]

        def run(**inputs):
            return dict(zip(names, session.run(None, inputs), strict=True))

        run.session = session
        return run

    return write


@pytest.fixture
def agrees():
    """``agrees(learner, run, X)``: the graph gives for rows X what the learner gives."""

    def compare(learner, run, X):
        X = X.astype(learner.dtype)
        found = run(X=X)
        # scores are sums of what the dtype holds: rounding is in units of the largest
        share = 1e-9 if learner.dtype == "float64" else 2e-5
        if learner._task == "regression":
            expected = {"prediction": learner.predict(X)}
        else:
            expected = {"decision": learner.decision_function(X)}
            np.testing.assert_array_equal(found.pop("prediction"), learner.predict(X))
            if learner.probability_link is not None:
                expected["probabilities"] = learner.predict_proba(X)
        assert found.keys() == expected.keys()
        for name, values in expected.items():
            assert found[name].dtype == np.float64
            allowed = share * np.abs(values).max() + 1e-300
            np.testing.assert_allclose(found[name], values, rtol=0.0, atol=allowed)

    return compare
