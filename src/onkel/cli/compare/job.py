"""The run behind ``onkel compare``: its rows, its learners, its table and files."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from onkel.algorithms import LINEAR
from onkel.annotations import Matrix
from onkel.cli.arguments import choose_task, parse_settings
from onkel.cli.compare.options import DEFAULT_LEARNERS, CompareOptions
from onkel.cli.console import complain, note, print_json, stderr, stdout
from onkel.cli.outputs import check_outputs, check_report, settings_to_show
from onkel.cli.signals import Interrupted, Interrupts
from onkel.cli.tables import show_comparison
from onkel.columns.failures import count
from onkel.evaluation.comparison.contest import Contest, permuted, read_all
from onkel.evaluation.comparison.entries import Entry, entry, named, names_a_class, split_names
from onkel.evaluation.comparison.table import as_records, comparison, write_table
from onkel.evaluation.curves import plot
from onkel.evaluation.formatting import duration
from onkel.evaluation.processes import jobs_for
from onkel.evaluation.report import write_html
from onkel.learners.factory import close, make_estimator
from onkel.streams.files import is_pipe

if TYPE_CHECKING:
    from onkel.evaluation.result import PrequentialResult
    from onkel.streams import Block

_SHUFFLE_BUFFER = 100_000


class CompareJob:
    """One ``onkel compare``."""

    task: str

    def __init__(self, options: CompareOptions) -> None:
        check_outputs(options.report, options.figure, inputs=options.sources)
        check_report(options.report)
        if options.figure is not None and options.figure.suffix.lower() not in _PICTURES:
            raise ValueError(f"--figure {options.figure}: must end in .png, .svg or .pdf")
        self.options: CompareOptions = options
        self.rows: _Rows = _Rows(options)
        self.task, reason = choose_task(self.rows.first_targets(), options.task)
        if options.task == "auto":
            note(f"{self.task}: {reason}")
        self.entries: list[Entry] = self._entries()
        self.linear: set[str] = {one.name for one in self.entries if one.linear}
        self.notes: list[str] = [self.rows.reading]
        if not self.linear:
            self.entries = named([*self.entries, entry(LINEAR, self.task)])
            self.linear = {LINEAR}
            self.notes.append(f"{LINEAR} was added: every comparison has a linear learner")
            note(self.notes[-1])

    def run(self) -> int:
        """Run it; returns the exit status. Runs that are finished when a signal comes are shown."""
        options, rows, status = self.options, self.rows, 0
        runs = count(options.runs, "run")
        note(rows.reading)
        note(f"{runs}, order: {rows.order}, the same for every learner")
        with Interrupts() as interrupts:
            contest = Contest(
                self.entries, options.scaling, options.seed, rows.encoder, held=interrupts.held
            )
            try:
                contest.play(
                    rows.in_order,
                    stderr(),
                    runs=options.runs,
                    total=rows.total,
                    limit=options.limit,
                    jobs=self._jobs(),
                )
            except Interrupted as signal:
                if not contest.results:
                    raise
                n, wanted = len(contest.results), len(self.entries) * options.runs
                complain(f"{signal.word}: {n} of {wanted} runs are finished, and shown")
                status = signal.status
        if options.figure is not None:
            plot(contest.results, options.figure)
        if options.report is not None:
            self._report(contest.results, runs)
        self._show(contest.results)
        return status

    def _entries(self) -> list[Any]:
        """The learners that are asked for; rivals may ask for all classes there are."""
        options, task = self.options, self.task
        given = split_names(",".join(options.algorithms or [DEFAULT_LEARNERS]))
        names = [name for name in given if not names_a_class(name)]
        others = [name for name in given if names_a_class(name)] + list(options.rivals or ())
        params = params_by_learner(parse_settings(options.settings or ()), names, task)
        classes = self.rows.classes() if task == "classification" else None
        entries = [entry(name, task, params=params[name]) for name in names]
        return named([*entries, *(entry(rival, task, classes=classes) for rival in others)])

    def _jobs(self) -> int:
        """Processes; one if each run has to read the source."""
        rows = (self.rows.total or 0) * self.options.runs * len(self.entries)
        return jobs_for(rows, self.options.jobs) if self.rows.held is not None else 1

    def _report(self, results: Sequence[PrequentialResult], runs: str) -> None:
        options = self.options
        assert options.report is not None
        target = f" · target {options.target}" if options.target else ""
        settings = {"source": options.source, **settings_to_show(options.reading().settings())}
        settings |= {"scaling": options.scaling, "seed of the first run": options.seed}
        write_html(
            [replace(result, settings=_of_all_runs(result.settings)) for result in results],
            options.report,
            title=f"Comparison on {options.source_name}",
            lead=f"{self.task}{target} · {runs} · order: {self.rows.order}",
            notes=self.notes,
            linear=self.linear,
            settings=settings,
        )

    def _show(self, results: Sequence[PrequentialResult]) -> None:
        options, table = self.options, comparison(results, self.linear)
        files = {"report": options.report, "figure": options.figure}
        if options.as_json:
            print_json(
                {
                    "source": options.source,
                    "task": self.task,
                    "order": self.rows.order,
                    "reading": self.rows.reading,
                    "summary": as_records(table, self.linear),
                    "runs": [result.to_dict() for result in results],
                    **files,
                }
            )
            return
        if options.table == "text":
            show_comparison(table, stdout())
        else:
            typer.echo(write_table(table, options.table), nl=False)
        note(table.note)
        for name, path in files.items():
            if path is not None:
                note(f"{name}: {path}")


_PICTURES = (".png", ".svg", ".pdf")


class _Rows:
    """The source's rows: held in memory if they fit, else shuffled in a buffer."""

    options: CompareOptions
    held: tuple[Matrix, np.ndarray] | None
    reading: str

    def __init__(self, options: CompareOptions) -> None:
        began = time.perf_counter()
        self.options, self._shuffled = options, options.order == "shuffled"
        stream = options.open()
        self.encoder: Any = stream.encoder
        self.held = read_all(stream, options.memory * 1e6, options.limit)
        self.total: int | None = None
        if self.held is not None:
            self.total = len(self.held[1])
            spent = duration(time.perf_counter() - began)
            self.reading = f"{count(self.total, 'row')} read once, in {spent}"
            shuffle = "a seeded shuffle of all rows"
        elif any(map(is_pipe, options.sources)):
            raise ValueError("a pipe can be read only once: raise --memory, or use a file")
        else:
            self.reading = "the time 'in all' includes reading"
            shuffle = f"a seeded shuffle buffer of {_SHUFFLE_BUFFER:,} rows"
        self.order: str = shuffle if self._shuffled else "that of the stream"

    def first_targets(self) -> Any:
        """Targets of the first block."""
        return self.held[1][:4096] if self.held else next(iter(self.options.open())).y

    def classes(self) -> Any:
        """All classes if the rows are held, else those of the first block."""
        return np.unique(self.held[1] if self.held else self.first_targets())

    def in_order(self, seed: int) -> Iterable[Block]:
        """Blocks in the order of a seed, or in the stream's order."""
        if self.held is not None:
            return permuted(*self.held, seed if self._shuffled else None)
        blocks: Iterable[Block] = self.options.open(
            shuffle=_SHUFFLE_BUFFER if self._shuffled else 0,
            random_state=seed,
            encoder=self.encoder,
            extend=True,
        )
        return blocks


def _of_all_runs(settings: dict[str, Any]) -> dict[str, Any]:
    """A learner's settings, which are the same in all of its runs."""
    return {name: value for name, value in settings.items() if name != "seed of the run"}


def params_by_learner(
    given: dict[str, Any], names: Sequence[str], task: str
) -> dict[str, dict[str, Any]]:
    """Parameters by learner: ``fogd.gamma`` goes to every fogd, ``gamma`` to all that have one.

    ValueError if no learner has a parameter, or a named learner is not compared.
    """
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
