"""Models that cannot be graphs are refused, with the reason and a remedy."""

from __future__ import annotations

import builtins
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from onkel import StreamModel, make, open_stream
from onkel.errors import ExportError, ModelFileError
from onkel.export import graph
from onkel.export.kernels import KERNELS
from onkel.kernels import Gaussian
from onkel.learners import ExplicitKernelClassifier, SupportKernelClassifier
from onkel.maps import IdentityFeatures

X = np.random.default_rng(0).standard_normal((40, 2))
Y = X[:, 0] > 0.0


class Own(Gaussian):
    """A user's own kernel."""


class OwnMap(IdentityFeatures):
    """A user's own map."""


def test_a_part_of_ones_own_is_named_and_can_be_registered(tmp_path, graph_of, agrees):
    learner = SupportKernelClassifier(kernel=Own(), gamma=0.5).fit(X, Y)
    with pytest.raises(ExportError, match=r"known for the kernel Own\. There is: Gaussian") as info:
        learner.export_onnx(tmp_path / "m.onnx")
    pattern = (
        r"builder of \(kernel, X, S, gamma\).*export\.kernels\.KERNELS\.register\(Own, builder\)"
    )
    assert re.search(pattern, str(info.value))
    assert not list(tmp_path.iterdir())
    KERNELS.register(Own, KERNELS.of(Gaussian()))
    try:
        agrees(learner, graph_of(learner), X)
    finally:
        del KERNELS._builders[Own]
    with pytest.raises(ExportError, match="map OwnMap"):
        ExplicitKernelClassifier(map=OwnMap()).fit(X, Y).export_onnx(tmp_path / "m.onnx")


def test_nothing_learned(tmp_path):
    with pytest.raises(NotFittedError):
        make("fogd").export_onnx(tmp_path / "m.onnx")
    with pytest.raises(ExportError, match="learned no rows"):
        StreamModel(make("fogd")).export_onnx(tmp_path / "m.onnx")
    weightless = make("pa").partial_fit(X, Y, sample_weight=np.zeros(len(X)))
    with pytest.raises(ExportError, match="no class is known"):
        weightless.export_onnx(tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())


def test_onnx_is_missing(tmp_path, monkeypatch):
    learner, real = make("pa").fit(X, Y), builtins.__import__

    def without(name, *args, **kwargs):
        if name == "onnx" or name.startswith("onnx."):
            raise ModuleNotFoundError("No module named 'onnx'", name="onnx")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'onkel\[onnx\]'"):
        learner.export_onnx(tmp_path / "m.onnx")


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(ModelFileError, match="does not exist"):
        make("pa").fit(X, Y).export_onnx(tmp_path / "none" / "m.onnx")


def test_a_graph_larger_than_a_file_can_be(tmp_path, monkeypatch):
    learner = make("fogd", n_components=50, gamma=1.0, random_state=0).fit(X, Y)
    monkeypatch.setattr(graph, "_MOST_BYTES", 500)
    with pytest.raises(ExportError, match="fewer components"):
        learner.export_onnx(tmp_path / "m.onnx")


def texts(n_values):
    """A table of n different texts, three rows each."""
    k = np.arange(3 * n_values) // 3
    return pd.DataFrame({"who": [f"name {i}" for i in k], "x": 1.0 * k % 7, "y": 2.0 * k})


def test_text_whose_values_share_a_hash(tmp_path):
    model = StreamModel(make("pa", "regression")).partial_fit(texts(200), target="y")
    with pytest.raises(ExportError, match=r"'who' has more than 64 values.*max_categories"):
        model.export_onnx(tmp_path / "m.onnx")
    for values, message in (
        ({"x": ["a"]}, "'x' is no column of text; there is: .'who'."),
        ({"who": "name 3"}, "'who' must be a list of texts"),
    ):
        with pytest.raises(ValueError, match=message):
            model.export_onnx(tmp_path / "m.onnx", values=values)
    unlike = texts(200).sample(frac=1.0, random_state=0).drop_duplicates("who")
    model = StreamModel(make("pa", "regression")).partial_fit(unlike, target="y")
    with pytest.raises(ExportError, match=r"'who' holds texts that nearly all differ"):
        model.export_onnx(tmp_path / "m.onnx")
    late = texts(60).assign(who=["a"] * 20 + [None] * 160)[::-1]
    stream = open_stream(late, target="y", categorical=["who"], missing="zero")
    model = StreamModel(make("pa", "regression"), encoder=stream.encoder)
    for block in stream:
        model.learn(block)
    with pytest.raises(ExportError, match=r"'who' had no value in the first rows"):
        model.export_onnx(tmp_path / "m.onnx")


def test_a_model_whose_columns_are_fixed(graph_of):
    # it would hash new values, but has learned none
    fixed = StreamModel(make("okl", "regression", n_components=10, speed="fast"))
    fixed.partial_fit(texts(30), target="y").fix_map()
    assert fixed.encoder.layout.categories[0].hashes
    found = graph_of(fixed)(who=np.array([["name 3"], ["new"]], object), x=np.array([[3.0], [4.0]]))
    expected = fixed.predict({"who": ["name 3", "new"], "x": [3.0, 4.0]})
    np.testing.assert_allclose(found["prediction"], expected, rtol=1e-6)


def test_a_gap_that_predict_would_refuse_gives_nan(graph_of):
    frame = texts(20)
    model = StreamModel(make("pa", "regression"), settings={"missing": "error"})
    run = graph_of(model.partial_fit(frame, target="y"))
    who, x = np.array([["name 3"], [""], ["name 3"]], object), np.array([[1.0], [1.0], [np.nan]])
    assert np.isnan(run(who=who, x=x)["prediction"]).tolist() == [False, True, True]
