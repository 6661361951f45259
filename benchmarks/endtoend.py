"""From file and command to model: ``python -m benchmarks.endtoend [--rows N] [--rounds N]``.

CSV from disk to model against the same rows from memory; one row through River's interface; and how
long a user waits: for ``import onkel``, for the first row of ``onkel learn`` on a machine that has
compiled before, and on one that has not.
"""

from __future__ import annotations

from benchmarks.timing import arguments, seconds  # first: it sets the threads

# isort: split
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
from rich.console import Console
from rich.table import Table

from benchmarks.streams import nonlinear
from onkel import FOGDClassifier, StreamModel, open_stream

# The command `onkel`, but it prints the time and exits just before it learns the first block.
FIRST_LEARNED = """
import os, sys, time
from onkel.cli import app
import onkel.pipeline
def learn(self, block):
    print(time.time(), flush=True)
    os._exit(0)
onkel.pipeline.StreamModel.learn = learn
from onkel.cli import main
sys.argv[0] = "onkel"
main()
"""
ONKEL = [sys.executable, "-m", "onkel"]


def goal(target: str, met: bool) -> str:
    return f"{target} {'ok' if met else 'MISSED'}"


def write_csv(path: Path, n: int) -> None:
    X, y = nonlinear(n)
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": y}
    pyarrow.csv.write_csv(pa.table(columns), path)


def learn_stream(source) -> None:
    model = StreamModel(FOGDClassifier(n_components=400, gamma=1 / 44, random_state=0))
    for block in open_stream(source, target=None if isinstance(source, tuple) else "y"):
        model.learn(block)


def csv_against_memory(table: Table, folder: Path, n: int, rounds: int) -> None:
    """FOGD D=400 with standardised inputs, 22 columns."""
    path = folder / "rows.csv"
    write_csv(path, n)
    X, y = nonlinear(n)
    times = seconds(
        {"csv": lambda: learn_stream(str(path)), "memory": lambda: learn_stream((X, y))}, rounds
    )
    csv, memory = n / times["csv"], n / times["memory"]
    table.add_row(
        f"CSV to model, {n:,} rows x 22, FOGD D=400",
        f"{csv / 1e3:,.0f} k rows/s; from memory {memory / 1e3:,.0f} k ({csv / memory:.2f}x)",
        goal("at least 0.5x", csv / memory >= 0.5),
    )


def median_of_runs(command: list[str], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def until_learning(arguments: list[str], rounds: int) -> float:
    """Median seconds from starting the command to the first row."""
    times = []
    for _ in range(rounds):
        start = time.time()
        command = [sys.executable, "-c", FIRST_LEARNED, *arguments]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        times.append(float(done.stdout) - start)
    return statistics.median(times)


def start_up(table: Table, folder: Path, rounds: int) -> None:
    """How long a user waits. The stream has 10 rows, so that only the start takes time."""
    bare = median_of_runs([sys.executable, "-c", "pass"], rounds)
    imported = median_of_runs([sys.executable, "-c", "import onkel"], rounds)
    table.add_row(
        "import onkel",
        f"{imported:.2f} s (bare Python {bare:.2f} s)",
        goal("0.5 s", imported < 0.5),
    )
    few = folder / "few.csv"
    write_csv(few, 10)
    for algorithm in ("krls", "rrf"):
        learn = ["learn", str(few), "--target", "y", "--json", "--algorithm", algorithm]
        median_of_runs([*ONKEL, *learn], 1)
        first = until_learning(learn, rounds)
        whole = median_of_runs([*ONKEL, *learn], rounds)
        table.add_row(
            f"onkel learn --algorithm {algorithm}, compiled before: until it learns",
            f"{first:.2f} s (10 rows, from start to exit: {whole:.2f} s)",
            goal("1.5 s", first < 1.5),
        )
        table.add_row("... on a cold machine", *cold_start([*ONKEL, *learn]))


def cold_start(command: list[str]) -> tuple[str, str]:
    """Seconds from start to exit with nothing compiled, and whether it says so."""
    with tempfile.TemporaryDirectory() as cache:
        env = os.environ | {"NUMBA_CACHE_DIR": cache}
        start = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, env=env, text=True)
        cold = time.perf_counter() - start
    said = "compiling" in done.stderr
    measured = f"{cold:.1f} s, {'says' if said else 'does NOT say'} that it compiles"
    return measured, goal("30 s, says so", cold < 30 and said)


def one_row_through_river(table: Table, rounds: int) -> None:
    """learn_one and predict_one of one row of 22 columns against River's own linear model."""
    from river import linear_model

    from onkel.compat.river import RiverClassifier

    X, y = nonlinear(2000)
    rows = [dict(zip(map(str, range(22)), map(float, x), strict=True)) for x in X]

    def run(model):
        for x, label in zip(rows, y, strict=True):
            model.predict_one(x)
            model.learn_one(x, bool(label))

    times = seconds(
        {
            "onkel": lambda: run(RiverClassifier(FOGDClassifier(n_components=400, gamma=1 / 44))),
            "river": lambda: run(linear_model.LogisticRegression()),
        },
        rounds,
    )
    own, river = times["onkel"] / 2000 * 1e6, times["river"] / 2000 * 1e6
    table.add_row(
        "predict_one + learn_one, FOGD D=400",
        f"{own:.0f} µs; River's LogisticRegression {river:.0f} µs ({own / river:.1f}x)",
        goal("at most 5x", own / river <= 5),
    )


def main() -> None:
    options = arguments(__doc__, rows=1_000_000, rounds=5)
    table = Table("what", "measured", "target", title="End to end on one core, medians")
    with tempfile.TemporaryDirectory() as name:
        csv_against_memory(table, Path(name), options.rows, options.rounds)
        start_up(table, Path(name), options.rounds)
    one_row_through_river(table, options.rounds)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
