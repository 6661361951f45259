"""A model that crashes: the same answers and the same file as without a crash."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from tests.serve.soak import MOST, REMEMBER
from tests.serve.soak import play as play_soak
from tests.serve.stream import LEARNERS, cuts, opened, play

import onkel
from onkel.errors import JournalError, ModelFileError
from onkel.persistence import untouched
from onkel.serve import LiveModel, ids
from onkel.serve.durable import DurableModel
from onkel.serve.journal import Journal

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a journal needs the locks of POSIX")

_KILLS = 3


def _uninterrupted(folder, seed, learner):
    answers = dict(play(folder, seed, learner))
    return answers, (folder / "m.onkel").read_bytes()


def _folders(tmp_path):
    for name in ("whole", "broken"):
        (tmp_path / name).mkdir()
    return tmp_path / "whole", tmp_path / "broken"


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("seed", range(2))
def test_a_crash_after_any_cut_changes_nothing(tmp_path, seed, learner):
    whole, broken = _folders(tmp_path)
    expected, file = _uninterrupted(whole, seed, learner)
    assert sum(len(answers) for answers in expected.values()) > 400
    rng, found = random.Random(seed), {}
    stops = sorted(rng.sample(range(2, len(expected)), 4))
    for stop in [*stops, None]:
        for number, answers in play(
            broken, seed, learner, snapshots=rng.choice([3, 30]), stop=stop
        ):
            assert found.setdefault(number, answers) == answers
    assert found == expected
    assert (broken / "m.onkel").read_bytes() == file


@pytest.mark.slow
def test_a_process_that_is_killed_at_random_moments(tmp_path):
    whole, broken = _folders(tmp_path)
    expected, file = _uninterrupted(whole, 5, "okl")
    rng, found, kills = random.Random(7), {}, 0
    command = [sys.executable, "-m", "tests.serve.stream", str(broken), "5", "okl"]
    while True:
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            first = process.stdout.readline()
            if kills < _KILLS:
                time.sleep(rng.uniform(0.0, 0.1))
                process.send_signal(signal.SIGKILL)
            lines = [first, *process.stdout]
        kills += 1
        for line in lines:
            if line.endswith("]\n"):
                number, answers = json.loads(line)
                assert found.setdefault(number, answers) == answers
        if lines[-1] == "done\n":
            break
        assert kills < 100
    assert found == expected
    assert (broken / "m.onkel").read_bytes() == file


def test_a_repeated_row_gets_its_answer_again(tmp_path):
    model = opened(tmp_path, "pa")
    row, other = {"id": 1, "a": 1.0, "y": 2.0}, {"id": 2, "a": 2.0}
    answers = model.take([row, other])
    assert model.take([row, other, row]) == [*answers, answers[0]]
    assert model.take([{"id": 2, "y": 3.0}]) == [None]
    assert model.take([other])[0] == answers[1]
    (refused,) = model.take([{"id": 2, "a": 2.5}])
    assert "give it a new id" in refused["error"]
    assert model.live.counts == {"rows": 2, "labels": 2, "refused": 1, "unknown": 0, "doubled": 0,
                                 "late": 0, "repeated": 4}  # fmt: skip
    model.snapshot()
    model.journal.close()
    again = opened(tmp_path, "pa")
    assert again.live.counts == model.live.counts
    assert again.take([other])[0] == answers[1]
    assert again.live.model.n_rows == 2


def test_a_repeated_row_may_have_its_keys_in_another_order(tmp_path, monkeypatch):
    model = opened(tmp_path, "pa")
    row = {"id": 1, "a": 1.0, "b": None, "place": "p0", "y": 2.0}
    answers = model.take([row])
    assert model.take([dict(reversed(row.items()))]) == answers
    assert "error" in model.take([row | {"a": 2.0}])[0]
    # as earlier versions noted it
    monkeypatch.setattr(ids, "_mark", ids._mark_in_order)
    other = {"id": 2, "b": 1.0, "a": 1.0}
    answers = model.take([other])
    monkeypatch.undo()
    model.snapshot()
    model.journal.close()
    again = opened(tmp_path, "pa")
    assert again.take([other]) == answers
    assert again.live.counts["repeated"] == 2


def test_ids_are_remembered_within_a_bound(tmp_path):
    model = opened(tmp_path, "pa")
    for t in range(500):
        model.take([{"id": t, "a": t / 7, "y": 1.0}, {"id": -t - 1, "a": 1.0}])
    assert len(model.live.ids.answers) == 140
    assert len(model.live.ids.past) == 100
    assert len(model.live.ids.waiting) == 40


def test_what_json_cannot_hold_is_refused_and_nothing_is_taken(tmp_path):
    model = opened(tmp_path, "pa")
    with pytest.raises(TypeError, match="as JSON has them"):
        model.take([{"id": 1, "a": object()}])
    assert model.number == model.journal.last == 0


def test_cuts_are_not_taken_before_the_earlier_ones_were_recovered(tmp_path):
    model = opened(tmp_path, "pa")
    model.take([{"id": 1, "a": 1.0}])
    model.journal.close()
    again = opened(tmp_path, "pa")
    with pytest.raises(RuntimeError, match="recover"):
        again.take([{"id": 2, "a": 1.0}])
    assert len(list(again.recover())) == 1
    again.take([{"id": 2, "a": 1.0}])


def test_a_file_that_cannot_be_written_keeps_the_journal(tmp_path, monkeypatch):
    model = opened(tmp_path, "pa")
    model.take([{"id": 1, "a": 1.0, "y": 2.0}])

    def fails(path, content):
        raise ModelFileError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(untouched, "write_whole", fails)
        for _ in range(2):
            with pytest.raises(ModelFileError):
                model.snapshot()
    model.take([{"id": 2, "a": 1.0, "y": 2.0}])
    model.journal.close()
    again = opened(tmp_path, "pa")
    assert [number for number, _, _ in again.recover()] == [1, 2]
    again.snapshot()
    assert again.journal.is_empty


def test_a_lost_or_another_model_file_is_an_error(tmp_path):
    model = opened(tmp_path, "pa")
    model.take([{"id": 1, "a": 1.0, "y": 2.0}])
    model.journal.close()
    old = model.path.read_bytes()
    other = tmp_path / "other"
    other.mkdir()
    elsewhere = opened(other, "krls")
    model.path.write_bytes(elsewhere.path.read_bytes())
    with pytest.raises(JournalError, match="another model file"):
        opened(tmp_path, "pa")
    model.path.unlink()
    with pytest.raises(JournalError, match="does not exist"):
        opened(tmp_path, "pa")
    model.path.write_bytes(old)
    again = opened(tmp_path, "pa")
    list(again.recover())
    again.snapshot()
    again.journal.close()
    model.path.write_bytes(old)
    with pytest.raises(JournalError, match="are not of each other"):
        opened(tmp_path, "pa")


def _new():
    return LiveModel(onkel.StreamModel(onkel.make("pa", task="regression")), once=True)


def test_a_file_that_was_moved_away_is_written_again_though_nothing_came_since(tmp_path):
    path, folder = tmp_path / "m.onkel", tmp_path / "journal"
    model = DurableModel.open(path, Journal(folder), _new)
    model.take([{"id": 1, "a": 1.0, "y": 2.0}])
    model.snapshot()
    content = path.read_bytes()
    path.rename(tmp_path / "aside.onkel")
    model.snapshot()
    model.journal.close()
    assert path.read_bytes() == content
    again = DurableModel.open(path, Journal(folder), _new, once=True)
    assert (again.number, again.live.model.n_rows) == (1, 1)
    again.journal.close()


GONE = {
    "folder": shutil.rmtree,
    "renamed": lambda folder: folder.rename(tempfile.mkdtemp(dir=folder.parent)),
    "segments": lambda folder: [path.unlink() for path in folder.glob("*.journal")],
}


@pytest.mark.parametrize("gone", GONE.values(), ids=GONE)
@pytest.mark.parametrize("snapshots", [False, True])
def test_a_journal_that_is_removed_while_it_is_used_loses_nothing(tmp_path, gone, snapshots):
    path, folder = tmp_path / "m.onkel", tmp_path / "journal"
    model = DurableModel.open(path, Journal(folder), _new)
    for k in range(3):
        model.take([{"id": k, "a": 1.0, "y": 2.0}])
    if snapshots:
        model.snapshot()
    gone(folder)
    # one that is begun ahead is refused: until it is taken, the model cannot be saved
    begun = model.begin([{"id": 3, "a": 1.0, "y": 2.0}])
    with pytest.raises(JournalError, match="was removed while it was used"):
        model.finish(begun)
    for k in range(3, 6):
        model.take([{"id": k, "a": 1.0, "y": 2.0}])
    with pytest.raises(JournalError, match="another process uses this journal"):
        Journal(folder)
    model.journal.close()  # a crash
    again = DurableModel.open(path, Journal(folder), _new, once=True)
    assert [number for number, *_ in again.recover()] == [4, 5, 6]
    assert again.live.model.to_bytes() == model.live.model.to_bytes()
    gone(folder)
    assert again.journal.nbytes == 0
    again.snapshot()
    assert again.journal.nbytes > 0
    again.journal.close()


def test_without_its_file_a_journal_whose_cuts_are_all_learned_begins_no_new_model(tmp_path):
    path, folder = tmp_path / "m.onkel", tmp_path / "journal"
    model = DurableModel.open(path, Journal(folder), _new)
    model.take([{"id": 1, "a": 1.0, "y": 2.0}])
    model.snapshot()
    model.journal.close()
    path.rename(tmp_path / "aside.onkel")
    with pytest.raises(JournalError, match=r"m.onkel: does not exist.*restore the file"):
        DurableModel.open(path, Journal(folder), _new)
    assert not path.exists()
    (tmp_path / "aside.onkel").rename(path)
    again = DurableModel.open(path, Journal(folder), _new, once=True)
    assert again.live.model.n_rows == 1
    again.journal.close()


def test_cuts_are_taken_again_as_they_were_taken_first(tmp_path):
    model = opened(tmp_path, "pa")
    model.take([{"id": 1, "a": 1.0, "y": 2.0}])
    model.journal.close()
    with pytest.raises(JournalError, match="start with that"):
        opened(tmp_path, "pa", level=0.5)
    again = opened(tmp_path, "pa")
    list(again.recover())
    again.snapshot()
    again.journal.close()
    changed = opened(tmp_path, "pa", level=0.5)
    changed.take([{"id": 2, "a": 1.0, "y": 2.0}])
    changed.journal.close()
    again = opened(tmp_path, "pa", level=0.5)
    assert [number for number, _, _ in again.recover()] == [2]


def test_the_file_is_a_model_as_others_and_a_live_one_goes_on(tmp_path):
    model = opened(tmp_path, "pa")
    model.take([{"id": t, "a": t / 3, "y": t / 5} for t in range(10)])
    model.snapshot()
    assert onkel.load(model.path).n_rows == 10
    live = LiveModel.load(model.path, **model.live.options, say=pytest.fail)
    assert live.report()["score"] == model.live.report()["score"]
    assert live.to_bytes() == model.path.read_bytes()


@pytest.mark.slow
def test_counts_are_right_and_memory_is_bounded():
    found, expected, _, sizes, report = play_soak(20_000)
    assert found == expected
    assert sizes[0] <= MOST
    assert sizes[1] <= REMEMBER
    assert sizes[2] == sizes[0] + sizes[1]
    assert report["rows"] == found["rows"]


def test_a_cut_that_is_begun_is_on_disk_before_it_is_taken(tmp_path, monkeypatch):
    model = opened(tmp_path, "pa")
    list(model.recover())
    row = {"id": 1, "a": 1.0, "b": 1.0, "place": "p0"}
    begun = model.begin([row], "first")
    assert model.finish(begun) == [{"id": 1, "prediction": None, "model_rows": 0}]
    assert (model.number, model.position) == (1, "first")

    def fail(file, content):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as failing:
        failing.setattr("onkel.serve.journal._write", fail)
        begun = model.begin([row | {"id": 2}], "second")
        with pytest.raises(JournalError, match="nothing of these events was taken"):
            model.finish(begun)
    assert (model.number, model.position, model.journal.last) == (1, "first", 1)
    model.finish(model.begin([row | {"id": 3}], "third"))
    model.begin([row | {"id": 4}], "fourth")
    # a crash: what was begun is in the journal, and taken by the next start
    model.journal.close()
    again = opened(tmp_path, "pa")
    assert [position for _, position, _ in again.recover()] == ["first", "third", "fourth"]
    again.journal.close()


def test_a_journal_with_a_row_that_is_dropped_is_taken_again(tmp_path):
    def begun():
        settings = {"missing": "skip", "dtype": "float32"}
        return LiveModel(onkel.StreamModel(onkel.make("pa", task="regression"), settings=settings))

    rows = [{"id": k, "a": 1.0, "b": b, "y": 3.0} for k, b in enumerate([2.0, None, 5.0])]
    path, folder = tmp_path / "m.onkel", tmp_path / "journal"
    model = DurableModel.open(path, Journal(folder), begun)
    answers = model.take(rows)
    assert ["error" in answer for answer in answers] == [False, True, False]
    model.journal.close()
    again = DurableModel.open(path, Journal(folder), begun)
    assert [found for _, _, found in again.recover()] == [answers]
    assert again.live.model.n_rows == 2
    again.journal.close()


@pytest.mark.parametrize("ends", [MemoryError, OSError, KeyboardInterrupt])
def test_a_cut_that_breaks_off_is_taken_by_neither_model_nor_journal(tmp_path, monkeypatch, ends):
    whole, broken = _folders(tmp_path)
    for folder in (whole, broken):
        model = opened(folder, "krls")
        for number, cut in enumerate(cuts(3, 120, "regression"), 1):
            if number == 4:
                model.snapshot()
            if folder == broken and number in (2, 6, 7):
                before, on_disk = model.live.to_bytes(), model.journal.nbytes
                with monkeypatch.context() as patch:
                    patch.setattr(LiveModel, "take", _failing(LiveModel.take, ends, at=2))
                    with pytest.raises(ends):
                        model.take(cut, {"cut": number})
                assert model.live.to_bytes() == before
                assert (model.number, model.journal.last) == (number - 1, number - 1)
                assert model.journal.nbytes == on_disk
            model.take(cut, {"cut": number})
        kept = model.live.to_bytes()
        model.journal.close()
        again = opened(folder, "krls")
        list(again.recover())
        assert again.live.to_bytes() == kept
        again.snapshot()
        again.journal.close()
    assert (broken / "m.onkel").read_bytes() == (whole / "m.onkel").read_bytes()


def _failing(take, error, at):
    """A method of `LiveModel` with one argument, that does its work and then fails, once."""
    taken = []

    def take_and_fail(live, event):
        taken.append(take(live, event))
        if len(taken) == at:
            raise error
        return taken[-1]

    return take_and_fail


def test_a_model_that_cannot_be_made_anew_takes_and_writes_nothing(tmp_path, monkeypatch):
    model = opened(tmp_path, "pa")
    row = {"id": 1, "a": 1.0, "y": 2.0}
    model.take([row, row | {"id": 2}])
    file = model.path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(LiveModel, "take", _failing(LiveModel.take, MemoryError, at=1))
        patch.setattr(LiveModel, "become", _failing(LiveModel.become, MemoryError, at=1))
        with pytest.raises(MemoryError):
            model.take(["no event", row | {"id": 3}])
    for step in (model.snapshot, lambda: model.take([row])):
        with pytest.raises(JournalError, match="start again"):
            step()
    assert model.path.read_bytes() == file
    model.journal.close()
    again = opened(tmp_path, "pa")
    assert [number for number, _, _ in again.recover()] == [1]
    assert again.live.model.n_rows == 2
    again.journal.close()


def test_a_recovery_that_breaks_off_goes_on(tmp_path, monkeypatch):
    model = opened(tmp_path, "pa")
    expected = [model.take([{"id": t, "a": t / 7, "y": 1.0}, "no event"]) for t in range(5)]
    kept = model.live.to_bytes()
    model.journal.close()
    again = opened(tmp_path, "pa")
    found = []
    with monkeypatch.context() as patch:
        patch.setattr(LiveModel, "take", _failing(LiveModel.take, MemoryError, at=6))
        with pytest.raises(MemoryError):
            found.extend(answers for _, _, answers in again.recover())
    again.snapshot()
    found += [answers for _, _, answers in again.recover()]
    assert found == expected
    assert again.live.to_bytes() == kept
    again.journal.close()


def test_a_cut_that_breaks_off_while_the_next_is_written_is_taken_again(tmp_path, monkeypatch):
    model = opened(tmp_path, "pa")
    row = {"id": 1, "a": 1.0, "y": 2.0}
    first, second = model.begin([row, "no event"]), model.begin([row | {"id": 2}])
    with monkeypatch.context() as patch:
        patch.setattr(LiveModel, "take", _failing(LiveModel.take, MemoryError, at=1))
        with pytest.raises(MemoryError):
            model.finish(first)
    for step in (lambda: model.finish(second), lambda: model.take([row])):
        with pytest.raises(RuntimeError, match="recover"):
            step()
    assert [number for number, _, _ in model.recover()] == [1, 2]
    assert model.live.model.n_rows == 2
    model.journal.close()
