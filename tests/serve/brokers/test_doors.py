"""Each door against its broker: what is read, sent, and found again."""

from __future__ import annotations

import time

import pytest

from onkel.serve.brokers import open_door, place_of
from onkel.serve.brokers.door import Answer
from onkel.serve.brokers.order import Reader

pytestmark = pytest.mark.slow


@pytest.fixture
def opened(server, names):
    """``opened()``: a new door to the topics of the test."""
    doors = []

    def make(labels=True):
        scheme, where = server
        rows, out, of_labels = names
        door = open_door(f"{scheme}://{where}/{rows}", out, of_labels if labels else None)
        doors.append(door)
        return door

    yield make
    for door in doors:
        door.close()


def _all(read, n, **how):
    """Read until so many messages have come, and check that no more do."""
    found, until = [], time.monotonic() + 10
    while len(found) < n and time.monotonic() < until:
        found += read(7, **how)
    assert len(found) == n
    return found


def test_messages_are_read_once_and_in_order(opened, client, names):
    client.send(names[0], [b"%d" % k for k in range(100)])
    door = opened()
    door.begin({}, door.end())
    found = _all(door.rows, 100, seconds=0.1)
    assert sorted(int(m.payload) for m in found) == list(range(100))
    read = {}
    for message in found:
        before = read.setdefault(message.place, [])
        before.append(int(message.payload))
        assert abs(message.time - time.time() * 1e3) < 60e3
    assert all(own == sorted(own) for own in read.values())
    assert len({message.source for message in found}) == 100
    assert door.rows(7, 0.05) == []
    assert door.behind() == set()
    client.send(names[0], [b"100"])
    assert door.behind()
    assert [m.payload for m in _all(door.rows, 1, seconds=0.1)] == [b"100"]
    assert door.behind() == set()


def test_reading_goes_on_where_it_stood(opened, client, names):
    client.send(names[0], [b"%d" % k for k in range(60)])
    first = opened()
    first.begin({}, first.end())
    found = []
    while len(found) < 40:
        found += first.rows(5, 0.1)
    read = {message.place: message.at for message in found}
    first.close()
    second = opened()
    second.begin(read, second.end())
    found += _all(second.rows, 60 - len(found), seconds=0.1)
    assert sorted(int(m.payload) for m in found) == list(range(60))
    assert second.rows(5, 0.05) == []


def test_what_was_told_is_known(opened, client, names):
    client.send(names[0], [b"%d" % k for k in range(30)])
    door = opened()
    began = door.end()
    door.begin({}, began)
    rows = sorted(_all(door.rows, 30, seconds=0.1), key=lambda m: int(m.payload))
    answers = [Answer(m.source, k, b'{"id": %d}' % k) for k, m in enumerate(rows)]
    door.send(answers[:20])
    door.settle(10)
    middle = door.end()
    door.send(answers[20:])
    door.settle(10)
    assert door.sent(began) == {answer.source for answer in answers}
    assert door.sent(middle) == {answer.source for answer in answers[20:]}
    assert door.sent(door.end()) == set()
    found = client.read(names[1])
    assert sorted(payload for _, payload in found) == sorted(a.payload for a in answers)
    if client.scheme != "redis":
        assert {source for source, _ in found} == {answer.source for answer in answers}


def test_a_label_waits_for_its_row(opened, client, names):
    for k in range(0, 100, 10):
        client.send(names[0], [b"%d" % t for t in range(k, k + 10)])
        time.sleep(0.003)
        client.send(names[2], [b"%d" % t for t in range(k, k + 10)])
        time.sleep(0.003)
    door = opened()
    door.begin({}, door.end())
    reader, came, labels = Reader(door, True), set(), []
    until = time.monotonic() + 10
    while len(labels) < 100 and time.monotonic() < until:
        older, rows, younger = reader.read(7, 0.1)
        assert {int(m.payload) for m in older} <= came
        came |= {int(m.payload) for m in rows}
        assert {int(m.payload) for m in younger} <= came
        labels += older + younger
    assert len({message.source for message in labels}) == 100


def test_a_topic_that_was_made_anew_is_refused(opened, client, names):
    client.send(names[0], [b"%d" % k for k in range(50)])
    door = opened()
    door.begin({}, door.end())
    read = {message.place: message.at for message in _all(door.rows, 50, seconds=0.1)}
    door.close()
    client.remove(names[0])
    time.sleep(0.02)
    client.make(names[0])
    new = opened()
    with pytest.raises(ValueError, match="made anew"):
        new.begin(read, new.end())


def test_a_topic_that_is_not_there(server, names):
    scheme, where = server
    with pytest.raises(ValueError, match="nothing"):
        open_door(f"{scheme}://{where}/nothing", names[1])


def test_no_broker(server, names):
    with pytest.raises(ConnectionError, match=r"127\.0\.0\.1:9/rows: no "):
        open_door(f"{server[0]}://127.0.0.1:9/rows", names[1])


@pytest.mark.parametrize(
    ("source", "others", "why"),
    [
        ("kafka://host", ("out",), "a topic is expected"),
        ("kafka:///rows", ("out",), "a topic is expected"),
        ("kafka://host/rows", ("rows",), "topics of their own"),
        ("kafka://host/rows", ("out", "out"), "topics of their own"),
        ("kafka://host/rows", ("redis://host/out",), "same broker"),
    ],
)
def test_urls_that_name_no_door(source, others, why):
    with pytest.raises(ValueError, match=why):
        open_door(source, *others)


def test_urls():
    assert place_of("kafka://a,b:1/t") == ("kafka", "a:9092,b:1", "t")
    assert place_of("redis://h/s.x") == ("redis", "h:6379", "s.x")
