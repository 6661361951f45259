"""``onkel learn --workers N`` and ``--scheduler ADDRESS``: partitions in parallel, on Dask."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from onkel.cli.arguments import choose_task, learner_settings
from onkel.cli.console import complain, note, print_json, stderr, stdout
from onkel.cli.learn.options import LearnOptions
from onkel.cli.locating import located
from onkel.cli.outputs import check_outputs
from onkel.cli.signals import Interrupted, Interrupts
from onkel.cli.tables import facts_table
from onkel.columns.failures import count
from onkel.errors import DataError
from onkel.persistence.untouched import Untouched
from onkel.streams.files import is_pipe

if TYPE_CHECKING:
    from onkel.distributed import Learned, PartReport

# Fields that need the rows in one order, and their options.
_IN_ORDER = {
    "checkpoint": "--checkpoint", "resume": "--resume", "base": "--from", "group": "--group",
    "time": "--time", "shuffle": "--shuffle", "limit": "--limit", "report": "--report",
    "intervals": "--intervals",
}  # fmt: skip


def learn_with_workers(options: LearnOptions) -> None:
    """Learn the partitions of a source with several workers, and write the model."""
    from onkel.algorithms import DEFAULT
    from onkel.distributed import Plan, learn
    from onkel.distributed.learning import check_mergeable
    from onkel.learners.factory import make_estimator
    from onkel.persistence import save

    _check(options)
    check_outputs(options.save, inputs=options.sources)
    saved = Untouched(options.save)
    params = learner_settings(options)
    algorithm = options.algorithm or DEFAULT
    task = _task(options)
    plan = Plan(
        make_estimator(algorithm, task, params, options.seed),
        options.scaling,
        options.reading().changed(labels=options.task == "classification"),
        {**options.kept(algorithm, params), "task": task},
        seed=options.seed,
        skip_bad=options.skip_bad_partitions,
    )
    check_mergeable(plan.estimator)
    with Interrupts() as interrupts:
        try:
            with _client(options) as client, _progress(options) as watch:
                learned = learn(plan, options.source, client=client, watch=watch)
        except Interrupted as signal:
            complain(f"{signal.word}: no model was kept; those of partitions are merged at the end")
            raise typer.Exit(signal.status) from None
        with interrupts.held():
            for report in learned.left_out:
                note(f"left out: {_why(report)}")
            if (path := saved.path()) is not None:
                save(learned.model, path)
            else:
                note("no model was saved; add --save FILE")
            if saved.moved:
                complain(saved.moved)
            _show(options, learned, algorithm, path)
    if saved.moved:
        raise typer.Exit(1)


def _check(options: LearnOptions) -> None:
    given = [name for field, name in _IN_ORDER.items() if getattr(options, field)]
    if options.delay != "0":
        given.append("--delay")
    if given:
        raise ValueError(
            f"{', '.join(given)}: needs rows in one order, which partitions do not have; leave out "
            "this, or --workers and --scheduler"
        )
    for source in filter(is_pipe, options.sources):
        raise ValueError(f"{source}: is read only once, and workers read by themselves: give files")
    if options.workers is not None and options.scheduler is not None:
        raise ValueError("--workers starts a cluster, --scheduler uses a running one: give one")


def _task(options: LearnOptions) -> str:
    """The task, as the first rows of the source show it."""
    first = next(iter(options.open()), None)
    if first is None or first.y is None:
        what = "there are no rows" if first is None else "name the column to learn with --target"
        raise DataError(what, source=options.source_name)
    task, reason = choose_task(first.y, options.task)
    if options.task == "auto":
        note(f"{task}: {reason}")
    return task


@contextmanager
def _client(options: LearnOptions) -> Iterator[Any]:
    """A client of a new local cluster, or of the one whose address is given."""
    from onkel.distributed.partitions import client_of, dask, local_client

    try:
        dask()
    except ImportError as error:
        raise ValueError(str(error)) from None
    if options.scheduler is not None:
        found = client_of(options.scheduler)
    else:
        assert options.workers is not None
        found = local_client(options.workers)
    with found as client:
        try:
            workers = len(client.scheduler_info(n_workers=-1)["workers"])
            note(f"{count(workers, 'worker')}; dashboard: {client.dashboard_link}")
            yield client
        finally:
            if options.scheduler is None:
                client.cluster.close()


@contextmanager
def _progress(options: LearnOptions) -> Iterator[Any]:
    """A function that takes the report of each partition and shows progress."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=stderr(), disable=options.as_json) as bar:
        task = bar.add_task("fixing the map on a sample", total=None)
        done, rows = 0, 0

        def watch(report: PartReport) -> None:
            nonlocal done, rows
            done += report.name != "sample"
            rows += report.n_rows
            so_far = f"{count(done, 'partition')}, {count(rows, 'row')} learned"
            bar.update(task, description=so_far)
            if options.verbose:
                bar.console.print(_line(report), markup=False, soft_wrap=True)

        yield watch
        bar.update(task, total=1, completed=1)


def _why(report: PartReport) -> str:
    """The partition that was left out, and why; rows are counted within it."""
    assert report.error is not None
    text = located(report.error, counted="counted from 1 in this partition")
    return text if text.startswith(report.name) else f"{report.name}: {text}"


def _line(report: PartReport) -> str:
    if report.failure is not None:
        return f"{report.name}: left out"
    scores = ", ".join(_scores(report.metrics)) or "no rows beyond the sample"
    return f"{report.name}: {count(report.n_rows, 'row')}, {scores}, {report.seconds:.1f} s"


def _scores(metrics: dict[str, float]) -> list[str]:
    from onkel.metrics import METRICS

    return [f"{METRICS[name].title} {METRICS[name].format(v)}" for name, v in metrics.items()]


def _show(options: LearnOptions, learned: Learned, algorithm: str, saved: Path | None) -> None:
    """The result: a table, or one JSON object."""
    if options.as_json:
        print_json(_facts(learned, algorithm) | {"save": saved})
        return
    seconds = learned.seconds
    learning = ", ".join(f"{name} {seconds[name]:.1f} s" for name in ("sample", "parts", "merge"))
    rows = [
        ("algorithm", f"{algorithm} ({learned.model.task})"),
        ("rows", f"{learned.n_rows:,} in {count(len(learned.reports) - 1, 'partition')}"),
        ("score", f"{', '.join(_scores(learned.metrics))}   (before learning, by partition)"),
        ("workers", learning),
        ("in all", f"{seconds['in all']:.1f} s"),
    ]
    if saved is not None:
        rows.append(("save", str(saved)))
    stdout().print(facts_table(rows))


def _facts(learned: Learned, algorithm: str) -> dict[str, Any]:
    return {
        "algorithm": algorithm,
        "task": learned.model.task,
        "n_rows": learned.n_rows,
        "metrics": learned.metrics,
        "seconds": learned.seconds,
        "moved_bytes": learned.moved_bytes,
        "partitions": [
            {
                "name": one.name,
                "n_rows": one.n_rows,
                "metrics": one.metrics,
                "failure": one.error and _why(one),
            }
            for one in learned.reports
        ],
    }
