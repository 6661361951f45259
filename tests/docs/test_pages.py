"""Every block of code on the README and the site runs, or says why it cannot."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from tests.docs.pages import PAGES, ROOT, blocks, name
from tests.docs.run_page import is_printed

from onkel.algorithms import ALGORITHMS
from website import learners

RUN = {"python", "sh", "console"}
OTHERS = {"", "text", "json", "bibtex", "js"}
#: blocks that cannot run here, by page; the reason stands before each
NOT_RUN = {
    "CONTRIBUTING.md": 1,
    "README.md": 1,
    "docs/guide/brokers.md": 1,
    "docs/guide/export.md": 1,
    "docs/guide/scaling.md": 7,
    "docs/guide/service.md": 1,
    "docs/results/experiments.md": 1,
    "docs/results/more-tables.md": 1,
    "docs/results/nolana.md": 1,
    "docs/results/peers.md": 1,
    "docs/results/regret.md": 2,
    "docs/results/tables.md": 1,
    "docs/start.md": 1,
}
FORMULA = '<code class="onkel-formula">'
_WITH_CODE = [
    page for page in PAGES if any(b.language in RUN and not b.reason for b in blocks(page))
]


def run_page(page, folder):
    """Run the blocks in a process of its own, so that what a page registers does not leak."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    run = subprocess.run(
        [sys.executable, "-m", "tests.docs.run_page", str(page)],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("page", _WITH_CODE, ids=name)
def test_the_blocks_of_a_page_run(page, tmp_path):
    run_page(page, tmp_path)


# blocks of Python on these pages are examples of docstrings, which run as doctests
@pytest.mark.slow
@pytest.mark.compiled
def test_the_commands_on_the_pages_of_the_learners_and_of_the_command_line_run(tmp_path):
    pytest.importorskip("mkdocs")
    from website import command_line

    texts = [text for page, text in learners.pages().items() if page != "learners/index.md"]
    found = re.findall(r"^```console\n\$ .*?^```$", "\n".join([*texts, command_line.page()]),
                       re.MULTILINE | re.DOTALL)  # fmt: skip
    # a service goes on until it is stopped: tests/serve start it
    commands = [block for block in found if "$ onkel serve " not in block]
    assert len(commands) == len(found) - 1 >= len(ALGORITHMS) + 9
    page = tmp_path / "commands.md"
    page.write_text("\n".join(commands), "utf8")
    run_page(page, tmp_path)


def test_what_a_page_shows_is_what_is_printed():
    printed = "rows      3,000 × 6 features\nmistakes  10.14 %   (lower is better)\n"
    assert is_printed("mistakes   10.2 % (lower is better)", printed)
    assert not is_printed("mistakes   11.2 % (lower is better)", printed)
    assert not is_printed("mistakes   10.2 %", printed)


def test_a_number_stays_on_one_line():
    pytest.importorskip("mkdocs")
    from website.hooks import unbroken

    html = "<p title='1 024'>8 192 rows, 131\n072, 17 % of <code>1 024</code> in 4 parts</p>"
    found = unbroken(html).replace("\N{NO-BREAK SPACE}", "_")
    assert found == (
        "<p title='1 024'>8_192 rows, 131_072, 17_% of <code>1 024</code> in 4 parts</p>"
    )


def test_an_option_stays_on_one_line():
    pytest.importorskip("mkdocs")
    from website.hooks import unbroken

    html = "<p><code>a-b --no-x 1</code></p><pre><code>--no-x</code></pre>"
    whole = '<span class="onkel-whole">--no-x</span>'
    assert unbroken(html) == html.replace("--no-x", whole, 1)


def test_blocks_that_cannot_run_are_counted():
    found = {name(page): sum(bool(b.reason) for b in blocks(page)) for page in PAGES}
    assert {page: n for page, n in found.items() if n} == NOT_RUN


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_block_of_code_says_its_language(page):
    for block in blocks(page):
        assert block.language in RUN | OTHERS, f"{name(page)}:{block.line}"
        if block.language not in RUN:
            command = re.search(r"^(\$ |onkel |pip |python |make |git )", block.code, re.MULTILINE)
            assert block.reason or not command, f"{name(page)}:{block.line}: mark it as sh"
    # a command that is indented without a fence would not run
    plain = re.sub(r"^( *)```.*?^\1```$", "", page.read_text("utf8"), flags=re.M | re.S)
    assert not re.search(r"^ {4}(onkel|python -m|pip) ", plain, re.MULTILINE)


def test_code_shows_no_backslash_before_a_bar():
    """In the code of a table Markdown keeps it, in a block of code everything does."""
    pytest.importorskip("mkdocs")
    from website import command_line

    for text in [command_line.page(), *(page.read_text("utf8") for page in PAGES)]:
        blocks_and_spans = re.findall(r"^```.*?^```$|`[^`\n]+`", text, re.MULTILINE | re.DOTALL)
        assert not [code for code in blocks_and_spans if r"\|" in code]


def test_the_api_lists_all_that_is_public():
    pytest.importorskip("mkdocs")
    import onkel
    from website.learners import page_of
    from website.reference import listed

    named = {found for _, package, found in listed() if package == "onkel"}
    shown = named | set(page_of()) | {found for _, _, found in listed()}
    assert set(onkel.__all__) - shown == set()


def test_the_page_of_a_stream_model_shows_what_it_inherits():
    pytest.importorskip("mkdocs")
    from onkel import StreamModel
    from website.reference import pages

    entry = r"::: onkel\.pipeline\.stream_model\.StreamModel\n    options: .*members: \[(.*)\]"
    found = re.search(entry, pages()["reference/pipeline.md"])
    shown = found[1].split(", ")
    assert {"fit", "score", "merge", "fix_map", "alarms_", "changes_", "set_params"} <= set(shown)
    for member in shown:
        assert getattr(StreamModel, member).__doc__
        assert member not in vars(StreamModel)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Σ_{i≠r} α_i κ(s_i, x)", "Σ<sub>i≠r</sub> α<sub>i</sub> κ(s<sub>i</sub>, x)"),
        ("``w_j * g_tj²``", f"{FORMULA}w<sub>j</sub> &#42; g<sub>tj</sub>²</code>"),
        ("n_iter and `n_q=1`", f"n_iter and {FORMULA}n<sub>q</sub>=1</code>"),
        ("``f ← f + τ x``", f"{FORMULA}f ← f + τ x</code>"),
        ("``Λ^-½ κ``, T^((1+γ)/2)", f"{FORMULA}Λ<sup>-½</sup> κ</code>, T<sup>(1+γ)/2</sup>"),
        ("``n_components``, coef_", "``n_components``, coef_"),
    ],
)
def test_an_index_is_shown_below_the_line_and_an_exponent_above(text, shown):
    assert learners.subscripts(text) == shown


def test_every_example_is_in_the_gallery():
    pytest.importorskip("mkdocs")
    from website.gallery import CHAPTERS, SCRIPTS

    listed = [example for chapter in CHAPTERS.values() for example in chapter]
    assert sorted(listed) == sorted(path.stem for path in SCRIPTS.glob("*.py"))
    assert len(listed) >= 15


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_files_that_a_page_names_are_there(page):
    """Paths begin in the repository or in the package, bare names in the folder named before."""
    for line in page.read_text("utf8").splitlines():
        folders = [ROOT, ROOT / "src" / "onkel"]
        for path in re.findall(r"`([\w/-]+\.py)`", line):
            found = [folder / path for folder in folders if (folder / path).is_file()]
            if "/" in path or page.name == "where.md":
                assert found, f"{name(page)}: {path}"
                folders.append(found[0].parent)


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text("utf8").splitlines()) <= 120


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"])
def test_links_lead_to_files(page):
    # links of the site are checked when it is built
    for target in re.findall(r"\]\(([^)#\s]+)", (ROOT / page).read_text("utf8")):
        if "://" not in target:
            assert (ROOT / page).parent.joinpath(target).exists(), target
