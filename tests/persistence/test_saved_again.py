"""A loaded model is saved to the same bytes, and writes respect links and permissions."""

from __future__ import annotations

import json
import os
import stat
import time

import numpy as np
import pytest

from onkel import ALGORITHMS, StreamModel, load, make
from onkel.errors import ModelFileError
from onkel.learners import FOGDClassifier
from onkel.persistence import atomic
from onkel.persistence.untouched import Untouched

CASES = [(name, task) for name, row in ALGORITHMS.items() for task in row.tasks]


@pytest.mark.compiled
@pytest.mark.parametrize(("name", "task"), CASES)
def test_save_load_save_gives_the_same_bytes(name, task, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4)).astype(np.float32)
    y = {
        "regression": np.sin(X[:, 0]) + 0.5 * X[:, 1],
        "binary": (X[:, 0] * X[:, 1] > 0.0).astype(int),
        "multiclass": np.digitize(X[:, 0], [-0.7, 0.7]),
    }[task]
    model = make(name, task)
    for n in (0, 5, 120):
        if n:
            model.fit(X[:n], y[:n])
        model.save(tmp_path / "first")
        load(tmp_path / "first").save(tmp_path / "again")
        assert (tmp_path / "first").read_bytes() == (tmp_path / "again").read_bytes()


@pytest.fixture
def model():
    X = np.random.default_rng(0).normal(size=(40, 3))
    return FOGDClassifier(n_components=4, gamma=0.5, random_state=0).fit(X, X[:, 0] > 0)


def test_a_link_stays_and_what_it_names_is_written(model, tmp_path):
    (tmp_path / "models").mkdir()
    link = tmp_path / "current.onkel"
    link.symlink_to("models/real.onkel")
    model.save(link)
    model.save(link)
    assert link.is_symlink()
    assert [p.name for p in (tmp_path / "models").iterdir()] == ["real.onkel"]
    assert load(link).n_rows_ == 40


@pytest.mark.skipif(os.name != "posix", reason="modes as POSIX has them")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_permissions_stay(model, tmp_path, mode):
    path = tmp_path / "model.onkel"
    path.touch()
    path.chmod(mode)
    model.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices as POSIX has them")
def test_what_is_no_regular_file_is_refused(model, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a regular file"):
        model.save(tmp_path / "pipe")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    with pytest.raises(ModelFileError, match="not a regular file"):
        model.save("/dev/null")
    with pytest.raises(ModelFileError, match="device, pipe or socket"):
        load(tmp_path / "pipe")


def test_what_a_killed_write_left_is_removed(model, tmp_path):
    path = tmp_path / "model.onkel"
    old, new, other = (
        tmp_path / name
        for name in (".model.onkel.0123abcd.tmp", ".model.onkel.89ab4567.tmp", ".x.0123abcd.tmp")
    )
    for file in (old, new, other):
        file.write_bytes(b"half")
    for file in (old, other):
        os.utime(file, (time.time() - 7200,) * 2)
    model.save(path)
    assert not old.exists()
    # new may still be written by another process; other belongs to another file
    assert new.exists()
    assert other.exists()


def test_a_missing_file_is_a_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.onkel")


def test_deeply_nested_metadata_is_refused(tmp_path):
    from safetensors.numpy import save_file

    path = tmp_path / "deep.onkel"
    for depth in (1_000, 100_000):
        nested = '{"state": ' + "[" * depth + "]" * depth + ', "format": 1, "sha256": ""}'
        save_file({"a": np.zeros(1)}, path, {"onkel": nested})
        with pytest.raises(ModelFileError, match=r"deep.onkel"):
            load(path)


def test_a_size_beyond_the_arrays_is_refused(tmp_path):
    from tests.fuzz.states import files, write

    X = np.random.default_rng(0).normal(size=(60, 3))
    path = tmp_path / "model.onkel"
    make("forgetron", gamma=0.5).fit(X, X[:, 0] > 0).save(path)
    for size in (-5, 10**8, 2_000_000_000):
        document, arrays = files._read(path)
        (name,) = (name for name in arrays if name.endswith("model/counts"))
        arrays[name][0] = size
        write(tmp_path / "changed", document, arrays)
        with pytest.raises(ModelFileError, match="fitted/model/counts"):
            load(tmp_path / "changed")


def test_more_columns_than_a_file_holds_are_refused_before_they_take_memory(tmp_path):
    from tests.fuzz.states import files, write

    X = np.random.default_rng(0).normal(size=(60, 3))
    path = tmp_path / "model.onkel"
    make("ogd", "regression").fit(X, X[:, 0]).save(path)
    document, arrays = files._read(path)
    document["state"]["fitted"]["n_features_in"] = 2**31
    write(path, document, arrays)
    with pytest.raises(ModelFileError, match="n_features_in: is 2147483648, more than"):
        load(path)


def test_a_type_of_numbers_that_numpy_lacks_is_refused(tmp_path):
    head = json.dumps({"a": {"dtype": "F8_E4M3", "shape": [1], "data_offsets": [0, 1]}}).encode()
    path = tmp_path / "model.onkel"
    path.write_bytes(len(head).to_bytes(8, "little") + head + bytes(1))
    with pytest.raises(ModelFileError, match="not a model file"):
        load(path)


def test_rows_wider_than_the_models_are_refused():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = StreamModel(make("pa"))
    model.partial_fit(X, (X[:, 0] > 0).astype(int))
    state = model.get_state()
    state["sample"] |= {"X": np.zeros((2, 4), np.float32), "at": np.arange(2)}
    with pytest.raises(ModelFileError, match="4 columns, and rows have 3"):
        StreamModel.from_state(state)


def test_a_file_whose_folder_could_not_be_flushed_is_not_that_of_another(tmp_path, monkeypatch):
    path = tmp_path / "m.onkel"
    file = Untouched(path)
    with monkeypatch.context() as patch:
        patch.setattr(atomic, "sync_folder", _fails)
        with pytest.raises(OSError, match="no room"):
            file.write(b"first")
    assert file.write(b"second") == path
    assert path.read_bytes() == b"second"
    path.write_bytes(b"theirs")
    assert file.write(b"third") == tmp_path / "m.2.onkel"
    assert path.read_bytes() == b"theirs"


def _fails(folder):
    raise OSError(28, "no room")
