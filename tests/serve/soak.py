"""Many events and many bad requests, and what a service has lost or kept after them.

``python -m tests.serve.soak --events 1000000`` takes events in this process, without HTTP: rows
whose labels come late, twice, for no row, or never. It prints the memory as it goes, and counts.

``python -m tests.serve.soak --malformed 10000 --idle 1000`` sends malformed requests to a service
while as many connections stand idle.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import socket
import tempfile
import time
from pathlib import Path

import onkel
from onkel.serve import LiveModel
from onkel.serve.durable import DurableModel
from onkel.serve.journal import Journal
from onkel.serve.one_model import OneModel

MOST, REMEMBER = 1_000, 2_000


def memory():
    """Bytes of the process."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text("utf8").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def new_models(folder):
    """A model and its journal in a folder, and what they are opened with."""
    how = {"most": MOST, "remember": REMEMBER, "once": True, "acknowledge": True,
           "say": lambda line: None}  # fmt: skip
    settings = {"missing": "auto", "dtype": "float32"}

    def new():
        return LiveModel(
            onkel.StreamModel(onkel.make("pa", task="regression"), settings=settings), **how
        )

    path = Path(folder)
    return OneModel(DurableModel.open(path / "m.onkel", Journal(path / "j"), new, **how))


def play(n, seed=0, say=None, cut=200):
    """Take n events; the model, and the counts that it must have."""
    rng = random.Random(seed)
    expected = dict.fromkeys(("rows", "labels", "unknown", "doubled", "late", "repeated"), 0)
    with tempfile.TemporaryDirectory() as folder:
        models = new_models(folder)
        waiting, forgotten, learned, t, taken = {}, [], [], 0, 0
        began, memories = time.monotonic(), []
        while taken < n:
            events = []
            while len(events) < cut:
                chance = rng.random()
                if chance < 0.55 or not waiting:
                    t += 1
                    row = {"id": t, "a": rng.gauss(0, 1), "b": rng.gauss(0, 1)}
                    events.append(row)
                    expected["rows"] += 1
                    if rng.random() < 0.01:  # the client did not hear the answer
                        events.append(row)
                        expected["repeated"] += 1
                    waiting[t] = None
                    if len(waiting) > MOST:
                        oldest = next(iter(waiting))
                        del waiting[oldest]
                        forgotten.append(oldest)
                elif chance < 0.98:
                    id = t if t in waiting and chance < 0.7 else next(iter(waiting))
                    if rng.random() < 0.06:
                        continue
                    if rng.random() < 0.1 and len(waiting) > 50:
                        continue
                    del waiting[id]
                    events.append({"id": id, "y": 1.0})
                    expected["labels"] += 1
                    learned.append(id)
                else:
                    kind = rng.choice(["unknown", "doubled", "late"])
                    past = {"doubled": learned, "late": forgotten}.get(kind)
                    if past == []:
                        continue
                    id = f"nobody {t}" if past is None else past[-1]
                    events.append({"id": id, "y": 2.0})
                    expected[kind] += 1
            models.take([(None, events)])
            models.tend()
            before, taken = taken, taken + len(events)
            learned, forgotten = learned[-10:], forgotten[-10:]
            if before // max(n // 10, 1) != taken // max(n // 10, 1):
                memories.append(memory())
                if say is not None:
                    rate = taken / (time.monotonic() - began)
                    say(f"{taken:>10,} events, {memories[-1] / 1e6:.1f} MB, {rate:,.0f} events/s")
        live = models.durable.live
        found = {name: live.counts[name] for name in expected}
        sizes = live.late.n_waiting, len(live.ids.past), len(live.ids.answers)
        report = models.report()
        models.close()
    return found, expected, memories, sizes, report


def idle_and_malformed(n, idle):
    """Send n malformed requests beside idle connections; the statuses, and what went wrong."""
    from tests.serve.serving import serving
    from tests.serve.test_http import play_malformed

    with tempfile.TemporaryDirectory() as folder, serving(new_models(folder)) as (service, client):
        assert client.post("/learn", {"id": 1, "a": 1.0, "b": 2.0, "y": 1.0})[0] == 200
        connections = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(idle)]
        for k, own in enumerate(connections):
            own.sendall(b"POST /learn HTTP/1.1\r\nhost: x\r\ncontent-le"[: k % 45])
        play_malformed(service.port, max(n // 5, 1))
        before = memory()
        statuses, bad = play_malformed(service.port, n, seed=1)
        after = memory()
        client.close()  # it may have been idle for too long
        assert client.post("/predict", {"a": 1.0, "b": 2.0})[0] == 200
        for own in connections:
            own.close()
    return statuses, bad, before, after


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=0)
    parser.add_argument("--malformed", type=int, default=0)
    parser.add_argument("--idle", type=int, default=0)
    options = parser.parse_args()
    if options.events:
        found, expected, _, sizes, _ = play(options.events, say=print)
        print(f"counts {found}; {'as' if found == expected else 'NOT as'} expected")
        print("waiting, remembered, answers kept:", *sizes)
    if options.malformed:
        statuses, bad, before, after = idle_and_malformed(options.malformed, options.idle)
        print(f"statuses {dict(sorted(statuses.items()))}; {len(bad)} without a reason or with 5xx")
        print(f"memory {before / 1e6:.1f} MB before, {after / 1e6:.1f} MB after")


if __name__ == "__main__":
    main()
