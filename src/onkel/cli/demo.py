"""``onkel demo``: two streams, four or five learners, a minute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from onkel.cli.console import stderr, stdout

if TYPE_CHECKING:
    from onkel.evaluation.comparison.contest import Contest
    from onkel.streams import Block


_FAST = ("fogd", "nogd", "rrf", "pa")
# The default learns thousands of rows a second: enough for the digits only.
_ALL = ("okl", *_FAST)

Files = list[tuple[Path, str]]


def demo(
    out: Annotated[Path, typer.Option(help="Folder for models, reports and curves.")] = Path(
        "demo-output"
    ),
    rows: Annotated[int, typer.Option(min=1, help="Rows of the generated stream.")] = 1_000_000,
    passes: Annotated[int, typer.Option(min=1, help="Shuffled passes over the digits.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything.")] = 0,
) -> None:
    """Learn handwritten digits and a generated stream, and compare."""
    out.mkdir(parents=True, exist_ok=True)
    files = _digits(out, passes=passes, seed=seed)
    # no linear learner can separate its classes
    title = f"Generated stream, {rows:,} rows: 2 classes, 10 features, a nonlinear border"
    contest = _contest(_FAST, seed)
    files += _show("generated", title, contest, lambda s: generated_stream(rows, s), rows, out)
    console = stdout()
    console.print("written:", style="bold")
    for path, what in files:
        console.print(f"  {path!s:<32} {what}", soft_wrap=True)


def _digits(out: Path, *, passes: int, seed: int) -> Files:
    """Scikit-learn's handwritten digits in shuffled passes."""
    from sklearn.datasets import load_digits

    from onkel.evaluation.comparison.contest import permuted

    X, y = load_digits(return_X_y=True)
    X = X.astype("float32")

    def rows(seed: int) -> Iterator[Block]:
        for i in range(passes):
            for block in permuted(X, y, seed + i):
                yield block._replace(start=i * len(y) + block.start)

    title = f"Handwritten digits, {passes} shuffled passes: 10 classes, 64 pixels"
    contest = _contest(_ALL, seed, scaling="minmax")
    return _show("digits", title, contest, rows, passes * len(y), out)


def _contest(names: tuple[str, ...], seed: int, scaling: str = "auto") -> Contest:
    from onkel.evaluation.comparison.contest import Contest
    from onkel.evaluation.comparison.entries import entry

    return Contest([entry(name, "classification") for name in names], scaling, seed)


def _show(
    name: str,
    title: str,
    contest: Contest,
    rows: Callable[[int], Iterable[Block]],
    total: int,
    out: Path,
) -> Files:
    from onkel.cli.tables import comparison_table
    from onkel.evaluation.comparison.table import comparison
    from onkel.evaluation.curves import plot
    from onkel.evaluation.report import write_html

    console = stdout()
    console.print(f"\n[bold]{title}[/bold]")
    results = contest.play(rows, stderr(), runs=1, total=total)
    linear = {entry.name for entry in contest.entries if entry.linear}
    console.print(comparison_table(comparison(results, linear)))
    winner = min(results, key=lambda r: r.value if r.metric.lower_is_better else -r.value).name
    model, report, curve = (out / f"{name}{end}" for end in (".onkel", ".html", ".png"))
    contest.models[winner].save(model)
    plot(results, curve, title=title)
    settings = {"scaling": contest.scaling, "seed": contest.seed}
    write_html(results, report, title=title, lead="onkel demo", settings=settings, linear=linear)
    return [(model, f"model ({winner})"), (report, "report"), (curve, "learning curves")]


_BLOCK_ROWS = 4096


def generated_stream(n_rows: int, seed: int = 0) -> Iterator[Block]:
    """Two classes whose border is a wavy surface through the first three features.

    ``y = x_0·x_1 + sin(2·x_2) > 0`` with standard normal x: a linear function of x says next to
    nothing about y, and the features from the fourth on nothing at all.
    """
    import numpy as np

    from onkel.streams import Block

    rng = np.random.default_rng(seed)
    for start in range(0, n_rows, _BLOCK_ROWS):
        n = min(_BLOCK_ROWS, n_rows - start)
        X = rng.standard_normal((n, 10), dtype=np.float32)
        yield Block(X, X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) > 0, start)
