"""A stream of events in which everything goes wrong, and a process to be killed in it.

``python -m tests.serve.stream FOLDER SEED LEARNER`` takes the stream's cuts, from where the model
in the folder stands, and prints the number and the answers of each.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np

import onkel
from onkel.serve import LiveModel
from onkel.serve.durable import DurableModel
from onkel.serve.journal import Journal

LEARNERS = {
    "pa": ("pa", "regression", {}),
    "krls": ("krls", "regression", {"n_components": 30}),
    "okl": ("okl", "classification", {"n_components": 20, "speed": "fast"}),
}


def events(seed, n, task):
    """Rows, labels that come late, twice, never or for no row, and events that are none."""
    rng = np.random.default_rng(seed)
    waiting, found = [], []
    for t in range(n):
        a, b = rng.normal(size=2).tolist()
        row = {"id": f"row {t}" if t % 3 else t, "a": a, "b": b, "place": f"p{t % 5}"}
        y = a * b if task == "regression" else ("up" if a * b > 0 else "down")
        if t > n // 2:
            row["late"] = a + b
        chance = rng.uniform()
        if chance < 0.3:
            found.append(row | {"y": y})
        else:
            found.append(row)
            if chance < 0.95:
                waiting.append({"id": row["id"], "y": y})
        if rng.uniform() < 0.03:
            found.append([row, "line 7: no object", {"id": "nobody", "y": y}, {"a": [1]}][t % 4])
        while waiting and rng.uniform() < 0.6:
            label = waiting.pop(int(rng.integers(len(waiting))))
            found += [label] * (1 + (rng.uniform() < 0.05))
    return found


def cuts(seed, n, task):
    """The events, cut at random."""
    found, rng = events(seed, n, task), np.random.default_rng(seed + 1)
    while found:
        size = int(rng.integers(1, 30))
        yield found[:size]
        found = found[size:]


def opened(folder, learner, **more):
    """The model in a folder, and its journal."""
    name, task, params = LEARNERS[learner]

    def new():
        settings = {"missing": "auto", "dtype": "float32"}
        model = onkel.StreamModel(onkel.make(name, task=task, **params), settings=settings)
        return LiveModel(model, **how)

    level = 0.9 if task == "regression" else 0.0
    how = {"most": 40, "remember": 100, "once": True, "level": level, "say": lambda line: None}
    how |= more
    folder = Path(folder)
    journal = Journal(folder / "journal", segment_bytes=20_000)
    return DurableModel.open(folder / "m.onkel", journal, new, **how)


def play(folder, seed, learner, n=400, snapshots=13, stop=None):
    """Take the cuts that are missing; yields the number and the answers of each."""
    model = opened(folder, learner)
    for number, position, answers in model.recover():
        assert position == {"cut": number}
        yield number, answers
    rng = np.random.default_rng(os.getpid())
    for number, cut in enumerate(cuts(seed, n, LEARNERS[learner][1]), 1):
        if number <= model.number:
            continue
        if number == stop:
            break
        yield number, model.take(cut, {"cut": number})
        if rng.uniform() < 1 / snapshots:
            model.snapshot()
    else:
        model.snapshot()
    model.journal.close()


if __name__ == "__main__":
    folder, seed, learner = sys.argv[1:]
    for number, answers in play(folder, int(seed), learner):
        print(json.dumps([number, answers]), flush=True)
    print("done", flush=True)
