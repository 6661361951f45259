"""The gallery: scripts in ``examples/`` run, and become pages with their output and pictures.

A script is plain Python. Its docstring is the page's title and introduction. ``# %%`` begins a new
part: the comment below it is text of the page, the code after it runs. What a part prints and the
figures that are open after it stand below its code.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import tempfile
import textwrap
import time
from dataclasses import dataclass, field
from typing import Any

from website.kept import ROOT, STYLE, made

SCRIPTS = ROOT / "examples"

CHAPTERS = {
    "Streams in time": [
        "drift_with_an_alarm",
        "electricity_with_bounds",
        "many_series",
    ],
    "Inside the learners": [
        "support_vectors_of_a_budget",
        "landmarks_that_move",
        "spectra_of_rrf",
        "aligned_frequencies",
        "a_width_learned",
        "any_map_any_rule",
    ],
    "Tables and scores": [
        "categories",
        "heavy_tails",
        "columns_that_matter",
        "one_row_explained",
        "comparing_learners",
        "honest_scores",
    ],
    "In use": [
        "late_labels",
        "a_live_pipe",
        "at_a_kafka_broker",
        "onnx_in_another_process",
        "merging_on_dask",
    ],
}


@dataclass
class Part:
    """A part of a script: its text, its code, and what came of it."""

    text: str
    code: str
    line: int
    printed: str = ""
    figures: list[bytes] = field(default_factory=list)


@dataclass
class Example:
    """A script that has run."""

    name: str
    title: str
    about: str
    parts: list[Part]
    seconds: float = 0.0

    @property
    def pictures(self) -> dict[str, bytes]:
        """Each picture by its name; the last one stands for the example."""
        found = [figure for part in self.parts for figure in part.figures]
        return {f"{self.name}-{i}.png": figure for i, figure in enumerate(found, 1)}


def nav() -> list[Any]:
    """The pages, chapter by chapter."""
    chapters = [
        {chapter: [{read(name).title: f"gallery/{name}.md"} for name in names]}
        for chapter, names in CHAPTERS.items()
    ]
    return ["gallery/index.md", *chapters]


def pages() -> dict[str, str | bytes]:
    """Each page and picture by its path."""
    examples = _examples()
    files: dict[str, str | bytes] = {"gallery/index.md": _index(examples)}
    for example in examples.values():
        files[f"gallery/{example.name}.md"] = _page(example)
        for name, content in example.pictures.items():
            files[f"gallery/images/{name}"] = content
    return files


def read(name: str) -> Example:
    """A script in its parts, not yet run."""
    text = (SCRIPTS / f"{name}.py").read_text("utf8")
    about = ast.get_docstring(ast.parse(text)) or ""
    title, _, intro = about.partition("\n")
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith("# %%")]
    parts = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        body = lines[start + 1 : end]
        n = next((i for i, line in enumerate(body) if not line.startswith("#")), len(body))
        prose = "\n".join(line.removeprefix("#").removeprefix(" ") for line in body[:n])
        code = "\n".join(body[n:])
        # errors name the line of the script
        skipped = len(code) - len(code.lstrip("\n"))
        parts.append(Part(prose, code.strip("\n"), start + 1 + n + skipped))
    return Example(name, title.rstrip("."), intro.strip(), parts)


def run(name: str) -> Example:
    """Run a script in a folder of its own."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    begun = time.perf_counter()
    example = read(name)
    path = str(SCRIPTS / f"{name}.py")
    names: dict[str, Any] = {"__name__": "__main__", "__file__": path}
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, plt.style.context(STYLE):
        os.chdir(folder)
        try:
            for part in example.parts:
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed), _quiet_show(plt):
                    exec(compile("\n" * part.line + part.code, path, "exec"), names)
                part.printed = printed.getvalue().rstrip()
                for number in plt.get_fignums():
                    picture = io.BytesIO()
                    plt.figure(number).savefig(picture, format="png")
                    part.figures.append(picture.getvalue())
                plt.close("all")
        finally:
            os.chdir(before)
    example.seconds = time.perf_counter() - begun
    return example


@contextlib.contextmanager
def _quiet_show(plt: Any) -> Any:
    show, plt.show = plt.show, lambda *args, **kwargs: None
    try:
        yield
    finally:
        plt.show = show


def _examples() -> dict[str, Example]:
    names = [name for chapter in CHAPTERS.values() for name in chapter]
    return made("example", run, names, lambda name: (SCRIPTS / f"{name}.py").read_bytes())


def _page(example: Example) -> str:
    """The picture that stands for the example comes first, all others below their code."""
    *others, main = [f"![{example.title}](images/{name}){{.onkel-figure}}\n"
                     for name in example.pictures]  # fmt: skip
    # no table of contents: the code may be as wide as it is written
    lines = ["---\nhide: [toc]\n---\n", f"# {example.title}\n", example.about, "", main]
    for part in example.parts:
        lines += [part.text, "", f"```python\n{part.code}\n```\n"]
        if part.printed:
            lines += [f"```text\n{part.printed}\n```\n"]
        for _ in part.figures:
            lines.append(others.pop(0) if others else "")
    lines += [
        f"`examples/{example.name}.py` is the whole script. It ran for {example.seconds:.0f} s "
        "when this site was built.\n"
    ]
    return "\n".join(lines)


def _index(examples: dict[str, Example]) -> str:
    """Cards with pictures."""
    lines = [
        "---\nhide: [toc]\n---\n\n# Gallery\n",
        f"{len(examples)} examples. Each is one plain script that ran when this site was built, on "
        "rows that it makes or that the repository holds.\n",
    ]
    for chapter, names in CHAPTERS.items():
        lines += [f"## {chapter}\n", '<div class="onkel-cards" markdown>\n']
        for name in names:
            example = examples[name]
            picture = list(example.pictures)[-1]
            sentence = re.split(r"(?<=[.!?])\s", " ".join(example.about.split()))[0]
            lines.append(
                textwrap.dedent(f"""\
                <div class="onkel-card" markdown>
                [![](images/{picture})]({name}.md)

                **[{example.title}]({name}.md)**

                {sentence}
                </div>
                """)
            )
        lines.append("</div>\n")
    return "\n".join(lines)
