"""Models as ONNX graphs: written, checked, and run by onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest


@pytest.fixture
def graph_of(tmp_path):
    """``graph_of(model)``: the graph from ``export_onnx``, as a function of its inputs by name."""

    def write(model):
        path = tmp_path / "model.onnx"
        model.export_onnx(path)
        proto = onnx.load(path)
        onnx.checker.check_model(proto, full_check=True)
        # onnxruntime 1.20 refuses nodes without, where it makes others of them
        assert len({node.name for node in proto.graph.node} - {""}) == len(proto.graph.node)
        session = onnxruntime.InferenceSession(path)
        names = [output.name for output in session.get_outputs()]

        def run(**inputs):
            return dict(zip(names, session.run(None, inputs), strict=True))

        run.session = session
        return run

    return write


def _margins(decision):
    """Distance of each row's scores from another label."""
    if decision.ndim == 1:
        return np.abs(decision)
    best = np.sort(decision, axis=1)
    return best[:, -1] - best[:, -2]


@pytest.fixture
def alike():
    """``alike(found, expected, share)``: outputs agree to that share of the largest score.

    Labels are the same unless the scores are that close to a tie.
    """

    def compare(found, expected, share):
        assert found.keys() == expected.keys()
        for name, values in expected.items():
            if name == "prediction" and "decision" in expected:
                decision = expected["decision"]
                clear = _margins(decision) > share * np.abs(decision).max()
                # a model that has learned nothing gives exact zeros
                clear |= not decision.any()
                assert clear.mean() > 0.9
                assert found[name][clear].tolist() == values[clear].tolist()
            else:
                assert found[name].dtype == np.float64
                allowed = share * np.abs(values).max() + 1e-300
                np.testing.assert_allclose(found[name], values, rtol=0.0, atol=allowed)

    return compare


@pytest.fixture
def agrees(alike):
    """``agrees(learner, run, X)``: graph and learner agree on rows X."""

    def compare(learner, run, X):
        X = X.astype(learner.dtype)
        expected = {"prediction": learner.predict(X)}
        if learner._task == "classification":
            expected["decision"] = learner.decision_function(X)
            if learner.probability_link is not None:
                expected["probabilities"] = learner.predict_proba(X)
        # rounding errors of scores are relative to the largest
        alike(run(X=X), expected, 1e-9 if learner.dtype == "float64" else 2e-5)

    return compare
