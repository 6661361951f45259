"""One-file models: exact, atomic, and never half-read."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

import onkel
from onkel import persistence
from onkel.errors import ModelFileError
from onkel.learners import FOGDClassifier, PARegressor
from onkel.persistence import files
from onkel.persistence.contents import flatten, unflatten


def _rows(n=300, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    return X, np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")


@pytest.fixture
def fitted():
    X, y = _rows()
    return FOGDClassifier(n_components=16, gamma=0.5, random_state=0).partial_fit(X, y)


@pytest.fixture
def saved(fitted, tmp_path):
    path = tmp_path / "model.onkel"
    fitted.save(path)
    return path


@persistence.register
class Anything:
    """An object with any state, to test that it is restored."""

    def __init__(self, state):
        self.state = state

    def get_state(self):
        return self.state

    @classmethod
    def from_state(cls, state):
        return cls(state)


STATES = [
    {"a": 1, "b": 0.1, "c": True, "d": None, "e": "text", "f": [1, [2.5, "x"]], "g": {}},
    {"huge": 2**127 + 1, "inf": float("inf"), "tiny": 5e-324, "tuple": (1, (2, "x"))},
    {"deep": {"er": {"array": np.arange(6, dtype=np.float32).reshape(2, 3)}}},
    {"labels": np.array(["no", "yes, éß"]), "objects": np.array([1, "a", True], dtype=object)},
    {"empty": np.empty((0, 3)), "scalar": np.float32(0.1), "zero_d": np.array(3, dtype=np.int64)},
    {"flags": np.array([True, False]), "bytes": np.arange(5, dtype=np.uint8)},
    {"list": [np.arange(3), np.arange(4.0)]},
]


def _same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tolist() == b.tolist()
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("state", STATES, ids=lambda s: next(iter(s)))
def test_a_state_comes_back_with_types_and_values(state, tmp_path):
    persistence.save(Anything(state), tmp_path / "m.onkel")
    assert _same(persistence.load(tmp_path / "m.onkel").state, state)


def test_memory_order_is_kept_and_arrays_are_writable(tmp_path):
    state = {"F": np.asfortranarray(np.arange(12.0).reshape(3, 4)), "view": np.arange(12.0)[::2]}
    persistence.save(Anything(state), tmp_path / "m.onkel")
    back = persistence.load(tmp_path / "m.onkel").state
    assert back["F"].flags.f_contiguous
    assert back["view"].tolist() == state["view"].tolist()
    back["F"][0, 0] = 7.0


@pytest.mark.parametrize(
    ("state", "where"),
    [
        ({"a": {"b": object()}}, "a/b"),
        ({"a": np.array(["2020-01-01"], dtype="datetime64[D]")}, "'a'"),
        ({"a": {1: 2}}, "key 1"),
        ({"a/b": 2}, "a/b"),
    ],
)
def test_a_state_that_cannot_be_written_is_named(state, where):
    with pytest.raises(TypeError, match=where):
        flatten(state)


def test_flatten_names_arrays_by_their_path():
    tree, arrays = flatten({"a": {"b": np.arange(3)}, "c": 1})
    assert list(arrays) == ["a/b"]
    assert _same(
        unflatten(json.loads(json.dumps(tree)), arrays), {"a": {"b": np.arange(3)}, "c": 1}
    )


def test_a_loaded_estimator_continues_bit_for_bit(fitted, saved):
    X, y = _rows(seed=1)
    loaded = persistence.load(saved)
    assert type(loaded) is FOGDClassifier
    assert np.array_equal(loaded.decision_function(X), fitted.decision_function(X))
    for model in (fitted, loaded):
        model.partial_fit(X, y)
    assert np.array_equal(loaded.coef_, fitted.coef_)
    assert loaded.n_rows_ == fitted.n_rows_


def test_the_same_model_gives_the_same_bytes(fitted, saved, tmp_path):
    persistence.load(saved).save(tmp_path / "again.onkel")
    assert (tmp_path / "again.onkel").read_bytes() == saved.read_bytes()


def test_info_stands_beside_the_model(fitted, tmp_path):
    path = tmp_path / "m.onkel"
    persistence.save(fitted, path, info={"rows": 3})
    assert persistence.load_with_info(path)[1] == {"rows": 3}


def test_it_is_a_safetensors_file_without_pickle(saved):
    from safetensors import safe_open

    with safe_open(saved, framework="numpy") as file:
        assert json.loads(file.metadata()["onkel"])["class"] == "FOGDClassifier"


def test_nothing_else_is_left_in_the_folder(saved):
    assert [p.name for p in saved.parent.iterdir()] == ["model.onkel"]


def test_a_failed_save_leaves_the_old_file(saved, fitted, monkeypatch):
    before = saved.read_bytes()

    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(ModelFileError, match="No space left"):
        fitted.save(saved)
    assert saved.read_bytes() == before
    assert [p.name for p in saved.parent.iterdir()] == ["model.onkel"]


@pytest.mark.parametrize("keep", [0, 4, 100, 0.5, -1])
def test_a_truncated_file_is_named(saved, keep):
    content = saved.read_bytes()
    n = int(len(content) * keep) if isinstance(keep, float) else keep
    saved.write_bytes(content[:n])
    with pytest.raises(ModelFileError, match=r"model.onkel: .*truncated"):
        persistence.load(saved)


def test_every_altered_byte_is_noticed(saved):
    content = bytearray(saved.read_bytes())
    rng = np.random.default_rng(0)
    for at in rng.choice(len(content), size=60, replace=False):
        altered = bytearray(content)
        altered[at] ^= 0x01
        saved.write_bytes(altered)
        try:
            persistence.load(saved)
        except ModelFileError:
            continue
        # Only a change in the header's padding may go unnoticed.
        assert chr(content[at]) == " "


@pytest.mark.parametrize("content", [b"", b"hello, I am a text file\n" * 50, b"\x80\x04K\x01."])
def test_a_foreign_file_is_refused(tmp_path, content):
    path = tmp_path / "foreign.onkel"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"foreign.onkel: not a model file"):
        persistence.load(path)


def test_another_safetensors_file_is_refused(tmp_path):
    from safetensors.numpy import save_file

    save_file({"w": np.zeros(3)}, tmp_path / "other.safetensors")
    with pytest.raises(ModelFileError, match="not a model file of onkel"):
        persistence.load(tmp_path / "other.safetensors")


def _edit(path, change):
    """Rewrite the JSON document of a model file, with a matching digest."""
    from safetensors.numpy import load_file, save_file

    content = path.read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    document = json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["onkel"])
    document.pop("sha256")
    change(document)
    arrays = load_file(path)
    document["sha256"] = files._digest(json.dumps(document, sort_keys=True), arrays)
    save_file(arrays, path, {"onkel": json.dumps(document)})


def test_an_older_format_says_learn_anew(saved):
    _edit(saved, lambda d: d.update(format=1, version="0.0.9"))
    with pytest.raises(ModelFileError, match=r"onkel 0\.0\.9 in format 1.*learn the model anew"):
        persistence.load(saved)


def test_a_newer_format_says_upgrade(saved):
    _edit(saved, lambda d: d.update(format=99, version="7.1"))
    with pytest.raises(ModelFileError, match=r"onkel 7\.1 in format 99.*upgrade"):
        persistence.load(saved)


@pytest.mark.parametrize("name", ["Popen", "os.system", "Pipeline", "open_stream", "load"])
def test_only_classes_of_onkel_are_made(saved, name):
    _edit(saved, lambda d: d.update({"class": name}))
    with pytest.raises(ModelFileError, match="is not a model class"):
        persistence.load(saved)


def test_a_state_that_does_not_fit_is_told(saved):
    _edit(saved, lambda d: d.update(state={}))
    with pytest.raises(ModelFileError, match="params: is missing"):
        persistence.load(saved)


def test_missing_file_and_folder(tmp_path, fitted):
    with pytest.raises(ModelFileError, match="no such file"):
        persistence.load(tmp_path / "none.onkel")
    with pytest.raises(ModelFileError, match="is a folder"):
        persistence.load(tmp_path)
    with pytest.raises(ModelFileError, match="does not exist"):
        fitted.save(tmp_path / "no" / "m.onkel")


def test_a_foreign_object_cannot_be_saved(tmp_path):
    class Stranger:
        def get_state(self):
            return {}

    with pytest.raises(TypeError, match="not one of onkel's classes"):
        persistence.save(Stranger(), tmp_path / "m.onkel")


def test_an_estimator_that_has_seen_nothing(tmp_path):
    path = tmp_path / "fresh.onkel"
    PARegressor().save(path)
    assert type(persistence.load(path)) is PARegressor


def test_bytes_are_the_content_of_the_file_and_come_back(fitted, saved):
    content = fitted.to_bytes()
    assert content == saved.read_bytes()
    again = onkel.from_bytes(content)
    X, y = _rows(seed=1)
    assert (again.decision_function(X) == fitted.decision_function(X)).all()
    assert again.partial_fit(X, y).to_bytes() == fitted.partial_fit(X, y).to_bytes()
    stream = onkel.StreamModel(PARegressor()).partial_fit({"a": [1.0, 2.0]}, [1.0, 2.0])
    for model in (stream, onkel.LateLabels(stream)):
        assert onkel.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


@pytest.mark.parametrize("keep", [0, 4, 100, -1])
def test_truncated_bytes_are_refused(fitted, keep):
    with pytest.raises(ModelFileError, match=r"the bytes: .*truncated"):
        onkel.from_bytes(fitted.to_bytes()[:keep])


def test_altered_bytes_are_refused(fitted):
    content = bytearray(fitted.to_bytes())
    content[-1] ^= 1
    with pytest.raises(ModelFileError, match="the bytes: altered or damaged"):
        onkel.from_bytes(bytes(content))


def test_the_kind_that_a_file_must_hold(fitted, saved):
    assert isinstance(onkel.load(saved, FOGDClassifier), FOGDClassifier)
    with pytest.raises(ModelFileError, match="holds a FOGDClassifier, not a StreamModel"):
        onkel.load(saved, onkel.StreamModel)
    with pytest.raises(ModelFileError, match="the bytes: holds a FOGDClassifier"):
        onkel.from_bytes(fitted.to_bytes(), onkel.StreamModel)
    with pytest.raises(ValueError, match=r"missing: .*reads no keys; a StreamModel does"):
        onkel.load(saved, missing="gap")
