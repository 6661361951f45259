"""A model for each of many keys, on one machine: ``python -m benchmarks.live_keys [--keys N]``.

Each key's model learns 60 rows of five columns: ``n_components=50, speed="fast"``. Then rows come
for keys at random, one or many of them together. Bytes in memory and on disk, and processor time of
what `onkel serve --keyed` does below HTTP: journal, models in memory, and the file of the others.
"""

from __future__ import annotations

from benchmarks.timing import arguments, head, line  # first: it sets the threads

# isort: split
import gc
import os
import tempfile
import time
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import onkel
from onkel.serve import LiveModel
from onkel.serve.journal import Journal
from onkel.serve.keyed import KeyedModels

COLUMNS, ROWS = 5, 60
# Models that are made together, and keys that are asked together.
_TOGETHER = 50


def memory() -> int:
    """Bytes of this process."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text("utf8").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def events(rng: np.random.Generator, key: int, first: int, n: int) -> list[dict[str, Any]]:
    """n rows of a key with their labels."""
    X = rng.standard_normal((n, COLUMNS))
    y = np.sin(X[:, 0] + key) * X[:, 1]
    return [
        {"id": first + t, **{f"x{j}": v for j, v in enumerate(x)}, "y": float(own)}
        for t, (x, own) in enumerate(zip(X.tolist(), y, strict=True))
    ]


def opened(folder: Path, in_memory: int, megabytes: int) -> KeyedModels:
    """The models of a folder."""
    how = {"once": True, "acknowledge": True, "remember": 1_000, "say": lambda line: None}
    learner = onkel.make("okl", task="regression", n_components=50, speed="fast")
    model = onkel.StreamModel(learner, settings={"missing": "auto", "dtype": "float32"})
    models = KeyedModels(
        folder / "m.keys", LiveModel(model, **how).to_bytes(), Journal(folder / "journal"), how,
        max_models=in_memory, max_bytes=megabytes * 1_000_000,
    )  # fmt: skip
    models.recover()
    return models


def spent(models: KeyedModels, parts: list[tuple[str, list[dict[str, Any]]]]) -> list[float]:
    """Milliseconds that a take needs: of processor time, and passed."""
    cpu, passed = time.process_time(), time.perf_counter()
    models.take(parts)
    return [1e3 * (time.process_time() - cpu), 1e3 * (time.perf_counter() - passed)]


def asked(models: KeyedModels, keys: list[int], together: int, what: str, seed: int) -> None:
    """Send one row to each of the keys, so many keys together, and print what it takes."""
    rng, found = np.random.default_rng(seed), []
    for start in range(0, len(keys), together):
        own = keys[start : start + together]
        parts = [(f"key {key}", events(rng, key, 1000 * (seed + 1), 1)) for key in own]
        found.append([value / len(own) for value in spent(models, parts)])
    cpu, passed = np.array(found).T
    shares = (f"{share:.1f}" for share in (*np.percentile(passed, [50, 99]), np.median(cpu)))
    line(what, together, *shares)


def where() -> None:
    """Print where the memory of a default model goes, once it has 1,000 rows."""
    how = {"say": lambda line: None}
    model = onkel.StreamModel(onkel.make("okl", task="regression"))
    content = LiveModel(model, **how).to_bytes()
    rows = events(np.random.default_rng(0), 0, 0, 1_000)
    list(LiveModel.from_bytes(content, **how).take_all(rows))  # loads what is loaded once
    live = LiveModel.from_bytes(content, **how)
    tracemalloc.start(40)
    list(live.take_all(rows))
    gc.collect()
    found = tracemalloc.take_snapshot().traces
    tracemalloc.stop()
    parts = {"copies to undo rows with": "/copy.py", "cells": "default/cells.py",
             "memory of labels": "onkel/memory/", "least squares": "onkel/exact/",
             "landmarks and their search": "onkel/maps/"}  # fmt: skip
    sizes = Counter[str]()
    for trace in found:
        files = [frame.filename for frame in trace.traceback]
        passed = [name for name, file in parts.items() if any(file in own for own in files)]
        sizes[passed[0] if passed else "all else"] += trace.size
    print(f"\na default model of 1,000 rows: {len(live.to_bytes()) / 1e6:.1f} MB on disk, "
          f"{sum(sizes.values()) / 1e6:.1f} MB in memory")  # fmt: skip
    for name, size in sizes.most_common():
        print(f"- {name}: {size / 1e6:.1f} MB")


def main() -> None:
    options = arguments(__doc__ or "", keys=10_000, models=10_000, megabytes=1_000, requests=400)
    rng, n = np.random.default_rng(0), options.keys
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = opened(folder, options.models, options.megabytes)
        before, cpu = memory(), time.process_time()
        for first in range(0, n, _TOGETHER):
            parts = [(f"key {key}", events(rng, key, 0, ROWS))
                     for key in range(first, min(first + _TOGETHER, n))]  # fmt: skip
            models.take(parts)
        made = time.process_time() - cpu
        models.snapshot()
        report, disk = models.report(), (folder / "m.keys").stat().st_size
        used, kept = memory() - before, report["models_in_memory"]
        print(f"{report['models']:,} models of {ROWS} rows: {1e3 * made / n:.1f} ms of processor "
              f"time each; {kept:,} in memory take {used / 1e6:,.0f} MB ({used / kept / 1e3:,.0f} "
              f"kB each; {report['models_bytes'] / 1e6:,.0f} MB as counted); the file has "
              f"{disk / 1e6:,.0f} MB ({disk / n / 1e3:,.0f} kB each)\n")  # fmt: skip
        head("a row for a model", "keys together", "p50 ms a key", "p99 ms", "CPU ms a key")
        here = [int(key.split()[1]) for key in models._models]
        there = sorted(set(range(n)) - set(here))
        for k, together in enumerate((1, _TOGETHER)):
            size = options.requests * (1 if together == 1 else 5)
            asked(models, rng.permutation(here[-size:])[:size].tolist(), together, "in memory", k)
        for k, together in enumerate((1, _TOGETHER)):
            size = options.requests * (1 if together == 1 else 5)
            some = there[k * size : (k + 1) * size]
            asked(models, some, together, "on disk", k)
        print(f"\n{memory() / 1e6:,.0f} MB, the whole process")
        models.close()
    where()


if __name__ == "__main__":
    main()
