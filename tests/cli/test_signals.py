"""Killed, stopped and interrupted runs lose nothing that should be kept."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest
from typer.testing import CliRunner

import onkel
from onkel.cli import app, signals
from onkel.cli.signals import Interrupted, Interrupts
from onkel.streams import files, open_stream

ONKEL = [sys.executable, "-m", "onkel"]

if os.name != "posix":
    pytest.skip("signals as POSIX has them", allow_module_level=True)

from tests.cli.endings import SlowPipe, arguments, lines, play  # noqa: E402 (only POSIX has it)

pytestmark = pytest.mark.slow


def _csv(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).round(4)
    lines = [",".join(map(str, row)) + f",{int(row[0] * row[1] > 0)}" for row in X.tolist()]
    return "a,b,c,d,e,y\n" + "\n".join(lines) + "\n"


def _wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def test_a_killed_run_is_resumed_to_the_model_of_an_unbroken_one(tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text(_csv(120_000))
    checkpoint = tmp_path / "c.onkel"
    args = ["learn", str(rows), "-t", "y", "-a", "rrf", "--set", "n_components=400"]
    checkpoints = ["--checkpoint", str(checkpoint), "--checkpoint-every", "4096"]

    process = subprocess.Popen([*ONKEL, *args, *checkpoints], stderr=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL)  # fmt: skip
    _wait_for(checkpoint.exists)
    process.kill()
    process.wait()
    held = onkel.load(checkpoint).n_rows
    assert 0 < held < 120_000
    assert held % 4096 == 0

    for name, more in (("resumed", [*checkpoints, "--resume"]), ("whole", [])):
        save = ["--save", str(tmp_path / f"{name}.onkel")]
        result = CliRunner().invoke(app, [*args, *more, *save])
        assert result.exit_code == 0, result.stderr
        if name == "resumed":
            assert f"after {held:,} rows" in result.stderr
    assert (tmp_path / "resumed.onkel").read_bytes() == (tmp_path / "whole.onkel").read_bytes()


def test_ctrl_c_while_waiting_for_rows_saves_and_tells(tmp_path):
    save = tmp_path / "m.onkel"
    args = ["learn", "-", "--format", "csv", "-t", "y", "-a", "pa", "--save", str(save), "-v"]
    process = subprocess.Popen(
        [*ONKEL, *args], stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
        text=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(_csv(150_000))
    process.stdin.flush()
    said = []
    for line in process.stderr:  # the table: wait until it has learned 8 192 rows
        said.append(line)
        if line.split()[:1] == ["8,192"]:
            break
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    said += process.stderr.readlines()
    assert process.wait(timeout=30) == 130
    process.stdin.close()
    process.stderr.close()
    rows = onkel.load(save).n_rows
    assert rows >= 8192
    assert f"interrupted after {rows:,} rows" in "".join(said)
    assert f"m.onkel holds the model of the first {rows:,} rows" in "".join(said)
    assert "Traceback" not in "".join(said)


def test_a_signal_leaves_the_predictions_of_the_rows_that_came(tmp_path):
    rows, model, out = (tmp_path / name for name in ("rows.csv", "m.onkel", "p.csv"))
    rows.write_text(_csv(3000))
    CliRunner().invoke(app, ["learn", str(rows), "-t", "y", "-a", "pa", "--save", str(model)])
    process = subprocess.Popen(
        [*ONKEL, "predict", str(model), "-", "--format", "csv", "--out", str(out)],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(_csv(3000))
    process.stdin.flush()
    _wait_for(
        lambda: any(own.suffix == ".tmp" and own.stat().st_size for own in tmp_path.iterdir())
    )
    process.send_signal(signal.SIGTERM)
    said = process.stderr.read()
    assert process.wait(timeout=30) == 143
    process.stdin.close()
    process.stderr.close()
    assert "terminated after 3,000 rows" in said
    assert "p.csv holds the predictions of the first 3,000 rows" in said
    assert len(out.read_text().splitlines()) == 3001


def test_a_held_section_is_not_cut():
    # a shell's background job begins with the signal ignored
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), Interrupts() as interrupts:  # noqa: PT012
        with interrupts.held():
            signal.raise_signal(signal.SIGINT)
            reached = True
        reached = False
    assert reached
    assert signal.getsignal(signal.SIGINT) is before


def test_elsewhere_it_acts_at_once():
    with pytest.raises(KeyboardInterrupt), Interrupts():
        signal.raise_signal(signal.SIGINT)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "status"), [("HUP", 129), ("INT", 130), ("TERM", 143)])
def test_what_was_read_from_a_slow_pipe_is_saved(tmp_path, name, status):
    moment = random.Random(name).uniform(1.0, 3.0)
    found = play(signal.Signals[f"SIG{name}"], moment, tmp_path)
    assert found.status == status, found.said
    assert found.read > 100
    assert found.saved == found.read
    assert found.same
    assert f"after {found.read:,} rows" in found.said


@pytest.mark.slow
def test_a_slow_pipe_is_learned_as_it_comes(tmp_path):
    """The pipe never pauses: rows come every 5 ms, and a chunk of them would take minutes."""
    checkpoint, rows = tmp_path / "c.onkel", lines(20_000)
    args = [*arguments(tmp_path / "m.onkel"), "--checkpoint", str(checkpoint)]
    with SlowPipe([*args, "--checkpoint-every", "150"], rows, 200, stdout=subprocess.DEVNULL,
                  stderr=subprocess.PIPE) as pipe:  # fmt: skip
        pipe.wait_until_read()
        _wait_for(checkpoint.exists, 60)
        held = onkel.load(checkpoint).n_rows  # the pipe goes on: a busy machine finds a later one
        assert held % 150 == 0
        assert held < 10_000
        pipe.process.send_signal(signal.SIGTERM)
        said = pipe.process.communicate(timeout=60)[1].decode()
        assert onkel.load(tmp_path / "m.onkel").n_rows == pipe.rows_read(), said
    assert "Traceback" not in said


@pytest.mark.slow
def test_a_silent_named_pipe_can_be_interrupted(tmp_path):
    os.mkfifo(tmp_path / "rows.jsonl")
    args = ["learn", "rows.jsonl", *arguments(tmp_path / "m.onkel")[2:]]
    args += ["--checkpoint", "c.onkel", "--checkpoint-every", "100"]
    process = subprocess.Popen([*ONKEL, *args], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               cwd=tmp_path, text=True)  # fmt: skip
    try:
        with (tmp_path / "rows.jsonl").open("wb", buffering=0) as file:
            file.write(b"".join(lines(400)) + b'{"a": 1.0')
            _wait_for((tmp_path / "c.onkel").exists)
            process.send_signal(signal.SIGTERM)
            said = process.communicate(timeout=60)[1]
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 143, said
    assert "terminated after 400 rows" in said
    assert onkel.load(tmp_path / "m.onkel").n_rows == 400


def test_a_named_pipe_that_nobody_writes_to_can_be_interrupted(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "rows.csv")
    pipes = files._Pipes()
    monkeypatch.setattr(files, "_PIPES", pipes)

    def interrupt():
        _wait_for(lambda: pipes._opens)
        os.kill(os.getpid(), signal.SIGTERM)

    sender = threading.Thread(target=interrupt)
    with pytest.raises(Interrupted, match="15"), Interrupts(end_input=True):  # noqa: PT012
        sender.start()
        open_stream(tmp_path / "rows.csv")
    sender.join()


def test_a_signal_that_comes_twice_at_once_is_one():
    # a terminal that closes and its shell both send SIGHUP; timeout sends SIGTERM twice
    with pytest.raises(KeyboardInterrupt), Interrupts() as interrupts, interrupts.held():  # noqa: PT012
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)


def test_nohup_stays_in_force():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupts():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("redirection", "status", "said"),
    [
        ("2>/dev/full", 0, ""),
        ("2>&-", 0, ""),
        ("2>&1 | head -1", 1, ""),
        (">&-", 1, "the result could not be written to stdout: it is closed"),
        (">/dev/full", 1, "the result could not be written to stdout: No space left"),
        ("| true", 1, ""),
    ],
)
def test_a_model_is_saved_though_nobody_listens(tmp_path, redirection, status, said):
    (tmp_path / "rows.csv").write_text(_csv(3000))
    command = f"{' '.join(ONKEL)} learn rows.csv -t y -a pa --verbose --save m.onkel {redirection}"
    if "|" in redirection:
        command += "; exit ${PIPESTATUS[0]}"
    if "/dev/full" in redirection and not os.path.exists("/dev/full"):
        pytest.skip("the system has no /dev/full")
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, check=False)
    text = done.stderr.decode()
    assert done.returncode == status, text
    assert said in text
    assert "Traceback" not in text
    assert "Exception ignored" not in text
    assert onkel.load(tmp_path / "m.onkel").n_rows == 3000


def _ends(tmp_path, command, kilobytes):
    """How a command ends whose files cannot be larger: as on a full disk."""
    script = f"ulimit -f {kilobytes}; {' '.join(ONKEL)} {command}; exit ${{PIPESTATUS[0]}}"
    unbuffered = os.environ | {"PYTHONUNBUFFERED": "1"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, check=False, env=unbuffered
    )
    text = done.stderr.decode()
    assert "Traceback" not in text
    assert "Exception ignored" not in text
    return done.returncode, text


@pytest.mark.parametrize(
    ("redirection", "said"),
    [
        (">/dev/full", "could not be written to stdout: No space left"),
        (">&-", "could not be written to stdout: it is closed"),
        ("| head -1", ""),
        ("--out p.csv", "could not be written to p.csv: File too large"),
    ],
)
def test_what_was_learned_is_saved_though_predictions_cannot_be_written(
    tmp_path, redirection, said
):
    rows = tmp_path / "rows.csv"
    rows.write_text("a,y\n" + "1,up\n2,down\n" * 10_000)
    first = ["learn", str(rows), "-t", "y", "-a", "pa", "--limit", "10"]
    CliRunner().invoke(app, [*first, "--save", str(tmp_path / "m.onkel")])
    command = f"predict m.onkel rows.csv --learn --save n.onkel {redirection}"
    status, text = _ends(tmp_path, command, 64)
    assert status == 1, text
    assert said in text
    assert onkel.load(tmp_path / "n.onkel").n_rows > 10


def test_a_full_disk_ends_no_run(tmp_path):
    (tmp_path / "rows.csv").write_text(_csv(3000))
    files = "--checkpoint c.onkel --checkpoint-every 1000 --save m.onkel --report r.html"
    status, text = _ends(tmp_path, f"learn rows.csv -t y -a pa {files} | cat >&2", 4)
    assert status == 1, text
    assert "the checkpoint after 3,000 rows could not be written: File too large" in text
    assert "m.onkel could not be written: File too large" in text
    assert "r.html could not be written: File too large" in text
    assert "3,000 × 5 features" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.csv"]


@pytest.mark.parametrize("command", ["learn -", "predict first.onkel - --learn --out p.csv"])
def test_a_signal_after_which_nothing_could_be_saved_ends_with_1(tmp_path, command):
    (tmp_path / "rows.csv").write_text(_csv(3000))
    first = ["learn", str(tmp_path / "rows.csv"), "-a", "fogd", "--set", "n_components=2000"]
    CliRunner().invoke(app, [*first, "-t", "y", "--save", str(tmp_path / "first.onkel")])
    more = " ".join(["-t", "y", *first[2:]]) if command == "learn -" else ""
    script = f"ulimit -f 8; exec {' '.join(ONKEL)} {command} --format csv {more} --save m.onkel"
    process = subprocess.Popen(
        ["bash", "-c", script], cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(_csv(3000))
    process.stdin.flush()
    time.sleep(5.0)
    process.send_signal(signal.SIGTERM)
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 1, said
    process.stdin.close()
    assert "m.onkel could not be written" in said
    assert not (tmp_path / "m.onkel").exists()


@pytest.mark.parametrize("command", ["--help", "--version", "learn --help", "algorithms --json"])
@pytest.mark.parametrize("redirection", [">&-", ">/dev/full"])
def test_what_cannot_be_written_is_said_in_a_line(tmp_path, command, redirection):
    status, text = _ends(tmp_path, f"{command} {redirection}", 64)
    assert status == 1, text
    assert text.startswith("error: the result could not be written to stdout: ")
    assert text.count("\n") == 1


def test_a_stdout_that_cannot_encode_gets_question_marks(tmp_path):
    (tmp_path / "rows.csv").write_text(_csv(300))
    done = subprocess.run(
        [*ONKEL, "learn", "rows.csv", "-t", "y", "-a", "pa"], cwd=tmp_path, capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"300 ? 5 features" in done.stdout


def test_a_busy_machine_does_not_shorten_the_rest(monkeypatch):
    """After a signal, rows that were read are learned for seconds of work, not of the clock."""
    monkeypatch.setattr(signals, "end_pipes", lambda: True)
    clock = types.SimpleNamespace(monotonic=time.monotonic, process_time=time.process_time)
    monkeypatch.setattr(signals, "time", clock)
    with signals.Interrupts(end_input=True) as interrupts:
        signal.raise_signal(signal.SIGTERM)
        clock.monotonic = lambda: time.monotonic() + 60.0
        with interrupts.held():
            pass
        clock.process_time = lambda: time.process_time() + 60.0
        with pytest.raises(signals.Interrupted), interrupts.held():
            pass
