"""Files that stand at the root of the repository, as pages of the site."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_PAGES = {
    "project/changelog.md": "CHANGELOG.md",
    "project/contributing.md": "CONTRIBUTING.md",
    "project/security.md": "SECURITY.md",
    "project/conduct.md": "CODE_OF_CONDUCT.md",
}
_LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


def pages() -> dict[str, str]:
    """Each page by its path."""
    results = sorted((ROOT / "papers" / "results").glob("*.md"))
    papers = {f"papers/{name_of(path.name)}": str(path.relative_to(ROOT)) for path in results}
    every = _PAGES | papers
    at = {source: page for page, source in every.items()}
    return {page: _moved(source, page, at) for page, source in every.items()}


def papers_nav() -> list[Any]:
    """The pages of the papers, the one about all of them first."""
    names = sorted(path.name for path in (ROOT / "papers" / "results").glob("*.md"))
    return ["papers/index.md", *(f"papers/{name}" for name in names if name != "README.md")]


def name_of(file: str) -> str:
    """What a page of the papers is called on the site."""
    return "index.md" if file == "README.md" else file


def _moved(source: str, page: str, at: dict[str, str]) -> str:
    """The text of a file; its links lead to where the files are on the site."""

    def link(match: re.Match[str]) -> str:
        target, anchor = match[1], match[2] or ""
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        path = os.path.normpath(PurePosixPath(source).parent / target)
        found = at.get(path, path.removeprefix("docs/") if path.startswith("docs/") else None)
        if found is None:
            return f"](../{path}{anchor})"
        return f"]({os.path.relpath(found, PurePosixPath(page).parent)}{anchor})"

    return _LINK.sub(link, (ROOT / source).read_text("utf8"))
