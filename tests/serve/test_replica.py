"""A service that follows the file of another: it predicts with the newest save."""

from __future__ import annotations

import json
import os
import threading
import time

import pytest
from tests.serve.serving import Client, serving

import onkel
from onkel.errors import ModelFileError
from onkel.serve import LiveModel
from onkel.serve.http.bodies import LINES
from onkel.serve.replica import Replica

ROW = {"a": 0.5, "b": -1.0}


def _learned(n=20, **how):
    live = LiveModel(onkel.StreamModel(onkel.make("pa", task="regression")), **how)
    _learn(live, n)
    return live


def _learn(live, n):
    first = live.model.n_rows
    for t in range(first, first + n):
        live.take({"id": t, "a": t % 5 - 2.0, "b": t % 3 - 1.0, "y": float(t % 7)})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.onkel"


def test_it_predicts_and_refuses_to_learn(path):
    live = _learned(level=0.9)
    live.save(path)
    before = path.read_bytes()
    expected = live.model.predict([ROW])[0]
    with serving(Replica(path, {"level": 0.9, "acknowledge": True})) as (_, client):
        status, answer = client.post("/predict", ROW)
        assert (status, answer["prediction"], answer["model_rows"]) == (200, expected, 20)
        assert len(answer["interval"]) == 2
        # an id is answered again, and nothing waits for its label
        status, answers = client.post("/predict", [ROW | {"id": 7}, ROW, ROW | {"id": "x"}])
        assert [answer["id"] for answer in answers] == [7, None, "x"]
        assert {answer["prediction"] for answer in answers} == {expected}
        assert client.get("/model")[1]["waiting"] == 0
        for verb in ("learn", "label", "predict-then-learn", "snapshot"):
            status, answer = client.post(f"/{verb}", ROW | {"id": 7, "y": 1.0})
            assert status == 405
            assert f"send /{verb} there" in answer["error"]
        assert client.raw("POST", "/learn", b"{}", LINES)[0] == 405
        paths = client.get("/openapi.json")[1]["paths"]
        assert "/predict" in paths
        assert not {"/learn", "/label", "/predict-then-learn", "/snapshot"} & paths.keys()
    assert path.read_bytes() == before


def test_it_says_how_old_its_model_is(path):
    _learned().save(path)
    os.utime(path, (time.time() - 100, time.time() - 100))
    with serving(Replica(path, {})) as (_, client):
        status, ready = client.get("/ready")
        assert (status, ready["ready"], ready["model_rows"]) == (200, True, 20)
        assert 100 <= ready["snapshot_age_seconds"] < 160
        text = client.raw("GET", "/metrics", kind=None)[2].decode()
        ages = [line for line in text.splitlines() if line.startswith("onkel_snapshot_age_seconds")]
        assert 100 <= float(ages[0].split()[1]) < 160
        assert "onkel_snapshots_loaded_total 1.0" in text


def test_a_file_is_replaced_while_requests_come(path):
    live, ends = _learned(), threading.Event()
    expected = {20: live.model.predict([ROW])[0]}
    live.save(path)
    with serving(Replica(path, {})) as (service, client):
        found = [[] for _ in range(3)]

        def ask(own):
            other = Client(service.port)
            while not ends.is_set():
                own += [other.post("/predict", [ROW, ROW])]
            other.close()

        threads = [threading.Thread(target=ask, args=(own,)) for own in found]
        for thread in threads:
            thread.start()
        for _ in range(12):
            _learn(live, 5)
            expected[live.model.n_rows] = live.model.predict([ROW])[0]
            live.save(path)
            service.models.tend()
        # the service looks by itself, too
        _learn(live, 5)
        expected[live.model.n_rows] = live.model.predict([ROW])[0]
        live.save(path)
        until = time.monotonic() + 30
        while client.post("/predict", ROW)[1]["model_rows"] < live.model.n_rows:
            assert time.monotonic() < until
        ends.set()
        for thread in threads:
            thread.join()
    for own in found:
        assert all(status == 200 for status, _ in own)
        pairs = [answers for _, answers in own]
        # a request is answered by one model, which is the one of a save, and never an older one
        assert all(first == second for first, second in pairs)
        # requests that wait are one block, which rounds otherwise
        for first, _ in pairs:
            assert first["prediction"] == pytest.approx(expected[first["model_rows"]], rel=1e-6)
        rows = [first["model_rows"] for first, _ in pairs]
        assert rows == sorted(rows)
        assert len(set(rows)) > 2


def test_a_file_that_cannot_be_read_changes_nothing(path):
    live = _learned()
    live.save(path)
    replica, good = Replica(path, {}), path.read_bytes()
    for content in (b"", good[:1000], good[:-1] + b"x", None):
        path.unlink()
        if content is not None:
            path.write_bytes(content)
        for _ in range(2):  # it is tried again
            with pytest.raises(ModelFileError, match=str(path)):
                replica.tend()
        assert replica.report()["model_rows"] == 20
    other = LiveModel(onkel.StreamModel(onkel.make("pa", task="classification")))
    other.take({"id": 1, "a": 1.0, "b": 1.0, "y": "yes"})
    other.save(path)
    with pytest.raises(ModelFileError, match="a model of classification now"):
        replica.tend()
    _learn(live, 1)
    live.save(path)
    replica.tend()
    assert replica.report()["model_rows"] == 21
    assert replica.age()["snapshots_loaded"] == 2


def test_what_is_no_file_of_a_model_is_refused(path):
    with pytest.raises(ModelFileError, match="cannot be read"):
        Replica(path, {})
    path.write_text(json.dumps({"no": "model"}))
    with pytest.raises(ModelFileError, match=str(path)):
        Replica(path, {})
