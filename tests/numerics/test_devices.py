"""Devices by name: what is missing is named, and a learner on one is copied, saved and loaded."""

from __future__ import annotations

import copy
import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

import onkel
from onkel import ExplicitKernelRegressor, OnlineKernelRegressor
from onkel.maps import LearnedLandmarks
from onkel.numerics import devices
from onkel.rules import LeastSquares

X = np.random.default_rng(0).standard_normal((1500, 3))
Y = np.sin(2.0 * X[:, 0]) + 0.1 * X[:, 1]


@pytest.fixture
def no_device():
    devices.device_named.cache_clear()
    yield
    devices.device_named.cache_clear()


def learner(device="cuda", **params):
    return OnlineKernelRegressor(n_components=30, device=device, **params)


def test_a_device_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="device='gpu' is not one of 'cpu', 'cuda'"):
        learner("gpu").fit(X, Y)
    with pytest.raises(ValueError, match="device='gpu' is not one of 'cpu', 'cuda'"):
        LearnedLandmarks(device="gpu").fit(X, Y)
    with pytest.raises(ValueError, match="device='gpu' is not one of 'cpu', 'cuda'"):
        ExplicitKernelRegressor(map="nystroem", rule=LeastSquares(device="gpu")).fit(X, Y)


def test_the_extra_that_is_missing_is_named(monkeypatch, no_device):
    monkeypatch.setitem(sys.modules, "cupy", None)
    model = learner()
    with pytest.raises(ValueError, match=r"pip install 'onkel\[cuda\]'"):
        model.fit(X, Y)
    assert not hasattr(model, "model_")


@pytest.mark.parametrize("found", [0, None])
def test_without_a_gpu_the_error_says_so(monkeypatch, no_device, found):
    def count():
        if found is None:
            raise RuntimeError("cudaErrorInsufficientDriver")
        return found

    runtime = SimpleNamespace(getDeviceCount=count)
    library = SimpleNamespace(cuda=SimpleNamespace(runtime=runtime))
    monkeypatch.setitem(sys.modules, "cupy", library)
    with pytest.raises(ValueError, match="needs an NVIDIA GPU"):
        learner().fit(X, Y)


@pytest.mark.compiled
def test_a_model_of_a_device_is_copied_and_its_file_does_without(tmp_path, on_device, monkeypatch):
    model = learner().partial_fit(X[:1100], Y[:1100])
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for one in [model, *copies]:
        one.partial_fit(X[1100:], Y[1100:])
        np.testing.assert_array_equal(one.coef_, model.coef_)
    assert clone(model).device == "cuda"
    onkel.save(model, tmp_path / "m.onkel")
    # on a machine without
    devices.device_named.cache_clear()
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "cupy", None)
    loaded = onkel.load(tmp_path / "m.onkel")
    assert loaded.device == "cpu"
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    loaded.partial_fit(X, Y)


def test_files_are_the_same_whatever_the_device(on_device):
    states = [learner(name, speed="fast").partial_fit(X[:5], Y[:5]).get_state()
              for name in ("cpu", "cuda")]  # fmt: skip
    assert states[0]["params"] == states[1]["params"]
    assert states[0]["fitted"].keys() == states[1]["fitted"].keys()
