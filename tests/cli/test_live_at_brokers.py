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


def test_settings_of_a_client(tmp_path):
    file = tmp_path / "client"
    file.write_text("# of the shop\npassword = a=b \nssl=true\n\n")
    assert settings_of(file) == {"password": "a=b", "ssl": True}
    file.write_text("password\n")
    with pytest.raises(ValueError, match="line 1"):
        settings_of(file)
