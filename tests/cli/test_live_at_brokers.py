"""``onkel live`` at a broker: what a person can get wrong is named; the rest is in tests/serve."""

from __future__ import annotations

import os
import sys

import pytest
from typer.testing import CliRunner

from onkel.cli import app
from onkel.cli.live.broker import settings_of

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


def test_settings_of_a_client(tmp_path):
    file = tmp_path / "client"
    file.write_text("# of the shop\npassword = a=b \nssl=true\n\n")
    assert settings_of(file) == {"password": "a=b", "ssl": True}
    file.write_text("password\n")
    with pytest.raises(ValueError, match="line 1"):
        settings_of(file)
