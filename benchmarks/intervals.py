"""Intervals, sets and alarms that feedback keeps: coverage, Winkler scores, delays, cost.

    python -m benchmarks.intervals [--forecasts FOLDER] [--streams FOLDER] [--speed fast]
        [--keep FOLDER] [--rows N]

``--forecasts``: Parquet files with a target column y and columns of one-step forecasts; rows from
the 300th count. ``--streams``: Parquet files with a target column y in the order of time; the
default learner forecasts them, and every row counts; ``--keep``: a folder where its forecasts are
kept, and read the next time. *worst* and *most*: the least and the largest coverage in a window of
500 rows after the first 500. Winkler scores are divided by DtACI's. Then alarms: false ones where
nothing changes, and rows until one rings after changes of made-up scores (the median of 20) and of
the generated drifts.
"""

from __future__ import annotations

from benchmarks.timing import head, line, one_core  # first: it sets the threads

# isort: split
import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks import conformal
from benchmarks.recorded import Record, recorded, scores, values
from onkel import Alarm, ClassSets, Intervals, OnlineKernelClassifier
from onkel.datasets import drift_stream
from onkel.default.calibration import Calibration
from onkel.intervals.feedback import Feedback
from onkel.intervals.score import WINDOW, IntervalScore
from papers.rows import find_streams

LEVELS = [0.5, 0.8, 0.9, 0.95, 0.99]
FIRST = 300
METHODS = {
    "Intervals": lambda p, y, alpha: Intervals(1.0 - alpha).learn(p, y),
    "tracking": conformal.tracking,
    "two tails": conformal.two_tails,
    "rolling": lambda p, y, alpha: conformal.aci(p, y, alpha, 0.0),
    "ACI": conformal.aci,
    "DtACI": conformal.dtaci,
}


def measured(of: Record, first: int, level: float = 0.9) -> dict[str, dict]:
    """The measures of each method, from row ``first`` on."""
    p, y = of["p"], of["y"]
    bounds_of = {name: method(p, y, 1.0 - level) for name, method in METHODS.items()}
    if "std" in of:
        std = of["std"]
        bounds_of["by own deviation"] = (
            conformal.tracking(p / std, y / std, 1.0 - level) * std[:, None]
        )
    found = {}
    for name, bounds in bounds_of.items():
        score = IntervalScore(level)
        score.add(y[first:], bounds[first:])
        found[name] = score.summary() | {"most_window": most_window(y[first:], bounds[first:])}
    return found


def most_window(y: np.ndarray, bounds: np.ndarray) -> float:
    """The largest coverage in a window of 500 rows after the first 500."""
    inside = (bounds[WINDOW:, 0] <= y[WINDOW:]) & (y[WINDOW:] <= bounds[WINDOW:, 1])
    counts = np.concatenate([[0], np.cumsum(inside)])
    return float(np.max(counts[WINDOW:] - counts[:-WINDOW])) / WINDOW


def forecasts(folder: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, forecasts and targets."""
    import pyarrow.parquet as pq

    for path in sorted(folder.glob("*.parquet")):
        table = pq.read_table(path)
        y = table["y"].to_numpy()
        for name in table.column_names:
            p = table[name].to_numpy()
            known = np.isfinite(p) & np.isfinite(y)
            if name != "y" and known.sum() > 2 * FIRST:
                yield f"{path.stem}, {name}", p[known], y[known]


def show_bounds(rows: dict[str, Record], first: int) -> None:
    """At 90 %: coverage, its extremes in a window, and Winkler scores over DtACI's."""
    measures = {name: measured(of, first) for name, of in rows.items()}
    methods = sorted(next(iter(measures.values())), key=lambda method: method == "DtACI")
    head("coverage", "rows", *methods)
    for name, found in measures.items():
        cells = [f"{found[method]['coverage']:.3f}" for method in methods]
        line(name, f"{len(rows[name]['y']):,}", *cells)
    print()
    head("worst window", *methods, "most: Intervals")
    for name, found in measures.items():
        cells = [f"{found[method]['worst_window']:.3f}" for method in methods]
        line(name, *cells, f"{found['Intervals']['most_window']:.3f}")
    print()
    head("Winkler score", *methods[:-1], "DtACI's")
    ratios = []
    for name, found in measures.items():
        base = found["DtACI"]["winkler"]
        ratios.append([found[method]["winkler"] / base for method in methods[:-1]])
        line(name, *[f"{ratio:.3f}" for ratio in ratios[-1]], f"{base:.4g}")
    means = np.exp(np.mean(np.log(ratios), axis=0))
    line("geometric mean", *[f"{mean:.3f}" for mean in means], "")


def show_levels(rows: dict[str, Record]) -> None:
    """Coverage of nested levels, and the Winkler score over DtACI's."""
    head("stream", *[f"{100 * level:g} %: coverage, Winkler" for level in LEVELS])
    for name, of in rows.items():
        p, y = of["p"], of["y"]
        bounds, cells = Intervals(LEVELS).learn(p, y), []
        for i, level in enumerate(LEVELS):
            score, other = IntervalScore(level), IntervalScore(level)
            score.add(y, bounds[:, i])
            other.add(y, conformal.dtaci(p, y, 1.0 - level))
            found = score.summary()
            cells.append(f"{found['coverage']:.3f}, {score.winkler / other.winkler:.3f}")
        line(name, *cells)


def show_sets(rows: dict[str, Record]) -> None:
    """Coverage and mean size of predictive sets."""
    levels = LEVELS[1:]
    head("stream", "rows", "classes", "right", *[f"{100 * v:g} %: coverage, size" for v in levels])
    for name, of in rows.items():
        codes = of["codes"]
        P = Calibration().learn_all(of["s"], codes, np.ones(len(codes)))
        sets = ClassSets(levels).learn(P, codes)
        inside = sets[np.arange(len(codes)), :, codes].mean(axis=0)
        sizes = sets.sum(axis=2).mean(axis=0)
        right = (P.argmax(axis=1) == codes).mean()
        cells = [f"{a:.3f}, {b:.2f}" for a, b in zip(inside, sizes, strict=True)]
        line(name, f"{len(codes):,}", P.shape[1], f"{right:.3f}", *cells)


Draw = Callable[[int, np.random.Generator], np.ndarray]
DRAWS: dict[str, Draw] = {
    "mistakes, 6 %": lambda n, rng: (rng.random(n) < 0.06) * 1.0,
    "counts": lambda n, rng: rng.poisson(1.5, n) * 1.0,
    "half of them 0": lambda n, rng: (rng.random(n) < 0.5) * rng.exponential(size=n),
    "exponential": lambda n, rng: rng.exponential(size=n),
    "Cauchy": lambda n, rng: np.abs(rng.standard_cauchy(n)),
}


def show_false_alarms(n_rows: int) -> None:
    """On exchangeable scores."""
    head("scores", "streams", "rows each", "false alarms", "at most promised")
    rng = np.random.default_rng(0)
    for name, draw in DRAWS.items():
        rings = sum(len(Alarm(random_state=k).learn(draw(n_rows, rng))) for k in range(100))
        line(name, 100, f"{n_rows:,}", rings, f"{100 * n_rows / 1e5:.0f}")


def show_made_delays() -> None:
    """Scores of which a growing share, over ``width`` rows, is drawn otherwise."""
    widths, before = (0, 3000, 10_000), 10_000
    heads = [f"over {width:,} rows" if width else "at once" for width in widths]
    head("scores change", *heads)
    tasks: dict[str, tuple[Draw, Draw]] = {
        f"mistakes, {share:.0%} to 50 %": (
            lambda n, rng, share=share: (rng.random(n) < share) * 1.0,
            lambda n, rng: (rng.random(n) < 0.5) * 1.0,
        )
        for share in (0.02, 0.06, 0.15)
    }
    for name, draw in (("normal", np.random.Generator.standard_normal), ("Cauchy", _cauchy)):
        tasks[f"size of {name} errors, times 2"] = (
            lambda n, rng, draw=draw: np.abs(draw(rng, n)),
            lambda n, rng, draw=draw: 2.0 * np.abs(draw(rng, n)),
        )
    for name, (old, new) in tasks.items():
        cells = []
        for width in widths:
            delays, n = [], before + width + 10_000
            for seed in range(20):
                rng = np.random.default_rng(seed)
                share = (np.arange(n) - before) / max(width, 1)
                changed = rng.random(n) < share if width else share >= 0.0
                rings = Alarm(random_state=seed).learn(
                    np.where(changed, new(n, rng), old(n, rng)),
                )
                delays.append(min([r - before for r in rings if r >= before], default=n))
            cells.append(f"{np.median(delays):.0f}")
        line(name, *cells)


def _cauchy(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.standard_cauchy(n)


def show_alarms(speed: str, keep: Path | None) -> None:
    """Rows until a ring after the changes of generated drifts."""
    head("drift", "seed", "rings after a change, rows", "challenger, rows", "false", left=1)
    for kind in ("abrupt", "gradual", "none"):
        for seed in range(3):
            found = recorded(
                keep, f"drift-{kind}-{seed}-{speed}", mistakes, kind, seed, speed=speed
            )
            rings, changes = Alarm().learn(found["wrong"]), found["changes"]
            after = [[r - c for r in of if r >= c][:1] for c, of in _by_period(rings)]
            taken = [[r - c for r in of if r >= c][:1] for c, of in _by_period(changes)]
            false = len(rings) if kind == "none" else int((rings < PERIOD).sum())
            cells = [", ".join(str(r) for of in found for r in of) for found in (after, taken)]
            line(kind, seed, *(cells if kind != "none" else ("", "")), false)


PERIOD, DRIFT_ROWS = 20_000, 60_000


def _by_period(rows: np.ndarray | list[int]) -> list[tuple[int, list[int]]]:
    """The changes at 20 000 and 40 000, each with the rows up to the next."""
    return [(c, [int(r) for r in rows if c <= r < c + PERIOD]) for c in (PERIOD, 2 * PERIOD)]


def mistakes(kind: str, seed: int, speed: str) -> Record:
    """The default's mistakes, 0 or 1, on a generated drift, and where its challenger took over."""
    model, wrong = OnlineKernelClassifier(speed=speed), []
    for block in drift_stream(kind, DRIFT_ROWS, seed=seed, period=PERIOD):
        wrong.append(model.predict_then_learn(block.X, block.y) != block.y)
    return {"wrong": np.concatenate(wrong).astype(float), "changes": np.array(model.changes_, int)}


def show_cost() -> None:
    """Microseconds of CPU a row, in blocks and row by row."""
    rng = np.random.default_rng(0)
    p, y = rng.standard_normal((2, 100_000))
    P = rng.dirichlet(np.ones(4), 100_000)
    codes = rng.integers(0, 4, 100_000)
    values, shares = _rows_of(y, p, p), _rows_of(p > 1.5, P[:, 0], P[:, 0])
    tasks = {
        "Intervals(0.9), a block": lambda: Intervals(0.9).learn(p, y),
        "Intervals of five levels, a block": lambda: Intervals(LEVELS).learn(p, y),
        "ClassSets(0.9), 4 classes, a block": lambda: ClassSets(0.9).learn(P, codes),
        "Alarm(), a block": lambda: Alarm().learn(np.abs(p)),
        "Intervals(0.9), row by row": lambda: _by_row(Intervals(0.9), p, y),
        "all feedback of a regressor, row by row": lambda: _each(
            Feedback("regression").learn_values, values
        ),
        "all feedback of a classifier, row by row": lambda: _each(
            Feedback("classification").learn_classes, shares
        ),
    }
    head("what", "µs a row")
    for name, task in tasks.items():
        task()
        times = []
        for _ in range(5):
            began = time.process_time()
            task()
            times.append(time.process_time() - began)
        line(name, f"{1e6 * min(times) / 100_000:.2f}")


def _by_row(intervals: Intervals, p: np.ndarray, y: np.ndarray) -> None:
    for a, b in zip(p.tolist(), y.tolist(), strict=True):
        intervals.learn(a, b)


def _rows_of(*given: np.ndarray) -> list[tuple[np.ndarray, ...]]:
    return [tuple(one[t : t + 1] for one in given) for t in range(len(given[0]))]


def _each(learn: Callable[..., None], rows: list[tuple[np.ndarray, ...]]) -> None:
    for row in rows:
        learn(*row)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--forecasts", type=Path, help="a folder with forecasts")
    parser.add_argument("--streams", type=Path, help="a folder with streams")
    parser.add_argument("--speed", default="balanced", help="of the default learner")
    parser.add_argument("--keep", type=Path, help="a folder for what was predicted")
    parser.add_argument("--rows", type=int, default=100_000, help="of each stream without a change")
    options = parser.parse_args()
    one_core()
    if options.forecasts:
        found = {name: {"p": p, "y": y} for name, p, y in forecasts(options.forecasts)}
        show_bounds(found, FIRST)
        print()
    if options.streams:
        found = {"regression": {}, "classification": {}}
        for stream in find_streams(options.streams):
            X, y, task = stream.read()
            learn = values if task == "regression" else scores
            found[task][stream.name] = recorded(
                options.keep, f"{stream.name}-{options.speed}", learn, X, y, speed=options.speed
            )
        show_bounds(found["regression"], 0)
        print()
        show_levels(found["regression"])
        print()
        show_sets(found["classification"])
        print()
    show_false_alarms(options.rows)
    print()
    show_made_delays()
    print()
    show_alarms(options.speed, options.keep)
    print()
    show_cost()


if __name__ == "__main__":
    main()
