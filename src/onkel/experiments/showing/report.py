"""The report: one self-contained HTML page, the same as Markdown, and all values as JSON."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onkel.evaluation.curves import to_svg
from onkel.evaluation.report import versions
from onkel.experiments.experiment import PAPERS, Experiment
from onkel.experiments.results import Result
from onkel.experiments.showing import notes
from onkel.experiments.showing.layouts import LAYOUTS
from onkel.experiments.showing.picture import draw
from onkel.persistence.files import atomic_file

INTRODUCTION = (
    "Every row of a stream is predicted before it is learned, once, in seeded random orders. Ours: "
    "mean ± sample standard deviation over the runs.",
    "Verdicts: met, within two of the paper's standard deviations (where it prints none, of ours, "
    "which count up to 5 % of the printed value); better, beyond; not met. Rows differ: other rows "
    "than the paper's, so the printed value is no yardstick; within or over: of the limit that the "
    "project set itself. Reference: nothing printed. No data: the set is not on the machine.",
    "Settings are ours: features are normalised, so that FOGD's η is the paper's times D. Steps: "
    "authors, from their scripts; search, found before on orders that are not reported; search "
    "here, found in this run on a random part of the rows (or of the training rows), in orders "
    "that are not reported; prior, set beforehand.",
    "Seconds are the median of a run, predicting and learning on one core. Machines differ, so "
    "they are no verdict; what carries over are ratios: seconds over FOGD's on the same data, "
    "ours and the paper's, stand in the last column.",
)


@dataclass(frozen=True)
class Part:
    """An experiment and its results."""

    experiment: Experiment
    results: list[Result]


def write_report(parts: Sequence[Part], folder: Path, command: str) -> list[Path]:
    """Write index.html, report.md, results.json and the figures; the paths written.

    Parameters
    ----------
    parts : sequence of Part
    folder : Path
        Made if it isn't there.
    command : str
        The command that made the report, so that it can be repeated.
    """
    drawn = {
        part.experiment.name: [to_svg(figure) for figure in draw(part.experiment, part.results)]
        for part in parts
    }
    files = {
        f"{name}-{i + 1}.svg": svg for name, svgs in drawn.items() for i, svg in enumerate(svgs)
    }
    values = {part.experiment.name: [r.to_dict() for r in part.results] for part in parts}
    about = {"command": command, "versions": versions(), "machine": _machine()}
    files["index.html"] = _html(parts, drawn, command)
    files["report.md"] = _markdown(parts, drawn, command)
    files["results.json"] = json.dumps({**about, "results": values}) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        with atomic_file(folder / name) as file:
            file.write(text.encode())
    return [folder / name for name in files]


def _machine() -> str:
    return f"{platform.machine()}, {os.cpu_count()} cores"


def _summary(parts: Sequence[Part]) -> str:
    return notes.summary(r for part in parts if not part.experiment.pictures for r in part.results)


def _html(parts: Sequence[Part], drawn: dict[str, list[str]], command: str) -> str:
    from jinja2 import ChoiceLoader, Environment, PackageLoader
    from markupsafe import Markup

    rooms = ("onkel.experiments.showing", "onkel.evaluation")
    pages = Environment(loader=ChoiceLoader([PackageLoader(r) for r in rooms]), autoescape=True)
    shown = []
    for part in parts:
        e = part.experiment
        content = LAYOUTS[e.layout].whole(part.results)
        about: dict[str, Any] = {
            "name": e.name, "title": e.title, "kind": e.kind, "protocol": e.protocol,
            "paper": PAPERS.get(e.paper, ""), "summary": LAYOUTS[e.layout].summary(part.results),
            "pictures": [Markup(svg) for svg in drawn[e.name]],
            "table": None if e.pictures else content, "notes": notes.notes(part.results),
        }  # fmt: skip
        shown.append(about)
    page = pages.get_template("page.html.jinja")
    return page.render(
        parts=shown, introduction=INTRODUCTION, summary=_summary(parts), command=command,
        versions=versions(), machine=_machine(),
    )  # fmt: skip


def markdown_of(part: Part, pictures: int = 0) -> str:
    """A section: title, protocol, pictures, table, notes."""
    e = part.experiment
    text = [f"## {e.name}: {e.title}", f"{PAPERS.get(e.paper, '')}. {e.protocol}".lstrip(". ")]
    text += [f"![{e.title}]({e.name}-{i + 1}.svg)" for i in range(pictures)]
    if not e.pictures:
        layout = LAYOUTS[e.layout]
        text += [layout.summary(part.results), layout.markdown(part.results)]
    told = notes.notes(part.results)
    return "\n\n".join([*text, *(["\n".join(f"- {line}" for line in told)] if told else [])])


def _markdown(parts: Sequence[Part], drawn: dict[str, list[str]], command: str) -> str:
    made = f"Made by `{command}` with {versions()} on {_machine()}."
    title = "# The papers' tables and figures, repeated"
    head = [title, made, *INTRODUCTION, _summary(parts)]
    sections = [markdown_of(part, len(drawn[part.experiment.name])) for part in parts]
    return "\n\n".join(text for text in [*head, *sections] if text) + "\n"
