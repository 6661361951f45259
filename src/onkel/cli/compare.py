"""``onkel compare``: several algorithms over the same rows in the same orders."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onkel.cli import options
from onkel.cli.console import note, print_json, say_if_cold, stderr, stdout
from onkel.cli.options import takes

__all__ = ["CompareOptions", "compare"]

_SHUFFLE_BUFFER = 100_000


@dataclass(frozen=True, kw_only=True)
class CompareOptions(options.Learning):
    """What ``onkel compare`` was asked for."""

    settings: options.SettingsOfSome = None
    seed: options.FirstSeed = 0
    algorithms: options.Algorithms = "okl,krls,fogd,nogd,rrf,pa"
    runs: options.Runs = 5
    memory: options.Memory = 1000
    report: options.Report = None
    as_json: options.Json = False


@takes(CompareOptions)
def compare(options: CompareOptions) -> None:
    """Compare algorithms: the same rows, in the same orders, each tested before it learns.

    There is always a linear learner among them, to see what a kernel gains.

    Example: onkel compare letter.parquet --target y --runs 5 --report letter.html
    """
    from onkel.cli.contest import Contest, linear_names, params_by_algorithm
    from onkel.cli.values import choose_task, parse_settings
    from onkel.cli.writers import check_outputs

    check_outputs(options.report, inputs=[options.source])
    rows = _Rows(options)
    names, added = _with_linear(options.algorithms.split(","), linear_names())
    task, reason = choose_task(rows.first_targets(), options.task)
    if options.task == "auto":
        note(f"{task}: {reason}")
    params = params_by_algorithm(parse_settings(options.settings or ()), names, task)
    contest = Contest(names, task, params, options.scaling, options.seed, rows.encoder)
    note(rows.reading)
    note(f"{_runs(options.runs)}, order: {rows.order}, the same for every algorithm")
    say_if_cold()
    results = contest.play(
        rows.in_order, stderr(), runs=options.runs, total=rows.total, limit=options.limit
    )
    if options.report is not None:
        _report(options, results, rows, task, [rows.reading, *added])
    _show(options, results, rows, task)


@dataclass
class _Rows:
    """The source's rows: held in memory if they fit, else shuffled in a buffer."""

    options: CompareOptions
    order: str = "a seeded shuffle of all rows"
    held: tuple[Any, Any] | None = field(init=False)

    def __post_init__(self) -> None:
        from onkel.cli.rows import read_all
        from onkel.evaluation.text import count, duration

        began = time.perf_counter()
        stream = self.options.open()
        self.encoder = stream.encoder
        self.held = read_all(stream, self.options.memory * 1e6, self.options.limit)
        if self.held is not None:
            self.total: int | None = len(self.held[1])
            spent = duration(time.perf_counter() - began)
            self.reading = f"{count(self.total, 'row')} read once, in {spent}"
            return
        if self.options.source == "-":
            raise ValueError("stdin can be read only once: raise --memory, or use a file")
        self.total = None
        self.reading = "reading is part of 'in all'"
        self.order = f"a seeded shuffle buffer of {_SHUFFLE_BUFFER:,} rows"

    def first_targets(self) -> Any:
        """Targets of the first block."""
        return self.held[1][:4096] if self.held else next(iter(self.options.open())).y

    def in_order(self, seed: int) -> Iterable[Any]:
        """Blocks in the order of a seed."""
        from onkel.cli.rows import permuted

        if self.held is not None:
            return permuted(*self.held, seed)
        blocks: Iterable[Any] = self.options.open(
            shuffle=_SHUFFLE_BUFFER, random_state=seed, encoder=self.encoder, extend=True
        )
        return blocks


def _with_linear(names: Sequence[str], linear: set[str]) -> tuple[list[str], list[str]]:
    """The names, with a linear learner's if there is none; and a note on that."""
    from onkel.algorithms import LINEAR

    chosen = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    if linear & set(chosen):
        return chosen, []
    added = f"{LINEAR} was added: every comparison has a linear learner"
    note(added)
    return [*chosen, LINEAR], [added]


def _runs(n: int) -> str:
    from onkel.evaluation.text import count

    return count(n, "run")


def _show(options: CompareOptions, results: Sequence[Any], rows: _Rows, task: str) -> None:
    from onkel.cli.contest import linear_names
    from onkel.cli.tables import comparison_table, summaries_json

    if options.as_json:
        print_json(
            {
                "source": options.source,
                "task": task,
                "order": rows.order,
                "reading": rows.reading,
                "summary": summaries_json(results, linear_names()),
                "runs": [result.to_dict() for result in results],
                "report": options.report,
            }
        )
        return
    stdout().print(comparison_table(results, linear_names()))
    note(f"{results[0].n_rows:,} rows, {_runs(options.runs)}: mean ± standard deviation; bold: "
         "best, or within its std")  # fmt: skip
    if options.report is not None:
        note(f"report: {options.report}")


def _report(
    options: CompareOptions, results: Sequence[Any], rows: _Rows, task: str, notes: list[str]
) -> None:
    from onkel.cli.contest import linear_names
    from onkel.evaluation.report import write_html

    assert options.report is not None
    target = f" · target {options.target}" if options.target else ""
    settings = {"source": options.source, **options.reading(), "scaling": options.scaling}
    write_html(
        results,
        options.report,
        title=f"Comparison on {Path(options.source).name or options.source}",
        lead=f"{task}{target} · {_runs(options.runs)} · order: {rows.order}",
        notes=notes,
        linear=linear_names(),
        settings=settings | {"seed of the first run": options.seed},
    )
