"""What a first `onkel learn` costs: ``python -m benchmarks.start_up [--rounds N] [--rows N]``.

The first run on a machine compiles the loops it needs, and keeps them; the second loads them. For
small files of several kinds: seconds from start to exit, and CPU seconds, which other programs
disturb less. A round begins with an empty folder of compiled loops for every file.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.timing import head, line


def files(n: int) -> dict[str, pd.DataFrame]:
    """Four numbers, a text of few values, and a target y, of four kinds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    kind = rng.integers(0, 4, size=n)
    target = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.3 * kind + 0.1 * rng.normal(size=n)
    columns = dict(zip("abcd", np.round(X.T, 4), strict=True))
    columns["t"] = np.array(list("abcd"))[kind]
    classes = np.digitize(target, np.quantile(target, [0.25, 0.5, 0.75]))
    plain = pd.DataFrame(columns)
    gaps = plain.mask(rng.random(plain.shape) < 0.1)
    gaps.insert(0, "when", pd.Timestamp(2024, 1, 1) + pd.to_timedelta(np.arange(n), unit="h"))
    return {
        "a number": plain.assign(y=np.round(target, 5)),
        "two classes": plain.assign(y=np.where(classes > 1, "yes", "no")),
        "four classes": plain.assign(y=np.array(["low", "mid", "high", "top"])[classes]),
        "a number; a date, and gaps": gaps.assign(y=np.round(target, 5)),
    }


def run(path: Path, cache: Path) -> tuple[float, float]:
    """Seconds and CPU seconds of one `onkel learn`."""
    command = [sys.executable, "-m", "onkel", "learn", str(path), "--target", "y"]
    command += ["--save", str(path.with_suffix(".onkel"))]
    env = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=env)
    seconds, after = time.perf_counter() - start, os.times()
    own = after.children_user - before.children_user
    return seconds, own + after.children_system - before.children_system


def rounds(path: Path, n: int) -> list[list[tuple[float, float]]]:
    """For each round what a first and a second run took."""
    found = []
    for _ in range(n):
        with tempfile.TemporaryDirectory() as cache:
            found.append([run(path, Path(cache)) for _ in ("first", "second")])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1000)
    options = parser.parse_args()
    head("y", "first run", "CPU", "second run", "CPU")
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, rows) in enumerate(files(options.rows).items()):
            path = Path(folder) / f"rows{number}.csv"
            rows.to_csv(path, index=False)
            if not number:
                # Python keeps the bytecode of the sources
                rounds(path, 1)
            medians = np.array(
                [[statistics.median(each) for each in zip(*runs, strict=True)]
                 for runs in zip(*rounds(path, options.rounds), strict=True)]
            )  # fmt: skip
            line(name, *(f"{value:.1f} s" for value in medians.ravel()))


if __name__ == "__main__":
    main()
