"""The hooks of MkDocs: pages that are made at build time, and links that they need.

`mkdocs.yml` names the pages that stand under ``docs/``. Where its navigation says LEARNERS, GALLERY
or PAPERS, pages are made here: from the declarations of the learners, from the scripts in
``examples/``, and from the papers' pages in ``papers/results``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.utils import get_relative_url

from website import gallery, learners, portraits, reference, root

ROOT = Path(__file__).resolve().parents[1]
_ROLE = re.compile(r":(?:class|func|meth|mod|data|attr):<code>~?([\w.]+)</code>")
_PAPER = re.compile(r"\]\((?:\.\./)+papers/results/([\w.-]+\.md)")
_SOURCE = re.compile(
    r"\[([^\]]+)\]\((?:\.\./)+(?:src|tests|benchmarks|\.ci|papers/(?!results))[^)]*\)"
)
_CODE_OR_TAG = re.compile(
    r"(<(?:code|pre|script|style)\b.*?</(?:code|pre|script|style)>|<[^>]*>)", re.S
)
_IN_A_NUMBER = re.compile(r"(?<=\d)[ \n](?=\d{3}(?!\d)|%)")
_OPTION = re.compile(r"(?<![\w-])--[\w-]+")
# Pages that answer questions are found before those that list names and numbers. The search takes
# each word for the beginning of one: the "I" in "how do I add a kernel" also finds "intervals".
_BOOSTS = {
    "extending.md": 4.0,
    "guide": 2.0,
    "guide/model-files.md": 3.0,
    "learners": 0.3,
    "papers": 0.2,
    "project": 2.0,
    "reference": 0.7,
    "results": 0.5,
    "start.md": 2.0,
}


def on_config(config: Any) -> Any:
    """Put the pages that are made into the navigation."""
    made = {
        "LEARNERS": learners.nav(),
        "GALLERY": gallery.nav(),
        "API": reference.nav(),
        "PAPERS": root.papers_nav(),
    }

    def filled(entry: Any) -> Any:
        if isinstance(entry, list):
            return [filled(item) for item in entry]
        if isinstance(entry, dict):
            return {title: filled(item) for title, item in entry.items()}
        return made.get(entry, entry)

    config.nav = filled(config.nav)
    config.watch.extend(str(ROOT / name) for name in ("examples", "website"))
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages and pictures."""
    made: dict[str, str | bytes] = {
        **learners.pages(),
        **portraits.pages(),
        **gallery.pages(),
        **reference.pages(),
        **root.pages(),
    }
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **kwargs: Any) -> str:
    """Links to files beside ``docs/``: those of the papers' pages, and the text of all others."""
    path = page.file.src_uri
    boost = _BOOSTS.get(path, _BOOSTS.get(path.partition("/")[0], 1.0))
    page.meta.setdefault("search", {}).setdefault("boost", boost)
    up = "../" * path.count("/")
    markdown = _PAPER.sub(lambda m: f"]({up}papers/{root.name_of(m[1])}", markdown)
    return _SOURCE.sub(r"\1", markdown)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """``:class:`X``` of a docstring becomes a link, where the site has X."""
    classes = {name: (path, "") for name, path in learners.page_of().items()}
    objects = {
        name: (f"reference/{path}.md", f"#{package}.{name}")
        for path, package, name in reference.listed()
    }

    def link(match: re.Match[str]) -> str:
        name = match[1].rsplit(".", 1)[-1]
        path, anchor = (classes | objects).get(name, ("", ""))
        file = files.get_file_from_path(path)
        if file is None:
            return f"<code>{match[1]}</code>"
        return f'<a href="{get_relative_url(file.url, page.url)}{anchor}"><code>{name}</code></a>'

    return unbroken(_ROLE.sub(link, html))


def unbroken(html: str) -> str:
    """Numbers with blanks between their digits, or before a %, on one line; in code, options."""
    parts = _CODE_OR_TAG.split(html)
    parts[::2] = [_IN_A_NUMBER.sub("\N{NO-BREAK SPACE}", text) for text in parts[::2]]
    for i in range(1, len(parts), 2):
        if parts[i].startswith("<code>"):
            parts[i] = _OPTION.sub(r'<span class="onkel-whole">\g<0></span>', parts[i])
    return "".join(parts)
