"""``onkel serve`` as a process: the commands of its page, its end, and what it refuses."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

import onkel
from onkel.cli import app

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "service.md"
ONKEL = [sys.executable, "-m", "onkel"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="locks as POSIX has them"),
]


def _free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _get(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as answer:
        return answer.read()


def _wait(port, process):
    while True:
        assert process.poll() is None
        try:
            return _get(port, "/health")
        except OSError:
            time.sleep(0.1)


@pytest.mark.skipif(shutil.which("curl") is None, reason="the page's commands need curl")
def test_the_five_commands_of_the_page(tmp_path):
    block = re.search(r"```sh\n(pip install.*?)```", PAGE.read_text("utf-8"), re.DOTALL).group(1)
    install, learn, serve, predict, label = block.strip().splitlines()
    assert install.startswith("pip install '.[serve]'")
    towns = {"Ulm": 4, "Bonn": 3, "Köln": 5}
    rows = [f"{40 + t % 90},{1 + t % 5},{town},{(40 + t % 90) * towns[town]}"
            for t in range(300) for town in [list(towns)[t % 3]]]  # fmt: skip
    (tmp_path / "homes.csv").write_text("size,rooms,town,price\n" + "\n".join(rows), "utf-8")
    port = _free_port()

    def command(line):
        line = line.removesuffix(" &").replace("localhost:8000", f"127.0.0.1:{port}")
        return line.replace("onkel ", f"{sys.executable} -m onkel ", 1)

    subprocess.run(command(learn), shell=True, cwd=tmp_path, check=True, capture_output=True)
    process = subprocess.Popen(
        f"exec {command(serve)} --port {port}", shell=True, cwd=tmp_path, stderr=subprocess.PIPE
    )
    try:
        _wait(port, process)
        found = [json.loads(subprocess.run(command(line), shell=True, check=True,
                                           capture_output=True).stdout)
                 for line in (predict, label)]  # fmt: skip
        assert found[0]["model_rows"] == 300
        low, high = found[0]["interval"]
        assert low <= 328 <= high
        assert found[1] == {"id": "offer 1", "learned": True}
        assert b"<!doctype html>" in _get(port, "/")
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.stderr.close()
        process.wait()
    assert onkel.load(tmp_path / "homes.onkel").n_rows == 301


def test_a_token_is_needed_and_a_port_that_is_taken_is_told(tmp_path):
    (tmp_path / "token").write_text("secret\n")
    port = _free_port()
    command = [*ONKEL, "serve", "m.onkel", "--task", "regression", "-a", "pa", "--port", str(port)]
    with subprocess.Popen([*command, "--token-file", "token"], cwd=tmp_path,
                          stderr=subprocess.PIPE) as process:  # fmt: skip
        try:
            _wait(port, process)
            with pytest.raises(OSError, match="401"):
                _get(port, "/model")
            # another model at the same port; and the same model
            for name, why in (("n.onkel", b"cannot listen there"),
                              ("m.onkel", b"another process learns this model")):  # fmt: skip
                other = [name if word == "m.onkel" else word for word in command]
                if name == "m.onkel":
                    other[-1] = "0"
                ended = subprocess.run(other, cwd=tmp_path, capture_output=True)
                assert ended.returncode != 0
                assert why in ended.stderr
                assert b"Traceback" not in ended.stderr
        finally:
            process.send_signal(signal.SIGTERM)


def test_a_service_follows_the_file_of_another(tmp_path):
    path, port = tmp_path / "m.onkel", _free_port()
    model = onkel.StreamModel(onkel.make("pa", task="regression"))
    model.learn_one({"a": 1.0}, 2.0)
    model.save(path)
    command = [*ONKEL, "serve", str(path), "--follow", "--port", str(port)]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) as process:
        try:
            _wait(port, process)
            assert json.loads(_get(port, "/model"))["rows"] == 1
            model.learn_one({"a": 2.0}, 3.0)
            model.save(path)
            until = time.monotonic() + 60
            while json.loads(_get(port, "/model"))["rows"] < 2:
                assert time.monotonic() < until
                time.sleep(0.05)
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()
    assert [own.name for own in tmp_path.iterdir()] == ["m.onkel"]
    assert path.read_bytes() == model.to_bytes()


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--token-file", "none"], "cannot be read"),
        ([], "a new model needs --task"),
        (["--keyed"], "a new model needs --task"),
        (["--follow"], "cannot be read"),
        (["--follow", "--keyed"], "a service that follows a file has none"),
    ],
)
def test_what_is_refused(tmp_path, more, why, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["serve", "m.onkel", *more])
    assert result.exit_code == 2
    assert why in result.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", ["live", "serve", "serve --keyed"])
@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--task", "classification"], "--task classification"),
        (["--algorithm", "okl"], "--algorithm okl"),
        (["--scaling", "minmax"], "--scaling minmax"),
        (["--seed", "3"], "--seed 3"),
        (["--missing", "zero"], "--missing zero"),
        (["--set", "gamma=0.25"], "--set gamma 0.25"),
        (["--features", "50"], "--set n_components 50"),
    ],
)
def test_a_saved_model_has_the_options_that_it_was_made_with(tmp_path, how, more, why):
    made = ["--task", "regression", "--algorithm", "fogd", "--set", "gamma=0.5", "--seed", "2"]
    file = tmp_path / "m.onkel"
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"id": i, "x": i, "y": 2.0 * i}) + "\n" for i in range(5)))
    run = CliRunner().invoke(app, ["live", str(file), str(rows), *made])
    assert run.exit_code == 0, run.output
    # a restart may repeat them
    run = CliRunner().invoke(app, ["live", str(file), str(rows), *made])
    assert run.exit_code == 0, run.output
    before = file.read_bytes()
    verb, *kind = how.split()
    source = [str(rows)] if verb == "live" else []
    result = CliRunner().invoke(app, [verb, str(file), *source, *kind, *more])
    assert result.exit_code == 2, result.output
    said = " ".join(result.output.split())
    assert f"{why}: {file} has" in said.replace("│ ", "").replace(" │", "")
    assert file.read_bytes() == before
