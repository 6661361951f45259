"""``onkel live`` at a broker: what a person can get wrong is named; the rest is in tests/serve."""

from __future__ import annotations

import json
import os
import signal
import sys

import pytest
from typer.testing import CliRunner

import onkel
from onkel.cli import app
from onkel.cli.live import broker
from onkel.cli.live.broker import settings_of
from onkel.cli.live.options import LiveOptions
from onkel.serve.brokers.door import Message

pytestmark = pytest.mark.skipif(os.name != "posix", reason="onkel live needs POSIX")


def _error(tmp_path, *words):
    found = CliRunner().invoke(app, ["live", str(tmp_path / "m.onkel"), *words])
    assert found.exit_code == 2
    assert not list(tmp_path.iterdir())
    return " ".join(found.output.split())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["redis://127.0.0.1:9/rows"], "--out must name the topic of the answers"),
        (["redis://127.0.0.1:9", "--out", "a"], "a topic is expected, such as kafka://"),
        (["redis://127.0.0.1:9/rows", "--out", "a"], "redis://127.0.0.1:9/rows: no Redis answers"),
        (["redis://127.0.0.1:9/rows", "--out", "rows"], "need topics of their own"),
        (["-", "--labels", "b"], "--labels is for a broker"),
        (["kafka://127.0.0.1:9/rows", "--out", "a", "--format", "csv"], "of a broker are JSON"),
        (["kafka://127.0.0.1:9/rows", "--out", "a", "--sep", ";"], "of a broker are JSON"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, words, why):
    assert why in _error(tmp_path, *words, "--task", "regression")


@pytest.mark.parametrize(
    ("scheme", "package"),
    [("kafka", "confluent_kafka"), ("redis", "redis"), ("nats", "nats")],
)
def test_a_package_that_is_not_installed_is_named(tmp_path, monkeypatch, scheme, package):
    monkeypatch.delitem(sys.modules, f"onkel.serve.brokers.{scheme}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    said = _error(tmp_path, f"{scheme}://127.0.0.1:9/rows", "--out", "a", "--task", "regression")
    assert f"pip install 'onkel[{scheme}]'" in said


class _Door:
    """A broker with five rows; before the third another process writes the model's file."""

    name = "redis://host/rows"

    def __init__(self, path):
        self._path, self._at, self.answers = path, 0, []

    def rows(self, most, seconds):
        self._at += 1
        if self._at == 3:
            self._path.write_bytes(b"theirs")
        if self._at > 5:
            os.kill(os.getpid(), signal.SIGTERM)
            return []
        row = {"id": self._at, "a": 1.0, "y": 2.0}
        return [Message("rows", self._at, self._at, json.dumps(row).encode())]

    def begin(self, read, began):
        pass

    def settle(self, seconds):
        pass

    def end(self):
        return len(self.answers)

    def send(self, answers):
        self.answers += answers

    def close(self):
        pass


def test_what_another_process_saved_meanwhile_stays(tmp_path, monkeypatch, capsys):
    path = tmp_path / "m.onkel"
    door = _Door(path)
    monkeypatch.setattr(broker, "_door", lambda *args: door)
    options = LiveOptions(model=path, source=door.name, out="out", task="regression",
                          algorithm="pa", save_every=1, metrics_every=0)  # fmt: skip
    assert broker.run(options) == 1
    assert len(door.answers) == 5
    assert path.read_bytes() == b"theirs"
    assert onkel.load(tmp_path / "m.2.onkel").n_rows == 5
    said = capsys.readouterr().err
    assert said.count(f"error: {path} was written by another process") == 1
    assert f"is in {tmp_path / 'm.2.onkel'}, and goes on with --journal {path}.journal" in said


class _Broker:
    """Ten rows; ``happens`` at the fifth, then the broker goes away, with or without an answer."""

    def __init__(self, happens):
        self.answers, self.doors, self.happen = [], 0, happens

    def open(self, *args):
        self.doors += 1
        return _DoorOf(self, first=self.doors == 1)


class _DoorOf(_Door):
    def __init__(self, broker, first):
        self._broker, self._first, self._at = broker, first, 0
        self.answers = broker.answers

    def begin(self, read, began):
        self._at = read.get("rows", 0)

    def rows(self, most, seconds):
        if self._at == 10:
            os.kill(os.getpid(), signal.SIGTERM)
            return []
        self._at += 1
        if self._first and self._at == 5:
            self._broker.happen()
        row = {"id": self._at, "a": float(self._at % 3), "y": 2.0}
        return [Message("rows", self._at, self._at, json.dumps(row).encode())]

    def send(self, answers):
        if self._first and self._at > 6:
            raise ConnectionError("redis://host/rows: no Redis answers")
        super().send(answers)

    def sent(self, after):
        return {answer.source for answer in self.answers[after:]}


@pytest.mark.parametrize("save_every", [1, 2, 100])
@pytest.mark.parametrize("what", ["written", "removed", "renamed", "untouched"])
def test_a_broker_that_comes_back_finds_the_model_wherever_its_file_is(
    what, save_every, tmp_path, monkeypatch, capsys
):
    path, aside = tmp_path / "m.onkel", tmp_path / "aside.onkel"
    happens = {
        "written": lambda: path.write_bytes(b"theirs"),
        "removed": path.unlink,
        "renamed": lambda: path.rename(aside),
        "untouched": lambda: None,
    }[what]
    redis = _Broker(happens)
    monkeypatch.setattr(broker, "_door", redis.open)
    monkeypatch.setattr(broker, "_RETRY", 0.0)
    options = LiveOptions(model=path, source=_Door.name, out="out", task="regression",
                          algorithm="pa", save_every=save_every, metrics_every=0)  # fmt: skip
    moved = what == "written"
    assert broker.run(options) == (1 if moved else 128 + signal.SIGTERM)
    assert redis.doors == 2
    said = [json.loads(answer.payload) for answer in redis.answers]
    assert [(own["id"], own["model_rows"]) for own in said] == [(k, k - 1) for k in range(1, 11)]
    last = tmp_path / "m.2.onkel" if moved else path
    assert onkel.load(last).n_rows == 10
    assert not moved or path.read_bytes() == b"theirs"
    assert not aside.exists() or what == "renamed"
    said = capsys.readouterr().err
    assert said.count("nothing is lost, trying again") == 1
    assert said.count("was written by another process") == moved


def _unreachable(*args):
    os.kill(os.getpid(), signal.SIGTERM)
    raise ConnectionError("redis://host/rows: no Redis answers")


def _made_anew(*args):
    raise ValueError("redis://host/rows: was made anew")


class _Gone(_DoorOf):
    """A door whose broker goes away when a signal comes."""

    is_gone = False

    def rows(self, most, seconds):
        if self._first and self._at == 7:
            os.kill(os.getpid(), signal.SIGTERM)
            self.is_gone = True
            return []
        return super().rows(most, seconds)

    def send(self, answers):
        if not self.is_gone:
            _Door.send(self, answers)

    def settle(self, seconds):
        if self.is_gone:
            raise ConnectionError("redis://host/rows: no Redis answers")


@pytest.mark.parametrize("save_every", [1, 2, 3, 100])
@pytest.mark.parametrize("what", ["written", "removed", "untouched"])
@pytest.mark.parametrize("ends", ["away", "refused", "at the signal"])
def test_a_run_that_ends_while_the_broker_is_away_loses_nothing(
    ends, what, save_every, tmp_path, monkeypatch, capsys
):
    path = tmp_path / "m.onkel"
    happens = {
        "written": lambda: path.write_bytes(b"theirs"),
        "removed": path.unlink,
        "untouched": lambda: None,
    }[what]
    redis = _Broker(happens)
    second = {"away": _unreachable, "refused": _made_anew}.get(ends)

    def door(*args):
        redis.doors += 1
        if redis.doors == 2 and second is not None:
            return second()
        kind = _Gone if ends == "at the signal" else _DoorOf
        return kind(redis, first=redis.doors == 1)

    monkeypatch.setattr(broker, "_door", door)
    monkeypatch.setattr(broker, "_RETRY", 0.0)
    how = {"source": _Door.name, "out": "out", "algorithm": "pa", "metrics_every": 0,
           "save_every": save_every, "journal": tmp_path / "journal"}  # fmt: skip
    first = LiveOptions(model=path, task="regression", **how)
    if ends == "refused":
        with pytest.raises(ValueError, match="was made anew"):
            broker.run(first)
    else:
        assert broker.run(first) == 1
    moved = what == "written"
    assert not moved or path.read_bytes() == b"theirs"
    said = capsys.readouterr().err
    assert said.count("was written by another process") == moved
    assert ends == "refused" or said.count("the next start sends what is missing") == 1
    last = tmp_path / "m.2.onkel" if moved else path
    assert onkel.load(last).n_rows >= 6
    for _ in range(2):
        assert broker.run(LiveOptions(model=last, **how)) == 128 + signal.SIGTERM
        assert onkel.load(last).n_rows == 10
        said = [json.loads(answer.payload) for answer in redis.answers]
        found = [(own["id"], own["model_rows"]) for own in said]
        assert found == [(k, k - 1) for k in range(1, 11)]


def test_settings_of_a_client(tmp_path):
    file = tmp_path / "client"
    file.write_text("# of the shop\npassword = a=b \nssl=true\n\n")
    assert settings_of(file) == {"password": "a=b", "ssl": True}
    file.write_text("password\n")
    with pytest.raises(ValueError, match="line 1"):
        settings_of(file)
