"""The report: one self-contained HTML page, the same as Markdown, and all values as JSON."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from papers.cache import write_whole
from papers.cases import PAPERS, Experiment
from papers.figures import draw, to_svg
from papers.notes import notes, verdicts
from papers.registry import LAYOUTS
from papers.results import Result

INTRODUCTION = (
    "Every row of a stream is predicted before it is learned, once, in seeded random orders. Ours: "
    "mean ± sample standard deviation over the runs.",
    "Verdicts: met, within two of the paper's standard deviations (where it prints none, of ours, "
    "which count up to 5 % of the printed value); better, beyond; not met. Loss differs: the paper "
    "learned with another loss. Rows differ: other rows than the paper's, so the printed value is "
    "no yardstick; within or over: of the limit that the project set itself. Reference: nothing "
    "printed. No data: the set is not on the machine.",
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
    files["index.html"] = _html(parts, drawn, command)
    files["report.md"] = _markdown(parts, drawn, command)
    files["results.json"] = json.dumps({**about(command), "results": values}) + "\n"
    for name, text in files.items():
        write_whole(folder / name, text)
    return [folder / name for name in files]


def versions() -> str:
    """Versions of what results depend on, as one line."""
    libraries = ("onkel", "numpy", "scipy", "numba", "scikit-learn", "pyarrow")
    parts = [f"{name} {version(name)}" for name in libraries]
    return " · ".join([*parts, f"Python {platform.python_version()}", platform.system()])


def about(command: str) -> dict[str, str]:
    """Where results come from."""
    return {"command": command, "versions": versions(), "machine": _machine()}


def _machine() -> str:
    return f"{platform.machine()}, {os.cpu_count()} cores"


def _summary(parts: Sequence[Part]) -> str:
    return verdicts(r for part in parts if part.experiment.counted for r in part.results)


def _html(parts: Sequence[Part], drawn: dict[str, list[str]], command: str) -> str:
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    pages = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
    shown = []
    for part in parts:
        e = part.experiment
        content = LAYOUTS[e.layout].whole(part.results)
        about: dict[str, Any] = {
            "name": e.name, "title": e.title, "kind": e.kind, "protocol": e.protocol,
            "paper": PAPERS.get(e.paper, ""), "summary": LAYOUTS[e.layout].summary(part.results),
            "pictures": [Markup(svg) for svg in drawn[e.name]],
            "table": None if e.pictures else content, "notes": notes(part.results),
        }  # fmt: skip
        shown.append(about)
    page = pages.get_template("page.html.jinja")
    return page.render(
        parts=shown, introduction=INTRODUCTION, summary=_summary(parts), command=command,
        versions=versions(), machine=_machine(),
    )  # fmt: skip


def markdown_of(part: Part, pictures: int = 0, table: bool = False) -> str:
    """A section: title, protocol, pictures, table (of a figure if asked for), notes."""
    e = part.experiment
    text = [f"## {e.name}: {e.title}", f"{PAPERS.get(e.paper, '')}. {e.protocol}".lstrip(". ")]
    text += [f"![{e.title}]({e.name}-{i + 1}.svg)" for i in range(pictures)]
    if table or not e.pictures:
        layout = LAYOUTS[e.layout]
        text += [layout.summary(part.results), layout.markdown(part.results)]
    remarks = notes(part.results)
    return "\n\n".join([*text, *(["\n".join(f"- {line}" for line in remarks)] if remarks else [])])


def _markdown(parts: Sequence[Part], drawn: dict[str, list[str]], command: str) -> str:
    made = f"Made by `{command}` with {versions()} on {_machine()}."
    title = "# The papers' tables and figures, repeated"
    head = [title, made, *INTRODUCTION, _summary(parts)]
    sections = [markdown_of(part, len(drawn[part.experiment.name])) for part in parts]
    return "\n\n".join(text for text in [*head, *sections] if text) + "\n"
