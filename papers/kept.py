"""Runs that are kept beside the code: a paper's numbers as JSON, and its page, made from them.

``python -m papers NAME ... --keep`` adds runs to ``results/PAPER.json``, in place of runs of the
same cells with fewer orders; ``python -m papers pages`` writes ``results/PAPER.md`` anew. Verdicts
are computed when a page is written, and stand in no file of numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from papers.cache import write_whole
from papers.cases import PAPERS, Case, Experiment
from papers.headlines import headlines, not_met
from papers.notes import verdicts
from papers.pages import INTRODUCTION, Part, markdown_of
from papers.registry import EXPERIMENTS
from papers.results import Result
from papers.tables import markdown_table, mean_std

FOLDER = Path(__file__).parent / "results"
_COLUMNS = ("parameters", "n_rows", "searched", "comparable", "failures", "values", "seconds",
            "test_seconds")  # fmt: skip
_DIGITS = 7

Kept = dict[str, Any]


def key_of(case: Case) -> str:
    """The name of a cell or a point in its experiment."""
    return case.name if case.x is None else f"{case.name}, {case.x:g}"


def read(paper: str, folder: Path = FOLDER) -> Kept:
    """``runs`` by number: command, versions, machine; ``results``: experiment -> cell -> values."""
    file = folder / f"{paper}.json"
    if not file.exists():
        return {"runs": {}, "results": {}}
    return dict(json.loads(file.read_text(encoding="utf-8")))


def keep(parts: Sequence[Part], about: dict[str, str], folder: Path = FOLDER) -> list[Path]:
    """Add results to the files of their papers; the files and pages that were written."""
    written = []
    for paper in dict.fromkeys(part.experiment.paper for part in parts):
        kept = read(paper, folder)
        new = str(1 + max(map(int, kept["runs"]), default=0))
        run = next((number for number, known in kept["runs"].items() if known == about), new)
        kept["runs"][run] = about
        for part in parts:
            if part.experiment.paper == paper:
                _take(kept["results"].setdefault(part.experiment.name, {}), part.results, run)
        cells = [cell for of_it in kept["results"].values() for cell in of_it.values()]
        used = {cell["run"] for cell in cells}
        kept["runs"] = {number: known for number, known in kept["runs"].items() if number in used}
        write_whole(folder / f"{paper}.json", _lines(kept))
        written += [folder / f"{paper}.json", *write_pages([paper], folder)]
    return written


def _take(cells: dict[str, Any], results: Iterable[Result], run: str) -> None:
    """Results in place of those with as many runs or fewer."""
    for result in results:
        key = key_of(result.case)
        before = len(cells[key]["values"]) if key in cells else 0
        if len(result.values) >= max(before, 1):
            whole = result.to_dict()
            cells[key] = {"run": run, **{name: _short(whole[name]) for name in _COLUMNS}}
            if result.curve is not None and result.case.x is None:
                cells[key]["curve"] = _short([part.tolist() for part in result.curve])


def _short(value: Any) -> Any:
    if isinstance(value, list):
        return [_short(one) for one in value]
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _lines(kept: Kept) -> str:
    """JSON with a line for every run and every cell, so that a change is a few lines."""
    inner = ",\n".join(
        f' {json.dumps(name)}: {{\n'
        + ",\n".join(f"  {json.dumps(key, ensure_ascii=False)}: {json.dumps(cell)}"
                     for key, cell in cells.items())
        + "\n }" for name, cells in kept["results"].items()
    )  # fmt: skip
    runs = ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in kept["runs"].items())
    return f'{{"runs": {{\n{runs}\n}},\n"results": {{\n{inner}\n}}}}\n'


def results_of(experiment: Experiment, kept: Kept) -> list[Result]:
    """What was kept of an experiment, in the order of its cells."""
    cells = kept["results"].get(experiment.name, {})
    found = [(case, cells[key_of(case)]) for case in experiment.cases if key_of(case) in cells]
    return [_result(case, cell) for case, cell in found]


def _result(case: Case, cell: dict[str, Any]) -> Result:
    lists = ("failures", "values", "seconds", "test_seconds")
    columns = {name: tuple(cell[name]) for name in lists}
    columns["values"] = tuple(np.nan if value is None else value for value in columns["values"])
    curve = tuple(map(np.array, cell["curve"])) if "curve" in cell else None
    if case.search is not None and cell.get("searched"):
        # what the run saw, whatever the entry says today
        case = replace(case, search=replace(case.search, share=1.0, most=cell["searched"]))
    return Result(case=case.at(cell["parameters"]), n_rows=cell["n_rows"],
                  comparable=case.same_rows and cell["comparable"], curve=curve, **columns)  # type: ignore[arg-type]  # fmt: skip


def write_pages(papers: Iterable[str] = (), folder: Path = FOLDER) -> list[Path]:
    """Write the page of each paper from its numbers; all papers if none is named."""
    written = []
    for paper in papers or PAPERS:
        if (folder / f"{paper}.json").exists():
            write_whole(folder / f"{paper}.md", page(paper, folder))
            written.append(folder / f"{paper}.md")
    return written


def page(paper: str, folder: Path = FOLDER) -> str:
    """The page of a paper: what the numbers are, a section for every table and figure, the runs."""
    kept = read(paper, folder)
    entries = [entry for entry in EXPERIMENTS.values() if entry.paper == paper and entry.cases]
    parts = [Part(entry, results_of(entry, kept)) for entry in entries]
    counts = verdicts(r for part in parts if part.experiment.counted for r in part.results)
    found = {part.experiment.name: part.results for part in parts}
    claims, unmet = headlines(paper, found), not_met(paper, found)
    text = [f"# {PAPERS[paper]}"]
    text += [f"Printed numbers, and what the runs here say to them: {counts}."] if counts else []
    text += ["## What the paper claims, and what we found", claims] if claims else []
    text += ["## What is not met, and what was tried", unmet] if unmet else []
    text += [_section(part) for part in parts]
    text += ["## How to read this page", *INTRODUCTION, "## Runs", _runs(kept)]
    return "\n\n".join(part for part in text if part) + "\n"


def _section(part: Part) -> str:
    entry = part.experiment
    draw = f"`python -m papers {entry.name} --report out/` draws it."
    if not part.results:
        return f"## {entry.name}: {entry.title}\n\nNo numbers are kept here. {draw}"
    if all(result.case.x is not None for result in part.results):
        text = f"{markdown_of(part)}\n\n{_points(part.results)}"
    else:
        text = markdown_of(part, table=True)
    return text + (f"\n\n{draw}" if entry.pictures else "") + _missing(part)


def _points(results: Sequence[Result]) -> str:
    """A figure's points: a line of the figure a row, its places as columns."""
    lines: dict[tuple[str, str], dict[float, str]] = {}
    for result in results:
        case = result.case
        line = (case.panel or case.dataset, case.label or case.algorithm)
        lines.setdefault(line, {})[case.x or 0.0] = mean_std(result.mean, None, case.quantity)
    tables: dict[tuple[float, ...], list[list[str]]] = {}
    for (panel, name), at in lines.items():
        tables.setdefault(tuple(sorted(at)), []).append([panel, name, *(at[x] for x in sorted(at))])
    left = ("data", "learner")
    return "\n\n".join(
        markdown_table((*left, *(f"{x:g}" for x in xs)), rows, left) for xs, rows in tables.items()
    )


def _missing(part: Part) -> str:
    """Cells that were not run for these numbers."""
    there = {key_of(result.case) for result in part.results}
    absent = [key_of(case) for case in part.experiment.cases if key_of(case) not in there]
    return f"\n\nNot run: {', '.join(absent)}." if absent else ""


def _runs(kept: Kept) -> str:
    runs = [f"- `{run['command']}` with {run['versions']} on {run['machine']}"
            for run in kept["runs"].values()]  # fmt: skip
    return "\n".join(runs)
