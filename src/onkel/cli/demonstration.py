"""The two streams of ``onkel demo``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from onkel.cli.comparing import Contest, linear_names
from onkel.cli.console import stderr, stdout
from onkel.cli.generated import generated_stream
from onkel.cli.permuting import permuted
from onkel.cli.summary import comparison_table
from onkel.evaluation.figure import plot
from onkel.evaluation.report import write_html
from onkel.evaluation.result import PrequentialResult
from onkel.streams import Block

__all__ = ["show_digits", "show_generated"]

_FAST = ("fogd", "nogd", "rrf", "pa")
# the most accurate learner is shown where its thousands of rows a second are enough
_ALL = ("okl", *_FAST)

Files = list[tuple[Path, str]]


def show_digits(out: Path, *, passes: int, seed: int) -> Files:
    """Learn scikit-learn's handwritten digits in shuffled passes.

    Parameters
    ----------
    out : Path
        Folder to write to.
    passes : int
        Times the 1 797 images are seen.
    seed : int
        Of the orders and the models.

    Returns
    -------
    list of (Path, str)
        Files and what they are.
    """
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X = X.astype("float32")

    def rows(seed: int) -> Iterator[Block]:
        for i in range(passes):
            for block in permuted(X, y, seed + i):
                yield Block(block.X, block.y, i * len(y) + block.start)

    title = f"Handwritten digits, {passes} shuffled passes: 10 classes, 64 pixels"
    contest = Contest(_ALL, "classification", {}, scaling="minmax", seed=seed)
    return _show("digits", title, contest, rows, passes * len(y), out)


def show_generated(out: Path, *, rows: int, seed: int) -> Files:
    """Learn a generated stream with a border no linear learner can follow.

    Parameters
    ----------
    out : Path
        Folder to write to.
    rows : int
        Length of the stream.
    seed : int
        Of the stream and the models.

    Returns
    -------
    list of (Path, str)
        Files and what they are.
    """
    title = f"Generated stream, {rows:,} rows: 2 classes, 10 features, a nonlinear border"
    contest = Contest(_FAST, "classification", {}, seed=seed)
    return _show("generated", title, contest, lambda s: generated_stream(rows, s), rows, out)


def _show(
    name: str,
    title: str,
    contest: Contest,
    rows: Callable[[int], Iterable[Any]],
    total: int,
    out: Path,
) -> Files:
    console = stdout()
    console.print(f"\n[bold]{title}[/bold]")
    results = contest.play(rows, stderr(), runs=1, total=total)
    console.print(comparison_table(results, linear_names()))
    return _write(name, title, contest, results, out)


def _write(
    name: str, title: str, contest: Contest, results: list[PrequentialResult], out: Path
) -> Files:
    winner = min(results, key=lambda r: r.value if r.metric.lower_is_better else -r.value).name
    model, report, curve = (out / f"{name}{end}" for end in (".onkel", ".html", ".png"))
    contest.models[winner].save(model)
    plot(results, curve, title=title)
    write_html(
        results,
        report,
        title=title,
        lead="onkel demo",
        settings={"scaling": contest.scaling, "seed": contest.seed},
        linear=linear_names(),
    )
    return [(model, f"model ({winner})"), (report, "report"), (curve, "learning curves")]
