"""The service over HTTP: what requests get, and what the model has learned then."""

from __future__ import annotations

import json
import os
import random
import socket
import time

import numpy as np
import pyarrow as pa
import pytest
from tests.serve.serving import Client, serving
from tests.serve.stream import opened
from threadpoolctl import threadpool_limits

import onkel
from onkel.serve import LiveModel
from onkel.serve.http.bodies import ARROW, LINES, Limits
from onkel.serve.one_model import OneModel

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a journal needs the locks of POSIX")


def _models(folder, learner="pa", **how):
    model = opened(folder, learner, acknowledge=True, **how)
    list(model.recover())
    return OneModel(model)


@pytest.fixture
def served(tmp_path):
    with serving(_models(tmp_path)) as (service, client):
        yield service, client


def _rows(n, start=0):
    rng = np.random.default_rng(start)
    return [{"id": start + t, "a": a, "b": b, "y": a * b}
            for t, (a, b) in enumerate(rng.normal(size=(n, 2)).tolist())]  # fmt: skip


def test_a_row_waits_for_its_label(served):
    service, client = served
    assert client.post("/predict", {"id": 1, "a": 1.0}) == (
        200, {"id": 1, "prediction": None, "model_rows": 0},
    )  # fmt: skip
    for _ in range(2):  # the label may come again, and is learned once
        assert client.post("/label", {"id": 1, "y": 2.0}) == (200, {"id": 1, "learned": True})
    status, answer = client.post("/predict", {"a": 1.0})
    assert (status, answer["model_rows"]) == (200, 1)
    assert len(answer["interval"]) == 2
    assert service.models.durable.live.counts["doubled"] == 1


def test_each_verb_takes_one_row_many_lines_and_arrow(served):
    service, client = served
    one, *many = _rows(20)
    status, answer = client.post("/predict-then-learn", one)
    assert status == 200
    assert answer["id"] == 0
    status, answers = client.post("/learn", many)
    assert [a["model_rows"] for a in answers] == list(range(1, 20))
    lines = b"\n".join(json.dumps(row).encode() for row in _rows(5, 100))
    status, kind, content = client.raw("POST", "/predict-then-learn", lines, LINES)
    assert (status, kind) == (200, LINES)
    assert [json.loads(line)["id"] for line in content.splitlines()] == list(range(100, 105))
    rows = [{**row, "y": None} for row in _rows(5, 200)]
    status, kind, content = client.raw("POST", "/predict", _arrow(rows), ARROW)
    assert (status, kind) == (200, ARROW)
    table = pa.ipc.open_stream(content).read_all()
    assert table["id"].to_pylist() == list(range(200, 205))
    assert set(table.column_names) == {"id", "prediction", "low", "high", "model_rows"}
    labels = [{"id": row["id"], "y": 1.0} for row in rows]
    status, _, content = client.raw("POST", "/label", _arrow(labels), ARROW)
    assert pa.ipc.open_stream(content).read_all()["learned"].to_pylist() == [True] * 5
    assert service.models.durable.live.model.n_rows == 30


def _arrow(rows):
    table = pa.Table.from_pylist(rows)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()


@pytest.fixture
def one_blas_thread():
    """As `onkel serve` has it: the last digits do not depend on the thread that learns."""
    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.mark.parametrize("learner", ["pa", "okl"])
def test_answers_are_those_of_a_live_model(tmp_path, learner, one_blas_thread):
    models = _models(tmp_path, learner)
    task = models.durable.live.model.task
    rows = [{**row, "y": row["y"] if task == "regression" else f"c{row['y'] > 0}"}
            for row in _rows(40)]  # fmt: skip
    live = LiveModel.load(models.durable.path, **models.durable.live.options)
    expected = [live.take(row) for row in rows]
    with serving(models) as (_, client):
        assert [client.post("/predict-then-learn", row)[1] for row in rows] == expected
        # what is only predicted is predicted by itself, whatever comes with it
        plain = [{"a": row["a"], "b": row["b"]} for row in rows]
        together = client.post("/predict", plain)[1]
        alone = [client.post("/predict", row)[1] for row in plain]
        if task == "regression":
            found = [[answer["prediction"] for answer in own] for own in (together, alone)]
            assert found[0] == pytest.approx(found[1], rel=1e-5)
        else:
            assert together == alone
        again = [client.post("/predict-then-learn", row)[1] for row in rows]
        assert again == expected
    saved = LiveModel.load(models.durable.path, **models.durable.live.options)
    assert saved.model.to_bytes() == live.model.to_bytes()
    assert saved.counts["repeated"] == 40


def test_errors_name_column_value_and_remedy(served):
    _, client = served
    client.post("/learn", _rows(3))
    status, answer = client.post("/predict", {"a": "much", "b": 1.0})
    assert (status, answer["column"], answer["value"]) == (422, "a", "'much'")
    assert "na_values" in answer["error"]
    status, answer = client.post("/label", {"id": "nobody", "y": 1.0})
    assert (status, answer["error"]) == (404, "no row with this id waits")
    assert client.post("/learn", {"id": 50, "a": 1.0}) == (
        422, {"id": 50, "error": "the row has no label: give 'y'"},
    )  # fmt: skip
    status, answer = client.post("/learn", {"id": 51, "a": 1.0, "b": 1.0, "y": "much"})
    assert (status, answer["learned"]) == (422, False)
    # what looks like a label is none where a row is expected
    client.post("/predict", {"id": "waits", "a": 1.0, "b": 1.0})
    for verb in ("learn", "predict-then-learn", "predict"):
        status, answer = client.post(f"/{verb}", {"id": f"no {verb}", "y": 1.0})
        assert (status, "no columns" in answer["error"]) == (422, True)
    status, answers = client.post("/predict", [{"a": 1.0, "b": 2.0}, {"a": "x"}, 5])
    assert status == 200
    assert ["error" in answer for answer in answers] == [False, True, True]
    assert client.get("/nothing")[0] == 404
    assert client.get("/predict")[0] == 405


def test_the_model_and_its_numbers(served):
    service, client = served
    client.post("/learn", _rows(50))
    client.post("/predict", {"id": "x", "a": 1.0, "b": 1.0})
    about = client.get("/model")[1]
    assert [column["name"] for column in about["columns"]] == ["a", "b"]
    assert (about["rows"], about["waiting"], about["task"]) == (50, 1, "regression")
    assert about["score"].keys() == {"rmse", "mae", "coverage", "width"}
    assert client.get("/health")[0] == client.get("/ready")[0] == 200
    service.ready = False
    assert client.get("/ready")[0] == 503
    text = client.raw("GET", "/metrics")[2].decode()
    for line in ("onkel_labels_total 50.0", "onkel_waiting 1.0", "onkel_model_rows 50.0",
                 'onkel_score{metric="coverage"}', "onkel_skill ", "onkel_lag_seconds ",
                 "onkel_forgotten_total 0.0", "onkel_rings_total ",
                 'onkel_request_seconds_count{endpoint="/learn"} 1.0'):  # fmt: skip
        assert line in text
    document = client.get("/openapi.json")[1]
    assert {"/predict", "/learn", "/label", "/predict-then-learn", "/model"} <= document[
        "paths"
    ].keys()


def test_a_snapshot_is_a_model_file(served):
    service, client = served
    client.post("/learn", _rows(5))
    assert client.post("/snapshot") == (200, {"saved": True})
    assert onkel.load(service.models.durable.path).n_rows == 5
    assert service.models.durable.journal.is_empty


def test_what_another_process_saved_meanwhile_stays_and_is_told_once(served):
    service, client = served
    path = service.models.durable.path
    client.post("/learn", _rows(5))
    path.write_bytes(b"theirs")
    for n in (5, 6):
        assert client.post("/snapshot") == (200, {"saved": True})
        assert onkel.load(path.with_name("m.2.onkel")).n_rows == n
        client.post("/learn", _rows(1, start=10))
    service.stop()
    assert path.read_bytes() == b"theirs"
    assert len(service.said) == 1
    assert f"{path} was written by another process" in service.said.pop()


def test_kserve_and_mlflow_predict_and_learn_nothing(served):
    service, client = served
    client.post("/learn", _rows(20))
    rows = [{"a": 1.0, "b": 2.0}, {"a": -1.0, "b": 0.5}]
    expected = [client.post("/predict", row)[1]["prediction"] for row in rows]
    tensors = [{"name": name, "shape": [2, 1], "datatype": "FP64", "data": [r[name] for r in rows]}
               for name in ("a", "b")]  # fmt: skip
    status, found = client.post("/v2/models/m/infer", {"id": "q", "inputs": tensors})
    assert (status, found["id"], found["model_name"]) == (200, "q", "m")
    assert found["outputs"][0] == {
        "name": "prediction", "shape": [2], "datatype": "FP64", "data": expected,
    }  # fmt: skip
    assert client.get("/v2/models/m")[1]["inputs"][0]["name"] == "a"
    assert client.get("/v2/models/m/ready")[0] == client.get("/v2/health/live")[0] == 200
    assert client.get("/v2/models/other")[0] == 404
    tensors[0]["shape"] = [3]
    assert client.post("/v2/models/m/infer", {"inputs": tensors})[0] == 400
    tensors = [{"name": "a", "shape": [2], "datatype": "BYTES", "data": ["1", "much"]}]
    status, found = client.post("/v2/models/m/infer", {"inputs": tensors})
    assert (status, found["error"][:23]) == (422, "row 1 (counted from 0):")
    split = {"columns": ["a", "b"], "data": [[1.0, 2.0], [-1.0, 0.5]], "index": [0, 1]}
    forms = [{"dataframe_split": split}, {"dataframe_records": rows}, {"instances": rows},
             {"inputs": {"a": [1.0, -1.0], "b": [2.0, 0.5]}}]  # fmt: skip
    for form in forms:
        assert client.post("/invocations", form) == (200, {"predictions": expected})
    content = client.raw("POST", "/invocations", b"a,b\n1,2\n-1,0.5\n", "text/csv")[2]
    assert json.loads(content)["predictions"] == expected
    assert service.models.durable.live.model.n_rows == 20
    assert service.models.durable.live.late.n_waiting == 0


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_a_body_must_say_its_content_type(served, kind):
    """A page of another site can send these without asking."""
    _, client = served
    client.post("/learn", _rows(5))
    tensor = {"name": "a", "shape": [1], "datatype": "FP64", "data": [1.0]}
    bodies = {
        "/invocations": {"instances": [{"a": 1.0}]}, "/v2/models/m/infer": {"inputs": [tensor]},
        "/predict": {"a": 1.0}, "/snapshot": {"a": 1.0},
    }  # fmt: skip
    for path, body in bodies.items():
        content = json.dumps(body).encode()
        status, _, answer = client.raw("POST", path, content, kind)
        assert (status, b"is not read; send application/json" in answer) == (415, True)
        for right in ("application/json; charset=utf-8", "application/vnd.x+json"):
            assert client.raw("POST", path, content, right)[0] == 200
    assert client.raw("POST", "/invocations", b"a,b\n1,2\n", "text/csv; header=present")[0] == 200
    assert client.raw("POST", "/snapshot", b"", kind)[0] == 200


@pytest.mark.parametrize("labels", [[0, 1], [1.0, 2.0], [True, False], ["a", "b"]])
def test_kserve_is_told_the_type_of_classes(tmp_path, labels):
    with serving(_models(tmp_path, "okl")) as (_, client):
        tensor = {"name": "a", "shape": [1], "datatype": "FP64", "data": [1.0]}
        for label in (None, *labels):
            if label is not None:
                client.post("/learn", {"a": 1.0, "y": label})
            found = client.post("/v2/models/m/infer", {"inputs": [tensor]})[1]["outputs"][0]
            about = client.get("/v2/models/m")[1]["outputs"][0]
            assert about["datatype"] == found["datatype"]


def test_the_token_is_asked_for(tmp_path):
    with serving(_models(tmp_path), token="secret") as (service, client):
        assert client.get("/model")[0] == 200
        for token in (None, "wrong", "secret "):
            other = Client(service.port, token)
            status, answer = other.get("/model")
            assert status == 401
            assert "Bearer" in answer["error"]
            assert other.post("/learn", _rows(1))[0] == 401
            assert other.get("/health")[0] == 200
            other.close()
    assert service.models.durable.live.model.n_rows == 0


def test_limits(tmp_path):
    limits = Limits(body=5_000, rows=10, columns=4, seconds=0.5)
    with serving(_models(tmp_path), limits=limits) as (service, client):
        assert client.post("/learn", _rows(11))[0] == 413
        status, _, content = client.raw("POST", "/learn", b"[" + b" " * 6000 + b"]")
        assert (status, "--max-body" in content.decode()) == (413, True)
        client.close()
        lines = b'{"a":1}\n' * 11
        assert client.raw("POST", "/predict", lines, LINES)[0] == 413
        assert client.post("/learn", _rows(10))[0] == 200
        # a model grows no wider than that, however few columns each row has
        for k, status in enumerate([200, 200, 422, 422]):
            assert client.post("/predict", {"id": f"x{k}", "a": 1.0, f"new {k}": 1.0})[0] == status
        slow = socket.create_connection(("127.0.0.1", service.port))
        slow.sendall(b"POST /learn HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
                     b"content-length: 100\r\n\r\n{")  # fmt: skip
        began = time.monotonic()
        assert b" 408 " in slow.recv(1000)
        assert time.monotonic() - began < 20
        slow.close()


def test_only_rows_that_are_kept_use_columns(tmp_path):
    limits = Limits(columns=4)
    with serving(_models(tmp_path), limits=limits) as (service, client):
        assert client.post("/learn", _rows(10))[0] == 200
        row = {"a": 1.0, "b": 1.0}
        for k in range(10):
            # no id; a value that is none; an id that stands for another row
            assert client.post("/predict", {**row, f"free {k}": 1.0})[0] == 200
            assert client.post("/predict", {"id": "x", **row, f"bad {k}": [1.0]})[0] == 422
            assert client.post("/predict", {"id": 3, "a": 1.0, f"other {k}": 1.0})[0] == 422
        assert service.models.durable.live.offered == {}
        # several rows may bring a column, of which some are refused
        for more in ({"id": "one", "new": 1.0}, {"id": "one", "new": 2.0}, {"id": "two", "new": 1}):
            client.post("/predict", {**row, **more})
        assert client.post("/learn", {"id": "three", "a": 1.0, "last": 1.0, "y": 1.0})[0] == 200
        for verb in ("predict", "learn"):
            status, answer = client.post(f"/{verb}", {"id": verb, "a": 1.0, "fifth": 1.0, "y": 1.0})
            assert (status, "--max-columns" in answer["error"]) == (422, True)
        assert client.post("/label", {"id": "two", "y": 1.0})[0] == 200
        assert [own["name"] for own in client.get("/model")[1]["columns"]] == [
            "a", "b", "last", "new",
        ]  # fmt: skip


@pytest.mark.parametrize("depth", [101, 500, 900, 930, 960, 990])
def test_a_row_that_is_nested_deeply_is_refused_alone(served, depth):
    _, client = served
    deep = "[" * depth + "1" + "]" * depth
    rows = [f'{{"id":1,"a":{deep},"y":1}}', f'{{"id":{deep},"a":1,"y":1}}',
            f'{{"id":2,"a":1,"y":{deep}}}', deep, '{"id":3,"a":1,"y":1}']  # fmt: skip
    for verb in ("learn", "predict", "predict-then-learn"):
        rows[-1] = f'{{"id":"{verb}","a":1,"y":1}}'
        status, _, content = client.raw("POST", f"/{verb}", f"[{','.join(rows)}]")
        if depth < 900:
            assert status == 200
            errors = ["error" in answer for answer in json.loads(content)]
            # a label is none of a row to predict
            assert errors == [True, True, True, True, False]
        assert status < 500
        for row in rows:
            assert client.raw("POST", f"/{verb}", row)[0] < 500
    tensor = f'{{"name":"a","data":[1],"shape":{deep},"datatype":{deep}}}'
    assert client.raw("POST", "/v2/models/m/infer", f'{{"inputs":[{tensor}]}}')[0] == 400
    tensor = f'{{"name":"a","data":[1],"shape":[1],"datatype":{deep}}}'
    assert client.raw("POST", "/v2/models/m/infer", f'{{"inputs":[{tensor}]}}')[0] == 400


def test_a_waiting_journal_that_fails_is_503_and_nothing_is_learned(served, monkeypatch):
    service, client = served
    client.post("/learn", _rows(5))
    journal = service.models.durable.journal
    real = journal.__class__.commit

    def fails(self):
        self._broken = "the disk is gone"
        try:
            real(self)
        finally:
            self._broken = None

    with monkeypatch.context() as patch:
        patch.setattr(journal.__class__, "commit", fails)
        status, answer = client.post("/learn", _rows(5, 10))
        assert (status, "disk is gone" in answer["error"]) == (503, True)
        assert client.post("/predict", {"a": 1.0})[0] == 200
    assert service.models.durable.live.model.n_rows == 5
    assert client.post("/learn", _rows(5, 10))[0] == 200
    assert service.models.durable.live.model.n_rows == 10


def test_slow_and_idle_clients_do_not_stop_others(served):
    service, client = served
    idle = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(200)]
    for k, own in enumerate(idle):
        own.sendall(b"POST /learn HTTP/1.1\r\nhost: x\r\ncontent-le"[: k % 45])
    assert client.post("/learn", _rows(20))[0] == 200
    assert client.post("/predict", {"a": 1.0})[0] == 200
    for own in idle:
        own.close()


def _malformed(rng):
    """A request with something wrong: method, path, content type and body."""
    good = json.dumps({"id": 1, "a": 1.0, "y": 2.0}).encode()
    body = bytearray(good)
    kind = rng.choice(["application/json"] * 3 + [LINES, ARROW, "text/html", "", "x/y; q"])
    chance = rng.randrange(12)
    if chance < 4:
        for _ in range(rng.randrange(1, 6)):
            body[rng.randrange(len(body))] = rng.choice(b'"{}[]:,\x00\xff\\19eE.-')
    elif chance < 6:
        body = body[: rng.randrange(len(body))]
    else:
        body = rng.choice([
            b"[" * 50_000, b'{"a":' * 20_000, b"[]", b"null", b"7", b'"text"', b"[null, 1, []]",
            b'{"id":{"x":1},"a":1,"y":2}', b'{"id":1,"a":{"b":[1]},"y":[1]}', b'{"":1}',
            b'{"id":2,"a":1e999,"y":1}', b'{"a":NaN}', b'{"id":true,"y":null}', b"\xff\xfe\x00",
            b'{"id":"' + b"x" * 5000 + b'","y":1}', b'{"a":"\\ud800","y":1}', rng.randbytes(99),
            b'{"id":3,"a":' + b"9" * 6000 + b',"y":1}', _arrow([{"a": 1.0}])[: rng.randrange(300)],
            b'{"inputs":[{"name":"a","shape":"x","data":3}]}', b'{"dataframe_split":{"columns":3}}',
        ])  # fmt: skip
    path = rng.choice(["/predict", "/learn", "/label", "/predict-then-learn", "/invocations",
                       "/v2/models/m/infer", "/models/%2e%2e%2fetc/predict", "/../../etc/passwd",
                       "/predict/", "/v2/models/../x"])  # fmt: skip
    return rng.choice(["POST"] * 8 + ["PUT", "GET", "DELETE"]), path, bytes(body), kind


def play_malformed(port, n, seed=0):
    """Send requests of which most are malformed; the statuses, and what a client must not see."""
    rng, statuses, bad = random.Random(seed), {}, []
    client = Client(port)
    for _ in range(n):
        request = _malformed(rng)
        status, kind, content = client.raw(*request)
        statuses[status] = statuses.get(status, 0) + 1
        try:
            if kind == ARROW:
                found = pa.ipc.open_stream(content).read_all().to_pylist()
            else:
                found = json.loads(content)
            found = found if isinstance(found, list) else [found]
            refused = status < 400 or all(own.get("error") for own in found)
        except ValueError:
            refused = status == 200
        if not refused or status >= 500 or b"Traceback" in content:
            bad.append((request, status, content))
    client.close()
    return statuses, bad


def test_malformed_requests_are_told_why(served):
    service, client = served
    client.post("/learn", _rows(20))
    statuses, bad = play_malformed(service.port, 600)
    assert bad == []
    assert sum(n for status, n in statuses.items() if status >= 400) > 300
    assert client.post("/learn", _rows(5, 1000))[0] == 200
