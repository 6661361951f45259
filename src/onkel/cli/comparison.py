"""The run behind ``onkel compare``."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from onkel.cli.comparing import Contest, linear_names, params_by_algorithm
from onkel.cli.console import note, print_json, say_if_cold, stderr, stdout
from onkel.cli.permuting import permuted, read_all
from onkel.cli.values import choose_task, parse_settings
from onkel.evaluation.result import PrequentialResult
from onkel.evaluation.text import count, duration

__all__ = ["Comparison"]

_SHUFFLE_BUFFER = 100_000


class Comparison:
    """One ``onkel compare``.

    Parameters
    ----------
    source : str
        Where the rows are.
    reading : dict
        For `onkel.streams.open_stream`.
    limit : int or None
        Rows used.
    most_bytes : float
        Above, the rows are not held in memory but shuffled in a buffer.
    """

    def __init__(
        self, source: str, reading: dict[str, Any], *, limit: int | None, most_bytes: float
    ) -> None:
        self.source = source
        self.reading = reading
        self.limit = limit
        self.results: list[PrequentialResult] = []
        began = time.perf_counter()
        stream = self._open()
        self.encoder = stream.encoder
        self.held = read_all(stream, most_bytes, limit)
        self.reading_time = "reading is part of 'in all'"
        if self.held is None:
            if source == "-":
                raise ValueError("stdin can be read only once: raise --memory, or use a file")
            self.order = f"a seeded shuffle buffer of {_SHUFFLE_BUFFER:,} rows"
        else:
            self.order = "a seeded shuffle of all rows"
            spent = duration(time.perf_counter() - began)
            self.reading_time = f"{count(len(self.held[1]), 'row')} read once, in {spent}"

    def choose(
        self,
        algorithms: Sequence[str],
        task: str,
        settings: Sequence[str],
        scaling: str,
        seed: int,
    ) -> None:
        """Settle what is compared.

        Parameters
        ----------
        algorithms : sequence of str
            Names; a linear one is added if there is none.
        task : str
            "auto" decides on the first block.
        settings : sequence of str
            ``name=value`` or ``algorithm.name=value``.
        scaling : str
            Of the features.
        seed : int
            Of the first run.
        """
        names = list(dict.fromkeys(name.strip() for name in algorithms if name.strip()))
        self.added = ""
        if not linear_names() & set(names):
            from onkel.algorithms import LINEAR

            names.append(LINEAR)
            self.added = f"{LINEAR} was added: every comparison has a linear learner"
            note(self.added)
        y = self.held[1][:4096] if self.held else next(iter(self._open())).y
        self.task, reason = choose_task(y, task)
        if task == "auto":
            note(f"{self.task}: {reason}")
        params = params_by_algorithm(parse_settings(settings), names, self.task)
        self.contest = Contest(names, self.task, params, scaling, seed, self.encoder)

    def run(self, runs: int) -> None:
        """Run them all.

        Parameters
        ----------
        runs : int
            Orders of the rows.
        """
        self.runs = runs
        total = len(self.held[1]) if self.held else None
        note(self.reading_time)
        note(f"{count(runs, 'run')}, order: {self.order}, the same for every algorithm")
        say_if_cold()
        self.results = self.contest.play(
            self._rows, stderr(), runs=runs, total=total, limit=self.limit
        )

    def show(self, *, report: Path | None, as_json: bool) -> None:
        """Print the table or the JSON object, and write the report.

        Parameters
        ----------
        report : Path or None
            HTML file.
        as_json : bool
            JSON instead of the table.
        """
        from onkel.cli.summary import comparison_table, summaries_json

        if report is not None:
            self._report(report)
        if as_json:
            print_json(
                {
                    "source": self.source,
                    "task": self.task,
                    "order": self.order,
                    "reading": self.reading_time,
                    "summary": summaries_json(self.results, linear_names()),
                    "runs": [result.to_dict() for result in self.results],
                    "report": report,
                }
            )
            return
        stdout().print(comparison_table(self.results, linear_names()))
        rows, runs = count(self.results[0].n_rows, "row"), count(self.runs, "run")
        note(f"{rows}, {runs}: mean ± standard deviation; bold: best, or within its std")
        if report is not None:
            note(f"report: {report}")

    def _report(self, path: Path) -> None:
        from onkel.evaluation.report import write_html

        target = f" · target {self.reading['target']}" if self.reading["target"] else ""
        write_html(
            self.results,
            path,
            title=f"Comparison on {Path(self.source).name or self.source}",
            lead=f"{self.task}{target} · {count(self.runs, 'run')} · order: {self.order}",
            notes=[text for text in (self.reading_time, self.added) if text],
            linear=linear_names(),
            settings={
                "source": self.source, **self.reading, "scaling": self.contest.scaling,
                "seed of the first run": self.contest.seed,
            },
        )  # fmt: skip

    def _open(self, **more: Any) -> Any:
        from onkel.streams import open_stream

        return open_stream(self.source, **self.reading, **more)

    def _rows(self, seed: int) -> Iterable[Any]:
        if self.held is not None:
            return permuted(*self.held, seed)
        return self._open(
            shuffle=_SHUFFLE_BUFFER, random_state=seed, encoder=self.encoder, extend=True
        )
