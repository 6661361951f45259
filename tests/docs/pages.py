"""The pages a reader sees, and their blocks of code."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "papers" / "results").glob("*.md")),
]
_BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>.+?) -->\n)?(?P<indent> *)```(?P<language>\w*)\n"
    r"(?P<code>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A block of code: its language, its first line on the page, and why it cannot run, if so."""

    language: str
    code: str
    line: int
    reason: str


def blocks(page: Path) -> list[Block]:
    """All blocks of a page, in order."""
    text = page.read_text("utf8")
    return [
        Block(
            match["language"],
            textwrap.dedent(match["code"]),
            text[: match.start("code")].count("\n"),
            match["reason"] or "",
        )
        for match in _BLOCK.finditer(text)
    ]


def name(page: Path) -> str:
    """The path of a page in the repository."""
    return str(page.relative_to(ROOT))
