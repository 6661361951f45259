"""``onkel live``: a process in a pipe, ended in every way that a process ends."""

from __future__ import annotations

import errno
import json
import os
import random
import select
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from threadpoolctl import threadpool_info, threadpool_limits
from typer.testing import CliRunner

import onkel
from onkel import StreamModel
from onkel.cli import app
from onkel.cli.console import say_line
from onkel.cli.guarded import Notices
from onkel.cli.live import backlog
from onkel.cli.live.arrivals import Arrivals
from onkel.cli.live.csv_lines import CsvLines
from onkel.cli.live.metrics import Metrics, text_of
from onkel.cli.live.opening import open_durable
from onkel.cli.live.options import LiveOptions
from onkel.cli.live.pipe import Pipe
from onkel.cli.signals import Interrupted, Interrupts
from onkel.errors import JournalError
from onkel.persistence import untouched
from onkel.persistence.atomic import write_whole
from onkel.serve import LiveModel
from onkel.serve.background import BackgroundSave
from onkel.serve.durable import DurableModel
from onkel.serve.journal import Journal

ONKEL = [sys.executable, "-m", "onkel"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="pipes as POSIX has them"),
]


def _row(t, **more):
    return {"id": t, "a": t % 7 + 0.5, "place": f"p{t % 3}", **more}


def _lines(events):
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def _pipe(tmp_path, data, *, out=None, **how):
    """Play bytes into a pipe in this process; its status, answers and model."""
    source, write = os.pipe()
    os.write(write, data)
    os.close(write)
    answers = tmp_path / "answers"
    file = os.open(answers, os.O_WRONLY | os.O_CREAT) if out is None else out
    options = LiveOptions(model=tmp_path / "m.onkel", **how)
    learner = onkel.make("pa", task="regression")
    settings = {"missing": "auto", "dtype": "float32"}
    model = LiveModel(onkel.StreamModel(learner, settings=settings), say=say_line)
    status = Pipe(model, options, source, file, Interrupts()).run()
    return status, answers.read_bytes().splitlines() if answers.exists() else [], model


def test_rows_are_answered_in_order_and_the_model_is_saved(tmp_path, capsys):
    events = [event for t in range(50) for event in (_row(t), {"id": t, "y": t % 7})]
    data = _lines(events) + b'rubbish\n[1]\n\xff\n\n{"id":3,"y":1}\n{"id":99,"a":1,"place":"p0"}'
    status, answers, model = _pipe(tmp_path, data, metrics_every=0)
    assert status == 0
    found = [json.loads(line) for line in answers]
    assert [answer["id"] for answer in found] == [*range(50), None, None, None, 99]
    assert ["error" in answer for answer in found] == [False] * 50 + [True] * 3 + [False]
    said = capsys.readouterr().err.splitlines()
    assert [line.split()[0] for line in said] == ["refused:"] * 3 + ["doubled"]
    assert "line 101" in said[0]
    assert model.model.n_rows == onkel.load(tmp_path / "m.onkel").n_rows == 50
    assert LiveModel.load(tmp_path / "m.onkel").late.oldest == 99


def test_csv_in_csv_out(tmp_path):
    data = b'id,a,place,y\r\n7,1.5,"x, y",2\n8,,x,\n8,,,3.5\n9,1\n'
    status, answers, model = _pipe(tmp_path, data, format="csv", metrics_every=0)
    assert status == 0
    assert answers[:2] == [b"id,prediction,model_rows,error", b"7,,0,"]
    assert answers[2].startswith(b"8,")
    assert answers[3] == b",,,line 5: 2 fields where the header has 4"
    assert model.model.n_rows == 2


def test_csv_has_plain_numbers_only(tmp_path):
    fields = ["5", "-5.5", "+.5e3", "7.", "1_000", "１２", "٣", "0x1", "1e", "nan", "1" * 5000]
    data = "id,a,b,y\n" + "".join(f"{k},{v},1,1\n" for k, v in enumerate(fields))
    lines = CsvLines(LiveOptions(model=tmp_path / "m.onkel", format="csv"),
                     LiveModel(onkel.StreamModel(onkel.make("pa", task="regression"))))  # fmt: skip
    found = [lines.read(line) for line in data.encode().splitlines()][1:]
    expected = [5, -5.5, 500.0, 7.0, *fields[4:10], float("inf")]
    assert [event["a"] for event in found] == expected


def _deep(depth, opens="[", closes="]"):
    return opens * depth + "1" + closes * depth


@pytest.mark.parametrize("journal", [False, True])
def test_a_line_that_is_nested_deeply_is_refused_and_others_go_on(tmp_path, journal):
    depths = [101, 500, *range(900, 1000), 5000]
    lines = ['{"id":"first","a":1,"y":2}', f'{{"id":"few","a":{_deep(3)},"y":2}}']
    for depth in depths:
        objects = _deep(depth, '{"a":', "}")
        lines += [f'{{"id":{depth},"a":{_deep(depth)},"y":2}}',
                  f'{{"id":{depth},"a":1,"y":{_deep(depth)}}}', f'{{"id":{_deep(depth)},"y":2}}',
                  f'{{"id":{depth},"a":{objects}}}']  # fmt: skip
    rows = tmp_path / "rows.jsonl"
    rows.write_text("\n".join([*lines, '{"id":"last","a":1}\n']))
    more = ["--journal", str(tmp_path / "journal")] if journal else []
    for _ in range(2):
        command = [*ONKEL, "live", "m.onkel", str(rows), "--task", "regression", "-a", "pa", *more]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr[-300:]
        answers = [json.loads(line) for line in ended.stdout.splitlines()]
        assert ["error" in answer for answer in answers] == [False] + [True] * (
            len(answers) - 2
        ) + [False]
        assert len(answers) == 3 + 4 * len(depths)
        if not journal:
            break


def test_nobody_reads_the_answers(tmp_path, capsys):
    read, write = os.pipe()
    os.close(read)
    data = _lines(_row(t, y=1.0) for t in range(5))
    status, _, _ = _pipe(tmp_path, data, out=write, metrics_every=0)
    assert status == 1
    assert "answers could not be written" in capsys.readouterr().err
    assert onkel.load(tmp_path / "m.onkel").n_rows == 5


def test_nobody_reads_the_remarks(tmp_path, monkeypatch):
    read, write = os.pipe()
    os.close(read)
    data = _lines([_row(0, y=1.0), {"id": 5, "y": 2.0}, _row(1)])
    monkeypatch.setattr(sys, "stderr", Notices(None, write, waits=False))
    assert _pipe(tmp_path, data)[0] == 0
    read, write = os.pipe()  # a reader that sleeps
    os.set_blocking(write, False)
    full = 0
    while not full % 4096:
        try:
            full += os.write(write, b"x" * 4096)
        except BlockingIOError:
            break
    monkeypatch.setattr(sys, "stderr", Notices(None, write, waits=False))
    assert _pipe(tmp_path, data)[0] == 0
    assert os.read(read, full) == b"x" * full
    say_line("it wakes")
    assert b"notices were dropped) it wakes\n" in os.read(read, 4096)


@pytest.mark.parametrize("is_told_to_end", [False, True])
def test_a_model_that_cannot_be_saved_ends_with_1(tmp_path, capsys, monkeypatch, is_told_to_end):
    if is_told_to_end:
        # a signal that comes when the row has been read
        looks = iter([None])
        signaled = property(lambda own: next(looks, Interrupted(signal.SIGTERM)))
        monkeypatch.setattr(Interrupts, "interrupted", signaled)
    (tmp_path / "m.onkel").mkdir()
    data = _lines([_row(0, y=1.0)])
    assert _pipe(tmp_path, data, metrics_every=0)[0] == 1
    assert "could not be saved" in capsys.readouterr().err


def test_saves_and_metrics_as_it_goes(tmp_path, capsys):
    data = _lines(_row(t, y=1.0) for t in range(40))
    how = {"save_every": 10, "metrics_every": 1e-6, "as_json": True}
    _pipe(tmp_path, data, **how)
    report = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert (report["rows"], report["labels"], report["waiting"]) == (40, 40, 0)


@pytest.mark.parametrize(("rows", "n_lines"), [(0, 0), (30, 2), (50, 1)])
def test_metrics_come_after_so_many_rows_and_at_the_end(tmp_path, capsys, rows, n_lines):
    data = _lines(_row(t, y=float(t >= 20)) for t in range(40))
    _pipe(tmp_path, data, metrics_every=0, metrics_rows=rows, as_json=True)
    reports = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert len(reports) == n_lines
    assert all(report["rows"] >= min(rows, 40) for report in reports)


@pytest.mark.parametrize(
    ("more", "said"), [({}, False), ({"behind": 0}, False), ({"behind": 7}, True)]
)
def test_metrics_say_how_many_labels_are_behind_where_any_is(more, said):
    """At a broker rows are taken in order, and reports do not count them."""
    report = LiveModel(StreamModel(onkel.make("pa"))).report()
    assert ("7 labels behind" in text_of(report | more)) is said


def test_a_line_of_metrics_is_due_by_rows_or_by_time(tmp_path, capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("onkel.cli.live.metrics.time.monotonic", lambda: now[0])
    options = LiveOptions(model=tmp_path / "m.onkel", metrics_every=60.0, metrics_rows=100)
    metrics = Metrics(options, 1000)
    assert metrics.are_wanted
    assert not metrics.are_due(1099)
    assert metrics.are_due(1100)
    now[0] = 60.0
    assert metrics.are_due(1001)
    assert metrics.seconds_left() == 0.0
    metrics.print(LiveModel(StreamModel(onkel.make("pa"))).report() | {"rows": 1050, "behind": 0})
    assert not metrics.are_due(1149)
    assert metrics.seconds_left() == 60.0
    assert "1,050 rows" in capsys.readouterr().err
    never = Metrics(LiveOptions(model=tmp_path / "m.onkel", metrics_every=0), 0)
    assert not never.are_wanted
    assert not never.are_due(10**9)


def test_lines_that_came_together_are_saved_as_they_are_taken(tmp_path, monkeypatch):
    saved, begin = [], BackgroundSave.begin

    def begin_and_wait(own, content):
        begin(own, content)
        own._thread.join()
        saved.append(onkel.load(tmp_path / "m.onkel").n_rows)

    monkeypatch.setattr(BackgroundSave, "begin", begin_and_wait)
    _pipe(tmp_path, _lines(_row(t, y=1.0) for t in range(1000)), save_every=100, metrics_every=0)
    assert len(saved) >= 10
    assert saved == sorted(saved)


def test_what_another_process_saved_meanwhile_stays(tmp_path, monkeypatch, capsys):
    """In the middle, by a save in the background, and at the end."""
    path, saves, begin = tmp_path / "m.onkel", [], BackgroundSave.begin

    def meanwhile(own, content):
        saves.append(own)
        if len(saves) == 3:
            path.write_bytes(b"theirs")
        begin(own, content)
        own._thread.join()

    monkeypatch.setattr(BackgroundSave, "begin", meanwhile)
    lines = _lines(_row(t, y=1.0) for t in range(1000))
    status, _, model = _pipe(tmp_path, lines, save_every=100, metrics_every=0)
    assert (status, model.model.n_rows) == (1, 1000)
    assert path.read_bytes() == b"theirs"
    assert onkel.load(tmp_path / "m.2.onkel").n_rows == 1000
    assert len(list(tmp_path.glob("*.onkel"))) == 2
    assert capsys.readouterr().err == (
        f"error: {path} was written by another process since this run began, and stays: the model "
        f"of this run is in {tmp_path / 'm.2.onkel'}\n"
    )


def test_with_a_journal_what_another_process_saved_meanwhile_stays(tmp_path, monkeypatch, capsys):
    """The journal then follows the file beside it, with which it goes on."""
    path, journal, snapshot = tmp_path / "m.onkel", tmp_path / "j", DurableModel.snapshot
    options = LiveOptions(model=path, metrics_every=0, save_every=100, task="regression",
                          algorithm="pa")  # fmt: skip
    numbers = []

    def meanwhile(durable):
        numbers.append(durable.number)
        if len(numbers) == 3:
            path.write_bytes(b"theirs")
        snapshot(durable)

    def run(options, rows):
        source, write = os.pipe()
        os.write(write, _lines(_row(t, y=1.0) for t in rows))
        os.close(write)
        durable = open_durable(options, journal)
        with open(tmp_path / "answers", "wb") as out:
            pipe = Pipe(durable.live, options, source, out.fileno(), Interrupts(), durable)
            status = pipe.run()
        durable.journal.close()
        return status

    with monkeypatch.context() as patch:
        patch.setattr(DurableModel, "snapshot", meanwhile)
        assert run(options, range(1000)) == 1
    assert len(numbers) >= 4
    assert path.read_bytes() == b"theirs"
    assert onkel.load(tmp_path / "m.2.onkel").n_rows == 1000
    assert capsys.readouterr().err == (
        f"error: {path} was written by another process since this run began, and stays: the model "
        f"of this run is in {tmp_path / 'm.2.onkel'}, and goes on with --journal {journal}\n"
    )
    assert run(replace(options, model=tmp_path / "m.2.onkel"), range(1000, 1010)) == 0
    assert onkel.load(tmp_path / "m.2.onkel").n_rows == 1010


def test_a_model_without_rows_is_not_written_beside_another(tmp_path, capsys):
    (tmp_path / "m.onkel").write_bytes(b"theirs")
    status, answers, _ = _pipe(tmp_path, _lines([_row(0)]), metrics_every=0)
    assert (status, len(answers)) == (0, 1)
    assert [own.name for own in tmp_path.glob("*.onkel")] == ["m.onkel"]


def test_rows_are_answered_while_a_save_is_written(tmp_path, capsys, monkeypatch):
    """The next save waits for it, and so does the end, whose save comes last."""
    path, go, seen = tmp_path / "m.onkel", threading.Event(), []

    def slow(path, content):
        seen.append(onkel.from_bytes(content).n_rows)
        if len(seen) == 1:
            assert go.wait(30.0)
            raise OSError("the disk is full")
        write_whole(path, content)

    monkeypatch.setattr(untouched, "write_whole", slow)
    source, write = os.pipe()
    read, out = os.pipe()
    live = LiveModel(onkel.StreamModel(onkel.make("pa", task="regression")), say=pytest.fail)
    options = LiveOptions(model=path, metrics_every=0, save_every=5)
    runner = threading.Thread(target=Pipe(live, options, source, out, Interrupts()).run)
    runner.start()
    with os.fdopen(read, "rb", buffering=0) as answers:
        for t in range(20):
            os.write(write, _lines([_row(t, y=1.0)]))
            assert json.loads(answers.readline())["id"] == t
        assert not path.exists()
        go.set()
        os.close(write)
        runner.join(30)
    assert not runner.is_alive()
    assert seen[0] < 20
    assert onkel.load(path).n_rows == 20
    assert capsys.readouterr().err == "error: the model could not be saved: the disk is full\n"


def test_labels_that_are_too_many_are_learned_before_more_rows_are_taken(
    tmp_path, monkeypatch, capsys
):
    """Also while lines that were read wait; only where the disk cannot be written."""

    def full(**how):
        raise OSError(errno.ENOSPC, "No space left on device")

    # loops that are compiled meanwhile are kept in files, too
    monkeypatch.setattr(backlog, "tempfile", SimpleNamespace(TemporaryFile=full))
    monkeypatch.setattr(backlog, "_MOST", 5)
    monkeypatch.setattr(backlog, "_PIECE", 2)
    never = property(lambda own: False, lambda own, to: None)
    monkeypatch.setattr(Arrivals, "is_poured", never, raising=False)
    monkeypatch.setattr(Arrivals, "has_more", property(lambda own: True))
    events = [_row(t, y=float(t % 7)) for t in range(301)]
    status, answers, model = _pipe(tmp_path, _lines(events), metrics_every=0)
    assert status == 0
    assert [json.loads(answer)["id"] for answer in answers] == list(range(301))
    assert model.model.n_rows == 301
    (told,) = capsys.readouterr().err.splitlines()
    assert "rows wait if there are many: No space left" in told


def test_what_is_missing_is_asked_for(tmp_path):
    path = tmp_path / "m.onkel"
    result = CliRunner().invoke(app, ["live", str(path)])
    assert result.exit_code == 2
    assert "a new model needs --task" in result.stderr
    _pipe(tmp_path, _lines([_row(0, y=1.0)]))
    result = CliRunner().invoke(app, ["live", str(path), "--task", "classification"])
    assert result.exit_code == 2
    assert "has 'regression'" in result.stderr


class _Live:
    """A running ``onkel live`` on pipes."""

    def __init__(self, path, *more):
        args = [*ONKEL, "live", str(path), "-a", "pa", "--task", "regression", *more]
        self.process = subprocess.Popen(
            args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )

    def ask(self, event):
        self.process.stdin.write(_lines([event]))
        return json.loads(self.process.stdout.readline())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "status"), [("HUP", 129), ("INT", 130), ("TERM", 143)])
def test_what_was_answered_is_learned_whatever_signal_comes(tmp_path, name, status):
    path, rng = tmp_path / "m.onkel", random.Random(name)
    live = _Live(path, "--metrics-every", "0")
    live.ask(_row(0, y=1.0))
    for t in range(1, 30):
        live.ask(_row(t, y=float(t % 7)))
    # a burst, stopped in its midst, with a line cut off at its end
    live.process.stdin.write(_lines(_row(t, y=1.0) for t in range(30, 60)) + b'{"id": 60, "a"')
    time.sleep(rng.uniform(0.0, 0.2))
    live.process.send_signal(signal.Signals[f"SIG{name}"])
    out, err = live.process.communicate(timeout=60)
    assert live.process.returncode == status, err
    answered = 30 + len(out.splitlines())
    assert onkel.load(path).n_rows == answered
    assert f"{answered} rows learned" in err.decode()
    assert "Traceback" not in err.decode()


@pytest.mark.slow
def test_a_killed_process_goes_on_from_its_last_save(tmp_path):
    path = tmp_path / "m.onkel"
    live = _Live(path, "--save-every", "10")
    for t in range(25):
        live.ask(_row(t, y=1.0))
        if t % 10 == 9:
            # a save is written while rows are answered
            end = time.monotonic() + 30.0
            while not (path.exists() and onkel.load(path).n_rows == t + 1):
                assert time.monotonic() < end
                time.sleep(0.01)
    live.process.kill()
    live.process.communicate()
    assert onkel.load(path).n_rows == 20
    again = _Live(path, "--metrics-every", "0")
    assert again.ask(_row(25))["model_rows"] == 20
    _, err = again.process.communicate(timeout=60)
    assert b"after 20 rows" in err
    assert LiveModel.load(path).late.oldest == 25


@pytest.mark.slow
def test_learn_and_live_make_the_same_model(tmp_path):
    rows = [_row(t, y=float(t % 5)) for t in range(200)]
    for part, own in (("first", rows[:100]), ("rest", rows[100:])):
        (tmp_path / f"{part}.jsonl").write_bytes(_lines(own))
    learn = [*ONKEL, "learn", "first.jsonl", "-t", "y", "-a", "pa", "--task", "regression"]
    more = ["--exclude", "id", "--save"]
    subprocess.run([*learn, *more, "m.onkel"], cwd=tmp_path, check=True, capture_output=True)
    rest = [*ONKEL, "learn", "rest.jsonl", "--from", "m.onkel", "--save", "learned.onkel"]
    subprocess.run(rest, cwd=tmp_path, check=True, capture_output=True)
    live = [*ONKEL, "live", "m.onkel", "rest.jsonl"]
    done = subprocess.run(live, cwd=tmp_path, check=True, capture_output=True)
    assert len(done.stdout.splitlines()) == 100
    found, wanted = (onkel.load(tmp_path / name) for name in ("m.onkel", "learned.onkel"))
    assert found.n_rows == wanted.n_rows == 200
    probe = [{"a": 0.1 * k, "place": f"p{k % 4}"} for k in range(50)]
    assert found.predict(probe).tolist() == wanted.predict(probe).tolist()


def test_a_pipe_without_a_pace_is_answered_at_once(tmp_path):
    """A line that has come is answered while the writer says nothing more."""
    source, write = os.pipe()
    read, out = os.pipe()
    learner = onkel.make("pa", task="regression")
    live = LiveModel(onkel.StreamModel(learner), say=pytest.fail)
    live.take(_row(0, y=1.0))
    options = LiveOptions(model=tmp_path / "m.onkel", metrics_every=0)
    runner = threading.Thread(target=Pipe(live, options, source, out, Interrupts()).run)
    runner.start()
    for t in range(1, 20):
        os.write(write, _lines([_row(t)]))
        assert select.select([read], [], [], 10.0)[0]
        assert json.loads(os.read(read, 4096))["id"] == t
    os.close(write)
    runner.join(30)
    assert not runner.is_alive()


def test_a_journal_survives_what_the_model_file_does_not(tmp_path):
    rows = _lines(_row(t) for t in range(60))
    labels = _lines({"id": t, "y": t % 7} for t in range(60))

    def run(folder, pieces, *, kill):
        """Feed pieces, waiting for the answers to rows; the answers by id, and what was said."""
        args = [*ONKEL, "live", "m.onkel", "-a", "pa", "--task", "regression", "--journal", "j",
                "--metrics-every", "0", "--level", "0.9"]  # fmt: skip
        with subprocess.Popen(args, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:  # fmt: skip
            found = []
            for piece in pieces:
                process.stdin.write(piece)
                process.stdin.flush()
                found += [process.stdout.readline() for line in piece.splitlines()
                          if b'"a"' in line]  # fmt: skip
            if kill:
                process.kill()
            found += process.communicate()[0].splitlines(keepends=True)
        return found, process

    cut = rows.index(b"\n", 1000) + 1
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for folder in (whole, broken):
        folder.mkdir()
    expected, process = run(whole, [rows[:cut], rows[cut:], b"rubbish\n" + labels], kill=False)
    assert process.returncode == 0
    first, _ = run(broken, [rows[:cut]], kill=True)
    # what was answered comes again, as to somebody who got no answer; it is not learned again
    again, process = run(broken, [rows[:cut], rows[cut:], b"rubbish\n" + labels], kill=False)
    assert process.returncode == 0
    assert again == expected
    assert first == expected[: len(first)]
    model = LiveModel.load(broken / "m.onkel", say=pytest.fail)
    assert model.counts["repeated"] == rows[:cut].count(b"\n")
    assert model.counts["rows"] == model.counts["labels"] == 60
    assert model.model.to_bytes() == LiveModel.load(whole / "m.onkel").model.to_bytes()


def test_with_a_journal_blas_has_one_thread(tmp_path):
    # a start on other cores takes the journal again, and must round as before
    (tmp_path / "rows").write_bytes(_lines([_row(0, y=1.0)]))
    args = ["live", f"{tmp_path}/m.onkel", f"{tmp_path}/rows", "--task", "regression"]
    with threadpool_limits(2, user_api="blas"):
        most = _blas_threads()
        for more, expected in (([], most), (["--journal", f"{tmp_path}/j"], {1})):
            assert CliRunner().invoke(app, [*args, *more]).exit_code == 0
            assert _blas_threads() == expected
            (tmp_path / "m.onkel").unlink()


def _blas_threads():
    return {own["num_threads"] for own in threadpool_info() if own["user_api"] == "blas"}


def test_a_journal_that_cannot_be_written_ends_the_run(tmp_path, monkeypatch, capsys):
    def fails(self):
        raise JournalError("j: the journal cannot be written")

    monkeypatch.setattr(Journal, "commit", fails)
    new = LiveModel(onkel.StreamModel(onkel.make("pa", task="regression")), say=say_line)
    durable = DurableModel.open(tmp_path / "m.onkel", Journal(tmp_path / "j"), lambda: new)
    source, write = os.pipe()
    os.write(write, _lines([_row(0, y=1.0)]))
    os.close(write)
    with open(tmp_path / "answers", "wb") as out:
        options = LiveOptions(model=tmp_path / "m.onkel", metrics_every=0)
        pipe = Pipe(new, options, source, out.fileno(), Interrupts(), durable)
        assert pipe.run() == 1
    assert "neither answered nor learned" in capsys.readouterr().err
    assert (tmp_path / "answers").read_bytes() == b""
    assert new.counts["rows"] == 0


def test_lines_of_every_kind_are_answered_or_told_and_nothing_is_lost(tmp_path, capsys):
    good = [_row(t, y=float(t % 7)) for t in range(300)]
    strange = [
        b'{"id": 1000, "a": NaN, "place": "p0", "y": 1.0}',
        b'{"id": 1001, "a": 1e400, "place": "p0", "y": 1.0}',
        b'{"id": 1002, "a": 1.0, "place": "\\ud800", "y": 1.0}',
        b'{"id": 1003, "a": 1.0, "place": "p0", "y": NaN}',
        b'{"id": [1], "a": 1.0, "place": "p0", "y": 1.0}',
        b'{"id": 1.5, "a": 2.0, "place": "p1", "y": 1.0}',
        b'{"id": true, "a": 2.0, "place": "p1", "y": 1.0}',
        b'{"id": "1006", "a": 2.0, "place": "p1", "new": 3.0, "y": 1.0}',
        b'{"id": 123456789012345678901234567890, "a": 2.0, "place": "p1", "y": 1.0}',
        b'{"id": "", "a": 2, "place": "p1", "y": 1.0}',
        b'{"a": 2, "place": "p1", "y": 1.0}',
        b'{"id": 3, "y": 1.0}',
        b'{"id": "never", "y": 1.0}',
        b"{}",
        b'{"id": 5}',
        b'{"id": 9, "a": 2, "place": "p1", "y": "text"}',
        b"\xff\xfe{}",
        b'{"id": 1, "a": ',
        b'{"id": 7, "a": ' + b"[" * 100_000,
        b'{"id": 8, "place": "' + b"x" * 300_000 + b'", "a": 1.0, "y": 2.0}',
        b'{"id": 10, "a": 1.0} {"id": 11, "a": 1.0}',
        b"\xef\xbb\xbf" + json.dumps(_row(1200, y=1.0)).encode(),
        b"null",
        b'"text"',
        json.dumps(_row(1201, y=1.0)).encode() + b"\r",
    ]
    rng = random.Random(0)
    lines = [json.dumps(event).encode() for event in good]
    for line in strange:
        lines.insert(rng.randrange(20, len(lines)), line)
    data = tmp_path / "data"
    data.write_bytes(b"\n".join(lines))
    runs = []
    for k in range(2):
        # as it comes, and a line at a time
        folder = tmp_path / str(k)
        folder.mkdir()
        source, write = os.pipe()
        pieces = [data.read_bytes()] if k == 0 else [line + b"\n" for line in lines]
        writer = threading.Thread(target=_write_all, args=(write, pieces, 0.0 if k == 0 else 1e-4))
        writer.start()
        answers = folder / "answers"
        file = os.open(answers, os.O_WRONLY | os.O_CREAT)
        model = LiveModel(
            onkel.StreamModel(
                onkel.make("pa", task="regression"),
                settings={"missing": "auto", "dtype": "float32"},
            ),
            say=say_line,
        )
        options = LiveOptions(model=folder / "m.onkel", metrics_every=0, in_order=True)
        assert Pipe(model, options, source, file, Interrupts()).run() == 0
        writer.join()
        os.close(source)
        first = [json.loads(line) for line in answers.read_bytes().splitlines()]
        runs.append((first, capsys.readouterr().err.splitlines(), model))
    (first, said, model), (others, remarks, other) = runs
    assert said == remarks
    assert [answer["id"] for answer in first] == [answer["id"] for answer in others]
    for a, b in zip(first, others, strict=True):
        assert a.get("error") == b.get("error")
        p, q = a.get("prediction"), b.get("prediction")
        assert p == q or p == pytest.approx(q, rel=1e-6)
    counts = model.counts
    assert counts == other.counts
    # each line is a row that is answered, or a label, or a line on stderr says that it is neither
    labels_alone = {"doubled": 1, "unknown": 1}
    assert len(first) == len(lines) - sum(labels_alone.values())
    assert {name: counts[name] for name in labels_alone} == labels_alone
    assert len(said) == counts["refused"] + 2
    assert counts["labels"] == model.model.n_rows == onkel.load(tmp_path / "0/m.onkel").n_rows
    assert counts["labels"] >= 300


def _write_all(file, pieces, pause):
    for piece in pieces:
        left = memoryview(piece)
        while left:
            left = left[os.write(file, left[: 1 << 14]) :]
        time.sleep(pause)
    os.close(file)
