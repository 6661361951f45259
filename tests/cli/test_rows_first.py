"""Rows overtake labels that take long, rows that are poured into a pipe do not; nothing is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import deque

import numpy as np
import pytest

import onkel
from onkel.cli.live import backlog, rows_first
from onkel.cli.live.rows_first import RowsFirst
from onkel.explicit.model import ExplicitModel
from onkel.serve import LiveModel

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes as POSIX has them")


def _live(**how):
    learner = onkel.make("pa", task="regression")
    settings = {"missing": "auto", "dtype": "float64"}
    return LiveModel(onkel.StreamModel(learner, settings=settings), **how)


def _row(t, **more):
    return {"id": t, "a": t % 7 + 0.5, "place": f"p{t % 3}", **more}


def _searching(live, monkeypatch):
    """Rows before the labels of a learner that searches with each label."""
    monkeypatch.setattr(live.model.estimator, "rows_before_fit", lambda: 0, raising=False)
    return RowsFirst(live)


def test_rows_are_answered_first_and_labels_are_learned_in_their_order(monkeypatch):
    said = []
    live, alike = _live(say=said.append), _live(say=said.append)
    first = _searching(live, monkeypatch)
    events = [_row(0, y=1.0), *(_row(t, y=float(t % 5)) for t in range(1, 100)), _row(100)]
    events += [{"id": 100, "y": 2.0}]
    answers = list(first.take_all(events))
    assert [answer["id"] for answer in answers] == list(range(101))
    # the first label is learned before anything can be predicted, and no other was
    assert [answer["model_rows"] for answer in answers] == [0] + [1] * 100
    assert len(first) == 100
    learned = 0
    while first:
        learned += first.learn()
    assert learned == 100
    for event in events:
        alike.take(event)
    assert not said
    assert live.model.n_rows == alike.model.n_rows == 101
    probe = [{"a": 0.1 * k, "place": f"p{k % 4}"} for k in range(50)]
    assert live.model.predict(probe).tolist() == alike.model.predict(probe).tolist()


def test_what_is_refused_takes_its_label_along(monkeypatch):
    said = []
    live = _live(say=said.append)
    first = _searching(live, monkeypatch)
    events = [_row(0, y=1.0), _row(1), {"a": 1.0, "place": "p1", "y": 3.0}, _row(2, y=3.0)]
    # row 1 waits for its label: another one of its name is refused with what it brings
    events += [
        "line 9: is no JSON",
        {**_row(1), "y": 5.0},
        {"id": 1, "y": 4.0},
        {"id": 8, "y": 4.0},
    ]
    answers = list(first.take_all(events))
    assert ["error" in answer for answer in answers] == [False] * 4 + [True] * 2
    while first:
        first.learn()
    assert live.model.n_rows == 4
    assert live.counts["labels"] == 4
    assert [line.split(":")[0].split()[0] for line in said] == ["refused"] * 2 + ["unknown"]


@pytest.mark.parametrize("names", [["north", "south"], [None], [1, None, [2]]])
def test_an_id_may_come_again_or_be_left_out(names, monkeypatch):
    said, in_order = [], []
    live, alike = _live(say=said.append), _live(say=in_order.append)
    first = _searching(live, monkeypatch)
    events = [{**_row(t, y=float(t % 5)), "id": names[t % len(names)]} for t in range(60)]
    answers = list(first.take_all(events))
    while first:
        first.learn()
    expected = [alike.take(event) for event in events]
    assert [own["id"] for own in answers] == [own["id"] for own in expected]
    assert ["error" in own for own in answers] == ["error" in own for own in expected]
    assert said == in_order
    probe = [{"a": 0.1 * k, "place": f"p{k % 4}"} for k in range(50)]
    assert live.model.predict(probe).tolist() == alike.model.predict(probe).tolist()


@pytest.fixture
def few_in_memory(monkeypatch):
    """All but seven labels go to the disk, by and by."""
    monkeypatch.setattr(backlog, "_MOST", 7)
    monkeypatch.setattr(backlog, "_PIECE", 3)
    monkeypatch.setattr(backlog, "_FILE", 1000)


@pytest.mark.parametrize("most", [1, 2, 10])
@pytest.mark.parametrize("folder", ["", "gone"])
def test_no_row_whose_label_has_come_is_forgotten(most, folder, tmp_path, few_in_memory):
    """Where the disk cannot be written, labels are learned before more of them come."""
    said = []
    live = _live(say=said.append, most=most)
    first = RowsFirst(live, tmp_path / folder)
    answers, most_behind = 0, 0
    for answer in first.take_all([_row(t, y=float(t % 5)) for t in range(300)], True):
        answers += answer is not None
        most_behind = max(most_behind, len(first))
    assert answers == 300
    assert most_behind > 250 if not folder else most_behind <= 7 + 3 + most
    while first:
        first.learn()
    assert live.model.n_rows == 300
    assert live.late.n_forgotten == 0
    assert len(said) == bool(folder)


def test_labels_on_disk_are_learned_as_those_in_memory(tmp_path, few_in_memory, monkeypatch):
    """Text, gaps and whole numbers come back with their rows, and intervals and scores with them.

    Rows that never get a label neither hold up others nor take along those whose labels came.
    """
    rows = [_row(t, b=None if t % 2 else t, place="Ü") for t in range(1000, 1090)]
    events = [event for row in rows for event in (row, {"id": row["id"], "y": 1.5})
              if row["id"] % 3 or event is row]  # fmt: skip
    found = []
    for _ in range(2):
        said = []
        live = _live(say=said.append, most=20, level=0.9)
        first = RowsFirst(live, tmp_path)
        deque(first.take_all([_row(t, y=float(t % 7)) for t in range(120)], True), maxlen=0)
        while first:
            first.learn()
        answers = [own for own in first.take_all(events, True) if own is not None]
        assert len(answers) == 90
        assert len(first) == 60
        assert live.late.n_waiting == 20
        assert live.report()["waiting"] == 80
        while first:
            first.learn()
        assert live.counts["labels"] == 180
        assert live.report()["waiting"] == live.late.n_waiting == 20
        assert said == [f"id {id}: forgotten, as 20 younger rows wait"
                        for id in range(1002, 1031, 3)]  # fmt: skip
        found.append((answers, live.to_bytes()))
        monkeypatch.setattr(backlog, "_MOST", 1000)
    assert found[0] == found[1]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("answers", "left"), [(0.0, 0.01), (0.007, 0.005), (0.1, 0.003)])
def test_labels_learned_at_once_leave_rows_their_part_of_a_turn(answers, left, monkeypatch):
    """A label takes a millisecond here: of a turn of 12, what answering left, but 3 to 10 of it."""
    live, clock = _live(), [100.0]
    first = RowsFirst(live)
    monkeypatch.setattr(rows_first.time, "monotonic", lambda: clock[0])
    list(first.take_all([_row(0, y=1.0)]))
    list(first.take_all([_row(t, y=float(t % 5)) for t in range(1, 500)], True))
    take_run = rows_first.take_run

    def slow(live, kind, events):
        clock[0] += 1e-3 * len(events)
        return take_run(live, kind, events)

    monkeypatch.setattr(rows_first, "take_run", slow)
    taken = []
    while first:
        clock[0] += answers
        taken.append(first.learn())
    # it is not known at first how long a label takes
    assert sum(taken) == 499
    assert all(abs(1e-3 * n - left) < 1.1e-3 for n in taken[1:-1])


def test_events_that_cannot_all_be_in_time_overtake_labels(monkeypatch):
    """Each event by itself takes 3 milliseconds here, and rows may wait for 10."""
    live, clock = _live(), [100.0]
    first = RowsFirst(live)
    monkeypatch.setattr(rows_first.time, "monotonic", lambda: clock[0])
    list(first.take_all([_row(0, y=1.0)]))
    take_run = rows_first.take_run

    def slow(live, kind, events):
        clock[0] += 0.003
        return take_run(live, kind, events)

    monkeypatch.setattr(rows_first, "take_run", slow)
    known = []
    for start in (1, 11):
        events = [[_row(t), {"id": t, "y": float(t % 5)}] for t in range(start, start + 10)]
        answers = list(first.take_all([event for pair in events for event in pair]))
        known.append([own["model_rows"] for own in answers if own is not None])
        while first:
            first.learn()
    # it is not known at first; later it is, and no row waits in vain
    assert known == [[1, 2] + [3] * 8, [11] * 10]
    assert live.model.n_rows == 21
    # few events are in time
    assert [own and own["model_rows"] for own in first.take_all([_row(21), _row(22)])] == [21] * 2


def _moving(rng):
    """Values of which a challenger learns the second part."""
    X = rng.uniform(-1.0, 1.0, (2200, 3))
    X[1500:, 0] += 5.0
    y = np.sin(5.0 * X[:, 0]) * X[:, 1]
    y[1500:] += 10.0
    return X, y


def _remembered(rng):
    """Values that stay for a while, of which a second model learns what memory does not know."""
    X = rng.uniform(-1.0, 1.0, (2200, 3))
    return X, np.repeat(rng.normal(size=22), 100) + np.sin(5.0 * X[:, 0])


@pytest.mark.parametrize("values", [_moving, _remembered])
def test_cheap_labels_make_no_part_of_a_long_fit(monkeypatch, watch_steps, values):
    """`rows_before_fit` rows at once are learned without a fit; the row after them has one."""
    fits, refit = [], ExplicitModel.refit
    watch_steps(lambda: fits.append(1))
    monkeypatch.setattr(ExplicitModel, "refit", lambda own: (fits.append(1), refit(own))[1])
    X, y = values(np.random.default_rng(0))
    learner = onkel.make("okl", task="regression", n_components=30, random_state=0)
    start, dear = 0, 0
    while start < len(X):
        n = min(learner.rows_before_fit(), 64)
        rows = slice(start, start + int(max(n, 1)))
        before = len(fits)
        learner.partial_fit(X[rows], y[rows])
        assert not n or len(fits) == before
        start, dear = rows.stop, dear + (n == 0)
    # most of the rows that search or fit come one by one
    assert 100 < dear < 1600
    assert (learner.memory_.second is not None) == (values is _remembered)


def _process(path, *more):
    args = [sys.executable, "-m", "onkel", "live", path, "--task", "regression"]
    return subprocess.Popen(
        [*args, "--set", "n_components=50", *more],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
    )  # fmt: skip


def _lines(n):
    return [json.dumps(_row(t, y=float(t % 7))).encode() + b"\n" for t in range(n)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["TERM", "INT"])
def test_what_was_answered_is_learned_when_a_signal_comes(tmp_path, name):
    path, rng = tmp_path / "m.onkel", random.Random(name)
    process, rows = _process(path), _lines(400)
    process.stdin.write(rows[0])
    answers = [process.stdout.readline()]
    process.stdin.write(b"".join(rows[1:]))
    time.sleep(rng.uniform(0.0, 1.0))
    process.send_signal(signal.Signals[f"SIG{name}"])
    out, err = process.communicate(timeout=100)
    answers += out.splitlines()
    assert onkel.load(path).n_rows == len(answers), err
    assert f"{len(answers)} rows learned" in err.decode()
    assert [json.loads(line)["id"] for line in answers] == list(range(len(answers)))


@pytest.mark.slow
def test_rows_that_are_poured_are_taken_in_order(tmp_path):
    """A pipe that holds all rows, a file, and --in-order give the answers of single rows."""
    rows, source = _lines(900), tmp_path / "rows.jsonl"
    source.write_bytes(b"".join(rows))
    poured = _process(tmp_path / "poured.onkel").communicate(b"".join(rows), timeout=100)[0]
    file = _process(tmp_path / "file.onkel", str(source)).communicate(timeout=100)[0]
    process = _process(tmp_path / "paced.onkel", "--in-order")
    process.stdin.write(rows[0])
    paced = process.stdout.readline()
    paced += process.communicate(b"".join(rows[1:]), timeout=100)[0]
    for answers in (poured, file, paced):
        found = [json.loads(line) for line in answers.splitlines()]
        assert [own["model_rows"] for own in found] == list(range(900))


@pytest.mark.slow
def test_rows_that_come_by_and_by_overtake_labels(tmp_path):
    process, rows = _process(tmp_path / "m.onkel"), _lines(900)
    process.stdin.write(rows[0])
    answers = [process.stdout.readline()]
    for start in range(1, 900, 30):
        process.stdin.write(b"".join(rows[start : start + 30]))
        time.sleep(0.02)
    answers += process.communicate(timeout=100)[0].splitlines()
    known = [json.loads(line)["model_rows"] for line in answers]
    behind = np.arange(900) - known
    assert (np.diff(known) >= 0).all()
    assert behind.max() > 1
    assert onkel.load(tmp_path / "m.onkel").n_rows == 900
