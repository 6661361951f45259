"""Models by key: each learns its own events, wherever it is, and whatever ends the process."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3

import pytest
from tests.serve.serving import serving
from tests.serve.stream import cuts

import onkel
from onkel.errors import JournalError
from onkel.serve import LiveModel
from onkel.serve.http.bodies import Limits
from onkel.serve.journal import Journal
from onkel.serve.keyed import KeyedModels

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a journal needs the locks of POSIX")

HOW = {"most": 40, "remember": 100, "once": True, "say": lambda line: None}
_SETTINGS = {"missing": "auto", "dtype": "float32"}


def _template(**settings):
    model = onkel.make("pa", task="regression", **settings)
    return LiveModel(onkel.StreamModel(model, settings=_SETTINGS), **HOW).to_bytes()


def _opened(folder, **how):
    models = KeyedModels(folder / "m.keys", _template(), Journal(folder / "journal"),
                         HOW | how.pop("how", {}), **how)  # fmt: skip
    models.recover()
    return models


def _parts(seed, n=12):
    """Cuts of several keys, among them names that a file system would not like."""
    keys = ["Ulm", "../../etc/passwd", "", "a/b", "😀", "x" * 200]
    streams = {key: cuts(seed + k, 60, "regression") for k, key in enumerate(keys)}
    rng = random.Random(seed)
    while streams:
        chosen = rng.sample(sorted(streams), min(len(streams), rng.randint(1, 4)))
        parts = []
        for key in chosen:
            own = next(streams[key], None)
            if own is None:
                del streams[key]
            else:
                parts.append((key, own))
        if parts:
            yield parts


def test_each_key_is_a_live_model_of_its_own(tmp_path):
    models = _opened(tmp_path, max_models=2)
    alone = {}
    for parts in _parts(0):
        found = models.take(parts)
        for (key, events), answers in zip(parts, found, strict=True):
            if key not in alone:
                alone[key] = LiveModel.from_bytes(_template(), **HOW)
            assert answers == list(alone[key].take_all(events))
        assert len(models._models) <= 2
    assert models.keys() == sorted(alone)
    for key, live in alone.items():
        assert onkel.from_bytes(models.content(key)).to_bytes() == live.model.to_bytes()
    models.close()
    again = _opened(tmp_path)
    for key, live in alone.items():
        with again.reading(key) as found:
            assert found.model.to_bytes() == live.model.to_bytes()
            assert found.counts == live.counts
    again.close()


@pytest.mark.parametrize("max_models", [1, 3, 100])
def test_a_crash_changes_nothing(tmp_path, max_models):
    folders = [tmp_path / name for name in ("whole", "broken")]
    for folder in folders:
        folder.mkdir()
    whole, rng = _opened(folders[0]), random.Random(max_models)
    expected = [whole.take(parts) for parts in _parts(1)]
    broken, found = _opened(folders[1], max_models=max_models), []
    for parts in _parts(1):
        found.append(broken.take(parts))
        chance = rng.random()
        if chance < 0.2:
            broken.snapshot()
        elif chance < 0.4:  # a crash: nothing more is written
            broken.journal.close()
            broken._file.close()
            broken = _opened(folders[1], max_models=max_models)
    assert found == expected
    assert broken.keys() == whole.keys()
    keys = whole.keys()
    assert [broken.content(key) for key in keys] == [whole.content(key) for key in keys]
    whole.close()
    broken.close()


def test_memory_is_bounded(tmp_path):
    models = _opened(tmp_path, max_bytes=8_000_000)
    for k in range(50):
        models.take([(f"key {k}", [{"id": 1, "a": 1.0, "y": 2.0}])])
    report = models.report()
    assert report["models"] == 50
    assert report["models_in_memory"] < 12
    assert report["models_bytes"] == sum(models._models._sizes.values()) <= 8_000_000
    # an id is known again, though its model was on disk
    assert models.take([("key 0", [{"id": 1, "a": 1.0, "y": 2.0}])])[0][0]["model_rows"] == 0
    assert models.counts["repeated"] == 1
    models.close()


def test_no_key_is_the_name_of_a_file(tmp_path):
    (tmp_path / "in").mkdir()
    models = _opened(tmp_path / "in", max_models=1)
    for key in ("../escaped", "/tmp/escaped", "a\x00b", "'; DROP TABLE models; --"):
        models.take([(key, [{"id": 1, "a": 1.0, "y": 2.0}])])
    models.close()
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    with sqlite3.connect(tmp_path / "in" / "m.keys") as file:
        assert file.execute("SELECT count(*) FROM models").fetchone() == (4,)
    file.close()


def test_a_lost_journal_and_other_options_are_errors(tmp_path):
    models = _opened(tmp_path, max_models=1)
    for key in "abc":
        models.take([(key, [{"id": 1, "a": 1.0, "y": 2.0}])])
    models.journal.close()
    models._file.close()
    with pytest.raises(JournalError, match="other options"):
        _opened(tmp_path, how={"most": 41})
    for path in (tmp_path / "journal").glob("*.journal"):
        path.unlink()
    with pytest.raises(JournalError, match="not of each other"):
        _opened(tmp_path)


def _learn(models, ids):
    for k in ids:
        models.take([("a", [{"id": k, "a": 1.0 * k, "y": 2.0 * k}])])


def _crash(models):
    models.journal.close()
    models._file.close()


def _removed(folder, with_others):
    """Remove the file, with or without those that SQLite keeps beside it."""
    for path in folder.glob("m.keys*" if with_others else "m.keys"):
        path.unlink()


@pytest.mark.parametrize("with_others", [True, False])
def test_a_file_removed_while_it_is_used_is_written_anew(tmp_path, with_others):
    models = _opened(tmp_path, max_models=1)
    models.take([("b", [{"id": 1, "a": 1.0, "y": 2.0}])])
    _learn(models, range(5))
    _removed(tmp_path, with_others)
    _learn(models, range(5, 8))
    contents = {key: models.content(key) for key in "ab"}
    models.close()
    assert models.moved is None
    again = _opened(tmp_path)
    assert again.keys() == ["a", "b"]
    assert {key: again.content(key) for key in "ab"} == contents
    again.close()


@pytest.mark.parametrize("with_others", [True, False])
def test_a_file_replaced_while_it_is_used_stays(tmp_path, with_others):
    (tmp_path / "other").mkdir()
    other = _opened(tmp_path / "other")
    other.take([("b", [{"id": 1, "a": 1.0, "y": 2.0}])])
    other.close()
    models = _opened(tmp_path)
    _learn(models, range(5))
    models.snapshot()
    _removed(tmp_path, with_others)
    os.replace(tmp_path / "other" / "m.keys", tmp_path / "m.keys")
    content = models.content("a")
    models.close()
    assert "m.2.keys; to go on with it" in models.moved
    with sqlite3.connect(tmp_path / "m.keys") as file:
        assert file.execute("SELECT key FROM models").fetchall() == [("b",)]
    file.close()
    os.replace(tmp_path / "m.2.keys", tmp_path / "m.keys")
    again = _opened(tmp_path)
    assert (again.keys(), again.content("a")) == (["a"], content)
    again.close()


def test_a_journal_removed_while_it_is_used_loses_nothing(tmp_path):
    models = _opened(tmp_path)
    _learn(models, range(5))
    shutil.rmtree(tmp_path / "journal")
    _learn(models, range(5, 8))
    content = models.content("a")
    _crash(models)
    models = _opened(tmp_path)
    assert models.content("a") == content
    models.close()


def test_a_lost_file_is_made_anew_only_if_the_journal_has_all(tmp_path):
    models = _opened(tmp_path)
    _learn(models, range(5))
    content = models.content("a")
    _crash(models)
    _removed(tmp_path, True)
    # with another template the same cuts would make another model
    with pytest.raises(JournalError, match="does not exist"):
        KeyedModels(tmp_path / "m.keys", _template(C=0.5),
                    Journal(tmp_path / "journal"), HOW)  # fmt: skip
    models = _opened(tmp_path)
    assert models.content("a") == content
    models.snapshot()
    _learn(models, range(5, 8))
    _crash(models)
    _removed(tmp_path, True)
    for _ in range(2):
        with pytest.raises(JournalError, match=r"does not exist.*restore the file"):
            _opened(tmp_path)
        assert not list(tmp_path.glob("m.keys*"))


def test_keyed_models_over_http(tmp_path):
    with serving(_opened(tmp_path, how={"acknowledge": True})) as (_, client):
        rows = [{"id": k, "a": float(k), "y": 2.0 * k} for k in range(20)]
        assert client.post("/models/one/learn", rows)[0] == 200
        assert client.post("/models/%2e%2e/learn", rows[:5])[0] == 200
        for path in ("..%2Fm.keys/learn", "a/b/learn", "a%2Fb/predict"):
            status, answer = client.post(f"/models/{path}", rows[:5])
            assert (status, "a key cannot hold '/'" in answer["error"]) == (404, True)
        status, answer = client.post("/models/a/b", rows[:5])
        assert (status, "is not here" in answer["error"]) == (404, True)
        assert client.post("/models/one/predict", {"a": 3.0})[1]["model_rows"] == 20
        assert client.post("/models/new/predict", {"a": 3.0})[1]["prediction"] is None
        assert client.get("/models/one/model")[1]["rows"] == 20
        assert client.post("/learn", rows)[0] == 404
        assert client.post("/models/" + "x" * 300 + "/learn", rows)[0] == 404
        assert "onkel_models 2.0" in client.raw("GET", "/metrics")[2].decode()
        tensors = [{"name": "a", "shape": [1], "datatype": "FP64", "data": [3.0]}]
        status, found = client.post("/v2/models/one/infer", {"inputs": tensors})
        assert (status, found["outputs"][0]["shape"]) == (200, [1])
    again = _opened(tmp_path, how={"acknowledge": True})
    assert len(again.keys()) == 2
    again.close()


def test_a_key_is_utf_8(tmp_path):
    models = _opened(tmp_path, how={"acknowledge": True})
    with serving(models) as (_, client):
        row = {"id": 1, "a": 1.0, "y": 2.0}
        tensors = {"inputs": [{"name": "a", "shape": [1], "datatype": "FP64", "data": [3.0]}]}
        for key in ("%ff", "%fe", "a%C3", "%ff%EF%BF%BD"):
            status, answer = client.post(f"/models/{key}/learn", row)
            assert (status, "not UTF-8" in answer["error"]) == (400, True)
            assert client.post(f"/v2/models/{key}/infer", tensors)[0] == 400
            assert client.get(f"/models/{key}/model")[0] == 400
        for key in ("%EF%BF%BD", "%C3%BC"):
            assert client.post(f"/models/{key}/learn", row)[0] == 200
        assert models.keys() == ["ü", "\ufffd"]


def test_each_key_has_its_columns(tmp_path):
    limits = Limits(columns=3)
    with serving(_opened(tmp_path, how={"acknowledge": True}), limits=limits) as (_, client):
        for key in range(5):
            path = f"/models/{key}/predict"
            names = [f"{key} {k}" for k in range(4)]
            for name in names[:3]:
                assert client.post(path, {"id": name, name: 1.0})[0] == 200
            assert client.post(path, {"id": "fourth", names[3]: 1.0})[0] == 422


def test_keys_know_the_target_of_their_template(tmp_path):
    settings = {**_SETTINGS, "target": "price"}
    model = onkel.StreamModel(onkel.make("pa", task="regression"), settings=settings)
    template = LiveModel(model, target="price", **HOW).to_bytes()
    for start, target in enumerate(["price", None]):
        models = KeyedModels(tmp_path / "m.keys", template, Journal(tmp_path / "journal"),
                             HOW | {"target": target})  # fmt: skip
        models.recover()
        assert models.names("new").target == models.names("Ulm").target == "price"
        for key in ("Ulm", "Bonn"):
            models.take([(key, [{"id": start, "a": 1.0, "price": 2.0}])])
            with models.reading(key) as live:
                assert list(live.model.encoder.kinds) == ["a"]
                assert live.model.n_rows == start + 1
        models.take([("waits", [{"id": start, "a": 1.0}])])
        models.close()


def test_counters_do_not_fall_when_models_leave_memory(tmp_path):
    models = _opened(tmp_path, max_models=1, how={"most": 5})
    found = []
    for k in range(60):
        key = f"key {k % 3}"
        models.take([(key, [{"id": k, "a": float(k)}])])
        # an alarm rings where errors grow
        rows = [{"id": (k, t), "a": 1.0, "y": (1e4 if k > 30 else 1.0) * (-1) ** t}
                for t in range(20)]  # fmt: skip
        models.take([(key, [row | {"id": str(row["id"])} for row in rows])])
        report = models.report()
        found.append([report[name] for name in ("rows", "labels", "forgotten", "rings")])
    for counts in zip(*found, strict=True):
        assert list(counts) == sorted(counts)
    total = [0, 0]
    for k in range(3):
        with models.reading(f"key {k}") as live:
            total[0] += live.late.n_forgotten
            total[1] += len(live.model.alarms_)
    assert total == found[-1][2:]
    assert min(total) > 0
    models.close()


def test_every_ring_is_counted_though_a_model_keeps_the_last_ones(tmp_path, monkeypatch):
    rings = property(lambda model: list(range(1, model.n_rows + 1))[-64:])
    monkeypatch.setattr(onkel.StreamModel, "alarms_", rings)
    models = _opened(tmp_path)
    for k in range(100):
        models.take([("one", [{"id": k, "a": 1.0, "y": 1.0}])])
    assert models.report()["rings"] == 100
    models.close()


def test_a_cut_that_breaks_off_is_taken_by_no_key(tmp_path, monkeypatch):
    models = _opened(tmp_path, max_models=3)
    whole = tmp_path / "whole"
    whole.mkdir()
    others = _opened(whole, max_models=3)
    for number, parts in enumerate(_parts(4), 1):
        if number == 5:
            models.snapshot()
        if number % 3 == 0:
            counts = dict(models.counts)
            with monkeypatch.context() as patch:
                patch.setattr(LiveModel, "take_all", _failing(LiveModel.take_all, len(parts)))
                with pytest.raises(MemoryError):
                    models.take(parts)
            assert models.counts == counts
            assert models.journal.last == number - 1
        assert models.take(parts) == others.take(parts)
    contents = _contents(models)
    assert contents == _contents(others)
    assert models.counts == others.counts
    models.journal.close()
    again = _opened(tmp_path)
    assert _contents(again) == contents
    again.close()
    others.close()


def _contents(models):
    names = models.keys()
    return {key: models.content(key) for key in names}


def _failing(take_all, at):
    """`LiveModel.take_all`, that takes the events of this key, by number, and then fails."""
    taken = []

    def take_all_and_fail(live, events):
        taken.append(list(take_all(live, events)))
        if len(taken) == at:
            raise MemoryError
        return taken[-1]

    return take_all_and_fail


def test_models_that_leave_know_of_no_cut_that_is_only_in_the_journal(tmp_path, monkeypatch):
    models = _opened(tmp_path, max_models=1)
    row = {"id": 1, "a": 1.0, "y": 2.0}
    models.take([("Ulm", [row])])
    monkeypatch.setattr(models._models, "_max_models", 0)
    with monkeypatch.context() as patch:
        # another thread reads while the cut is written, which fails
        def commit():
            with models.reading("Ulm"):
                pass
            raise JournalError("no room")

        patch.setattr(models.journal, "commit", commit)
        with pytest.raises(JournalError, match="no room"):
            models.take([("Bonn", [row])])
    models.journal.close()
    models._file.close()
    assert _opened(tmp_path).keys() == ["Ulm"]
