"""A service that is killed at random moments, and what its clients and its file say then.

``python -m tests.serve.killing --times 100 [--learner pa|krls|okl]``. Clients send rows and labels,
and send again what was not answered. Afterwards a model that nothing interrupts takes the cuts
that stood in the journal: each answer must be its answer, each label learned once, and the file
must have its bytes.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

from threadpoolctl import threadpool_limits

from onkel.serve import LiveModel
from onkel.serve.durable import DurableModel
from onkel.serve.journal import Journal

LEARNERS = {
    "pa": ["-a", "pa"],
    "krls": ["-a", "krls", "--set", "n_components=50"],
    "okl": ["-a", "okl", "--set", "speed=fast", "--set", "n_components=20"],
}
_CLIENTS = 4


class Service:
    """``onkel serve``, started again and again on one port."""

    def __init__(self, folder, learner, more=()):
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.command = [
            sys.executable, "-m", "onkel", "serve", str(folder / "m.onkel"), "--port",
            str(self.port), "--task", "regression", "--level", "0.9", *LEARNERS[learner], *more,
        ]  # fmt: skip
        self.log = (folder / "log").open("ab")

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        return self.process.wait()

    def answers(self):
        with closing(self.connection()) as connection:
            try:
                _post(connection, "/health", None)
                return True
            except (OSError, http.client.HTTPException):
                return False

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)


def _post(connection, path, value):
    """Status and answer."""
    if value is None:
        connection.request("GET", path)
    else:
        connection.request("POST", path, json.dumps(value), {"content-type": "application/json"})
    with connection.getresponse() as response:
        return response.status, json.loads(response.read())


class Client(threading.Thread):
    """Sends rows, and the labels of rows before, each until it is answered."""

    def __init__(self, name, service, ends):
        super().__init__(daemon=True)
        self.label, self.service, self.ends = name, service, ends
        self.rng = random.Random(name)
        self.answered, self.learned = {}, set()
        self.connection, self.error = service.connection(), None

    def run(self):
        try:
            self.send_all()
        except BaseException as error:
            self.error = error
        finally:
            self.connection.close()

    def send_all(self):
        waiting, t = [], 0
        while not self.ends.is_set() or waiting:
            if not self.ends.is_set():
                rows = [{"id": f"{self.label} {t + k}", "a": self.rng.gauss(0, 1), "b": k}
                        for k in range(self.rng.randint(1, 6))]  # fmt: skip
                t += len(rows)
                for row, answer in zip(rows, self.send("/predict", rows), strict=True):
                    assert answer["id"] == row["id"], answer
                    assert self.answered.setdefault(row["id"], answer) == answer
                    waiting.append({"id": row["id"], "y": row["a"] * 2 + row["b"]})
            self.rng.shuffle(waiting)
            labels = [waiting.pop() for _ in range(min(len(waiting), 3))]
            if labels:
                for label, answer in zip(labels, self.send("/label", labels), strict=True):
                    assert answer == {"id": label["id"], "learned": True}, answer
                    self.learned.add(label["id"])

    def send(self, path, value):
        while True:
            try:
                status, answers = _post(self.connection, path, value)
                if status == 200:
                    return answers
                assert status == 503, (status, answers)
            except (OSError, http.client.HTTPException):
                # the next request opens it anew
                self.connection.close()
                time.sleep(0.02)


def _archive(journal, kept, ends):
    """Keep a link to each segment: the service removes them after a snapshot."""
    while not ends.wait(0.002):
        for path in journal.glob("*.journal"):
            link = kept / path.name
            try:
                if link.exists() and not link.samefile(path):
                    link.unlink()  # it had no record, and the service began it anew
                if not link.exists():
                    os.link(path, link)
            except OSError:
                continue


def play(times, learner="pa", seed=0, longest=1.0):
    """Kill a service so many times; how many rows and labels there were."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "kept").mkdir()
        (folder / "whole").mkdir()
        service = Service(folder, learner, ["--save-seconds", "0.3"])
        ends, archived = threading.Event(), threading.Event()
        archiving = threading.Thread(
            target=_archive, args=(folder / "m.onkel.journal", folder / "kept", archived)
        )
        archiving.start()
        service.start()
        try:
            while not (folder / "m.onkel").exists():
                assert service.process.poll() is None, (folder / "log").read_text()
                time.sleep(0.01)
            shutil.copy(folder / "m.onkel", folder / "whole" / "m.onkel")
            clients = [Client(f"client {k}", service, ends) for k in range(_CLIENTS)]
            for client in clients:
                client.start()
            for _ in range(times):
                while not service.answers():
                    time.sleep(0.02)
                time.sleep(rng.uniform(0.0, longest))
                service.kill()
                service.start()
            ends.set()
            for client in clients:
                client.join()
                if client.error is not None:
                    raise client.error
            assert service.kill(signal.SIGTERM) == 0, (folder / "log").read_text()
        finally:
            ends.set()
            archived.set()
            archiving.join()
            if service.process.poll() is None:
                service.kill()
            service.log.close()
        with threadpool_limits(1, user_api="blas"):  # as the service
            return _compare(folder, clients)


def _compare(folder, clients):
    """Let a model take the same cuts without interruption, and compare."""
    live = LiveModel.load(folder / "m.onkel")
    how = live.saved_options | {"acknowledge": True, "say": lambda line: None}
    whole = DurableModel.open(folder / "whole" / "m.onkel", Journal(folder / "whole" / "j"),
                              lambda: None, **how)  # fmt: skip
    answers, learned = {}, []
    with Journal(folder / "kept") as cuts:
        for cut in cuts.records():
            for event, answer in zip(cut.events, whole.take(cut.events), strict=True):
                if "y" in event:
                    learned.append((event["id"], answer["learned"]))
                else:
                    answers.setdefault(answer["id"], answer)
    whole.snapshot()
    whole.journal.close()
    found = {id: own for client in clients for id, own in client.answered.items()}
    assert found == answers
    labels = set().union(*(client.learned for client in clients))
    assert labels == {id for id, _ in learned} == set(found)
    assert all(done for _, done in learned)
    assert whole.live.counts["labels"] == whole.live.model.n_rows == len(labels)
    assert (folder / "whole" / "m.onkel").read_bytes() == (folder / "m.onkel").read_bytes()
    return len(answers), whole.live.counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--learner", choices=LEARNERS, default="pa")
    options = parser.parse_args()
    rows, counts = play(options.times, options.learner)
    again = f"{counts['repeated']:,} rows and {counts['doubled']:,} labels came again"
    print(f"{options.learner}: {options.times} kills; {rows:,} rows were answered once, and their "
          f"{counts['labels']:,} labels learned once; {again}; the file has the bytes of a run "
          "without kills")  # fmt: skip


if __name__ == "__main__":
    main()
