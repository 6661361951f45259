"""``onkel demo``: two streams, four or five learners, a minute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from onkel.cli.console import stderr, stdout
from onkel.columns.failures import count

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
    passes: Annotated[int, typer.Option(min=1, help="Shuffled passes over the digits.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything.")] = 0,
) -> None:
    """Learn handwritten digits and a generated stream, and compare."""
    out.mkdir(parents=True, exist_ok=True)
    from onkel.datasets import drift_stream

    files = _digits(out, passes=passes, seed=seed)
    # no linear learner can separate its classes
    title = f"Generated stream, {count(rows, 'row')}: 2 classes, 10 features, a nonlinear border"
    contest = _contest(_FAST, seed)

    def generated(seed: int) -> Iterator[Block]:
        return drift_stream("none", rows, seed, n_features=10, noise=0.0)

    files += _show("generated", title, contest, generated, rows, out)
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

    times = "one shuffled pass" if passes == 1 else f"{passes} shuffled passes"
    title = f"Handwritten digits, {times}: 10 classes, 64 pixels"
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
    from onkel.cli.tables import show_comparison
    from onkel.evaluation.comparison.table import comparison
    from onkel.evaluation.curves import plot
    from onkel.evaluation.report import write_html

    console = stdout()
    console.print(f"\n[bold]{title}[/bold]")
    results = contest.play(rows, stderr(), runs=1, total=total)
    linear = {entry.name for entry in contest.entries if entry.linear}
    show_comparison(comparison(results, linear), console)
    winner = min(results, key=lambda r: r.value if r.metric.lower_is_better else -r.value).name
    model, report, curve = (out / f"{name}{end}" for end in (".onkel", ".html", ".png"))
    contest.models[winner].save(model)
    plot(results, curve, title=title)
    settings = {"scaling": contest.scaling, "seed": contest.seed}
    write_html(results, report, title=title, lead="onkel demo", settings=settings, linear=linear)
    return [(model, f"model ({winner})"), (report, "report"), (curve, "learning curves")]
