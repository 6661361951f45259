"""``onkel compare``: several learners over the same rows in the same orders."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from onkel.cli import options
from onkel.cli.arguments import Learning, command
from onkel.cli.console import complain, note, print_json, stderr, stdout
from onkel.cli.options import MODEL, OUTPUT, RUN

_SHUFFLE_BUFFER = 100_000

Learners = Annotated[
    list[str] | None,
    typer.Option(
        "--algorithms", "-a", metavar="NAMES", rich_help_panel=MODEL,
        help="Names, separated by commas, each with optional settings: "
        "okl,fogd,fogd:n_components=100. Repeatable.",
    ),
]  # fmt: skip
Rivals = Annotated[
    list[str] | None,
    typer.Option(
        "--rival", metavar="MODULE:CLASS", rich_help_panel=MODEL,
        help="A learner of another library that has partial_fit, or one of River's: "
        "sklearn.linear_model:SGDClassifier:alpha=0.001. Repeatable.",
    ),
]  # fmt: skip
Order = Annotated[
    Literal["shuffled", "stream"],
    typer.Option(
        help="Order of the rows; with 'stream', runs differ only in seeds.", rich_help_panel=RUN
    ),
]
TableForm = Annotated[
    Literal["text", "markdown", "csv", "latex"],
    typer.Option("--table", help="Form of the table on stdout.", rich_help_panel=OUTPUT),
]
Figure = Annotated[
    Path | None,
    typer.Option(help="Learning curves: PNG, SVG or PDF.", metavar="FILE", rich_help_panel=OUTPUT),
]


@dataclass(frozen=True, kw_only=True)
class CompareOptions(Learning):
    """What ``onkel compare`` is given."""

    settings: options.SettingsOfSome = None
    seed: options.FirstSeed = 0
    algorithms: Learners = None
    rivals: Rivals = None
    runs: options.Runs = 5
    order: Order = "shuffled"
    memory: options.Memory = 1000
    jobs: options.Jobs = None
    table: TableForm = "text"
    figure: Figure = None
    report: options.Report = None
    as_json: options.Json = False


@command(CompareOptions)
def compare(options: CompareOptions) -> None:
    """Compare learners on the same rows in the same orders, testing each row before learning it.

    A linear learner is always compared, to show what a kernel gains. A star marks the best learner
    and those not significantly worse. Ctrl-C keeps finished runs.

    Example: onkel compare letter.parquet --target y -a okl,fogd:n_components=100 --runs 5
    """
    from onkel.cli.arguments import choose_task, parse_settings
    from onkel.cli.signals import Interrupted, Interrupts
    from onkel.evaluation.comparison.contest import Contest

    _check_files(options)
    rows = _Rows(options)
    task, reason = choose_task(rows.first_targets(), options.task)
    if options.task == "auto":
        note(f"{task}: {reason}")
    classes = rows.classes() if task == "classification" else None
    entries, added = _entries(
        options.algorithms, options.rivals, parse_settings(options.settings or ()), task, classes
    )
    note(rows.reading)
    note(f"{_runs(options.runs)}, order: {rows.order}, the same for every learner")
    status = 0
    with Interrupts() as interrupts:
        contest = Contest(
            entries, options.scaling, options.seed, rows.encoder, held=interrupts.held
        )
        try:
            rows.play(contest)
        except Interrupted as signal:
            if not contest.results:
                raise
            n, wanted = len(contest.results), len(entries) * options.runs
            complain(f"{signal.word}: {n} of {wanted} runs are finished, and shown")
            status = signal.status
    linear = {entry.name for entry in entries if entry.linear}
    _write_files(options, contest.results, rows, task, linear, [rows.reading, *added])
    _show(options, contest.results, rows, task, linear)
    if status:
        raise typer.Exit(status)


def _check_files(options: CompareOptions) -> None:
    """Check that the report and the figure can be written."""
    from onkel.cli.outputs import check_outputs, check_report

    check_outputs(options.report, options.figure, inputs=options.sources)
    check_report(options.report)
    _check_figure(options.figure)


@dataclass
class _Rows:
    """The source's rows: held in memory if they fit, else shuffled in a buffer."""

    options: CompareOptions
    order: str = "a seeded shuffle of all rows"
    held: tuple[Any, Any] | None = field(init=False)

    def __post_init__(self) -> None:
        from onkel.evaluation.comparison.contest import read_all
        from onkel.evaluation.formatting import count, duration
        from onkel.streams.files import is_pipe

        began = time.perf_counter()
        stream = self.options.open()
        self.encoder = stream.encoder
        self.held = read_all(stream, self.options.memory * 1e6, self.options.limit)
        if self.held is not None:
            self.total: int | None = len(self.held[1])
            spent = duration(time.perf_counter() - began)
            self.reading = f"{count(self.total, 'row')} read once, in {spent}"
            self.order = self.order if self.options.order == "shuffled" else "that of the stream"
            return
        if any(map(is_pipe, self.options.sources)):
            raise ValueError("a pipe can be read only once: raise --memory, or use a file")
        self.total = None
        self.reading = "the time 'in all' includes reading"
        self.order = (
            f"a seeded shuffle buffer of {_SHUFFLE_BUFFER:,} rows"
            if self.options.order == "shuffled"
            else "that of the stream"
        )

    def play(self, contest: Any) -> None:
        """Let every learner of a contest learn the rows, in all orders."""
        contest.play(
            self.in_order,
            stderr(),
            runs=self.options.runs,
            total=self.total,
            limit=self.options.limit,
            jobs=self._jobs(len(contest.entries)),
        )

    def _jobs(self, n_learners: int) -> int:
        """Processes; one if each run has to read the source."""
        from onkel.evaluation.processes import jobs_for

        rows = (self.total or 0) * self.options.runs * n_learners
        return jobs_for(rows, self.options.jobs) if self.held is not None else 1

    def first_targets(self) -> Any:
        """Targets of the first block."""
        return self.held[1][:4096] if self.held else next(iter(self.options.open())).y

    def classes(self) -> Any:
        """All classes if the rows are held, else those of the first block."""
        import numpy as np

        return np.unique(self.held[1] if self.held else self.first_targets())

    def in_order(self, seed: int) -> Iterable[Any]:
        """Blocks in the order of a seed, or in the stream's order."""
        from onkel.evaluation.comparison.contest import in_order, permuted

        shuffled = self.options.order == "shuffled"
        if self.held is not None:
            return permuted(*self.held, seed) if shuffled else in_order(*self.held)
        blocks: Iterable[Any] = self.options.open(
            shuffle=_SHUFFLE_BUFFER if shuffled else 0,
            random_state=seed,
            encoder=self.encoder,
            extend=True,
        )
        return blocks


def _check_figure(path: Path | None) -> None:
    if path is not None and path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ValueError(f"--figure {path}: must end in .png, .svg or .pdf")


def _runs(n: int) -> str:
    from onkel.evaluation.formatting import count

    return count(n, "run")


def _show(
    options: CompareOptions, results: Sequence[Any], rows: _Rows, task: str, linear: set[str]
) -> None:
    from onkel.cli.tables import comparison_table
    from onkel.evaluation.comparison.table import as_records, comparison, write_table

    table = comparison(results, linear)
    files = {"report": options.report, "figure": options.figure}
    if options.as_json:
        print_json(
            {
                "source": options.source,
                "task": task,
                "order": rows.order,
                "reading": rows.reading,
                "summary": as_records(table, linear),
                "runs": [result.to_dict() for result in results],
                **files,
            }
        )
        return
    if options.table == "text":
        stdout().print(comparison_table(table))
    else:
        typer.echo(write_table(table, options.table), nl=False)
    note(table.note)
    for name, path in files.items():
        if path is not None:
            note(f"{name}: {path}")


def _write_files(
    options: CompareOptions,
    results: Sequence[Any],
    rows: _Rows,
    task: str,
    linear: set[str],
    notes: list[str],
) -> None:
    from onkel.evaluation.curves import plot
    from onkel.evaluation.report import write_html

    if options.figure is not None:
        plot(results, options.figure)
    if options.report is None:
        return
    target = f" · target {options.target}" if options.target else ""
    settings = {
        "source": options.source,
        **options.reading().settings(),
        "scaling": options.scaling,
    }
    write_html(
        results,
        options.report,
        title=f"Comparison on {options.source_name}",
        lead=f"{task}{target} · {_runs(options.runs)} · order: {rows.order}",
        notes=notes,
        linear=linear,
        settings=settings | {"seed of the first run": options.seed},
    )


DEFAULT_LEARNERS = "okl,krls,fogd,nogd,rrf,pa"


def _entries(
    algorithms: Sequence[str] | None,
    rivals: Sequence[str] | None,
    settings: dict[str, Any],
    task: str,
    classes: Any,
) -> tuple[list[Any], list[str]]:
    """The learners, plus a linear one if there is none; and a note if one was added.

    ``classes``: all classes, for rivals that ask for them.
    """
    from onkel.algorithms import LINEAR
    from onkel.evaluation.comparison.entries import entry, named, names_a_class, split_names

    given = split_names(",".join(algorithms or [DEFAULT_LEARNERS]))
    names = [name for name in given if not names_a_class(name)]
    others = [name for name in given if names_a_class(name)] + list(rivals or ())
    params = params_by_learner(settings, names, task)
    entries = [entry(name, task, params=params[name]) for name in names]
    entries += [entry(rival, task, classes=classes) for rival in others]
    if any(one.linear for one in entries):
        return named(entries), []
    added = f"{LINEAR} was added: every comparison has a linear learner"
    note(added)
    return named([*entries, entry(LINEAR, task)]), [added]


def params_by_learner(
    given: dict[str, Any], names: Sequence[str], task: str
) -> dict[str, dict[str, Any]]:
    """Parameters by learner: ``fogd.gamma`` goes to every fogd, ``gamma`` to all that have one.

    ValueError if no learner has a parameter, or a named learner is not compared.
    """
    from onkel.learners.making import close, make_estimator

    algorithms = {name: name.split(":")[0] for name in names}
    own = {name: make_estimator(a, task, {}) for name, a in algorithms.items()}
    known = {name: estimator.get_params(deep=False) for name, estimator in own.items()}
    params: dict[str, dict[str, Any]] = {name: {} for name in names}
    for key, value in given.items():
        owner, dot, parameter = key.rpartition(".")
        if dot and owner not in algorithms.values():
            choices = list(dict.fromkeys(algorithms.values()))
            raise ValueError(f"--set {key}: {owner!r} is not compared{close(owner, choices)}")
        owners = [name for name in names if not dot or algorithms[name] == owner]
        takers = [name for name in owners if parameter.split("__")[0] in known[name]]
        if not takers:
            choices = sorted({p for name in owners for p in known[name]})
            raise ValueError(f"--set {key}: no such parameter{close(parameter, choices)}")
        for taker in takers:
            params[taker][parameter] = value
    return params
