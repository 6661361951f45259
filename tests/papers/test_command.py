"""``python -m papers``: the list, tables, figures, the report in a browser, missing data."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import papers
from papers import EXPERIMENTS, PAPERS
from papers.__main__ import app


@pytest.fixture
def reproduce(real_data, tmp_path):
    def call(*arguments):
        kept = ["--cache", str(tmp_path / "kept")] if arguments else []
        return CliRunner().invoke(app, [*map(str, arguments), *kept])

    return call


def test_the_list_names_all_and_what_is_missing(reproduce):
    shown = reproduce()
    assert shown.exit_code == 0
    named = re.findall(r"^ (\S+)  ", shown.stdout, re.M)
    assert [name for name in named[1:] if name not in PAPERS] == list(EXPERIMENTS)
    assert [name for name in named[1:] if name in PAPERS] == list(PAPERS)
    first, data, missing = re.findall(r"^ nolana.table2 (.*)\n(.*)\n(.*)", shown.stdout, re.M)[0]
    assert re.search(r"All learners at equal memory +\d+$", first.rstrip())
    assert data.strip() == "cpusmall usps ijcnn1 covtype"
    assert missing.strip() == "missing here: webspam"


def test_what_cannot_be_run_has_no_minutes(tmp_path, monkeypatch):
    monkeypatch.setenv("ONKEL_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    shown = CliRunner().invoke(app, [])
    assert re.search(r"^ rrf.figure1 +RRF and FOGD over the number of frequencies *$\n"
                     r" +missing here: cod-rna *$", shown.stdout, re.M)  # fmt: skip
    # generated rows are always available
    assert re.search(r"^ olk.budget +Growth of the stored rows +\d+ *$", shown.stdout, re.M)


def test_help_tells_the_options():
    shown = CliRunner().invoke(app, ["--help"])
    assert shown.exit_code == 0
    assert "--jobs" in shown.stdout
    assert "FOLDER" in CliRunner().invoke(app, ["streams", "--help"]).stdout


@pytest.mark.slow
def test_several_tables_and_one_data_set_that_is_not_here(reproduce):
    shown = reproduce("lsokl.table9", "lsokl.table5", "--data", "mg,slice,german", "--runs", 2,
                      "--markdown")  # fmt: skip
    assert shown.exit_code == 0, shown.stderr
    titles = re.findall(r"^## (\S+):", shown.stdout, re.M)
    assert titles == ["lsokl.table5", "lsokl.table9"]
    rows = [line.strip("| ").split(" | ") for line in shown.stdout.splitlines() if "nogd" in line]
    assert [(row[0], row[4], row[8]) for row in rows[:2]] == [
        ("german", "30.40 ± 0.80", "2"), ("mg", "0.05356 ± 0.00076", "2"),
    ]  # fmt: skip
    assert "Left out: data set 'slice' is not on this machine; get it" in shown.stdout


@pytest.fixture
def report(reproduce, tmp_path):
    folder = tmp_path / "out"
    shown = reproduce("lsokl.figure5", "lsokl.table9", "lsokl.figure6", "--data", "housing",
                      "--runs", 1, "--report", folder)  # fmt: skip
    assert shown.exit_code == 0, shown.stderr
    return folder


@pytest.mark.slow
def test_the_report_holds_all(report):
    values = json.loads((report / "results.json").read_text())["results"]
    assert len(values["lsokl.table9"]) == 14
    page = (report / "report.md").read_text()
    assert "![Regression: time as rows come](lsokl.figure6-1.svg)" in page
    assert (report / "lsokl.figure6-1.svg").read_text().startswith("<svg")
    assert not re.search(r'(src|href)="(?!#)', (report / "index.html").read_text())


def test_a_browser_finds_every_table_and_figure(report):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("neither chromium nor google-chrome is on this machine")
    asked = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
             "--dump-dom", f"file://{report}/index.html"]  # fmt: skip
    shown = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=True)
    sections = re.findall(r'<section id="(.*?)" class="(.*?)">', shown.stdout)
    assert sections == [
        ("lsokl.table9", "table"), ("lsokl.figure5", "figure"), ("lsokl.figure6", "figure"),
    ]  # fmt: skip
    assert shown.stdout.count("<table>") == 1
    assert shown.stdout.count("<svg") == 2
    assert "CONSOLE" not in shown.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lsokl.tabel5"], "no experiment 'lsokl.tabel5'; did you mean 'lsokl.table5'?"),
        (["lsokl.table9", "--data", "housin"], "--data housin: must be among"),
        (["lsokl.table9", "--learner", "fog"], "must be among perceptron, ogd, norma"),
        (
            ["lsokl.table?", "--data", "mg", "--learner", "libsvm"],
            "has these learners on these data",
        ),
        (["lsokl.table9", "--data", "slice"], "none of the data sets asked for is on this machine"),
    ],
)
def test_what_is_not_there_is_said(reproduce, arguments, message):
    shown = reproduce(*arguments)
    assert shown.exit_code == 2
    assert message in " ".join(shown.stderr.split())


def test_some_learners_of_a_table(reproduce):
    shown = reproduce("lsokl.table9", "--data", "mg", "--learner", "nogd,pa", "--runs", 1,
                      "--markdown")  # fmt: skip
    rows = [line.split(" | ") for line in shown.stdout.splitlines() if line.startswith("| mg")]
    assert [row[2] for row in rows] == ["nogd", "pa"]


@pytest.mark.slow
def test_the_default_beside_a_table(reproduce):
    shown = reproduce("default", "lsokl.table9", "--data", "housing", "--runs", 1, "--markdown")
    assert re.findall(r"^## (\S+):", shown.stdout, re.M) == ["lsokl.table9", "default"]
    (row,) = [line for line in shown.stdout.splitlines() if "| 0.0076 ✓ |" in line]
    assert row.startswith("| housing | 506 |")


@pytest.mark.parametrize("dataset", ["german", "spambase", "satimage", "dna", "abalone", "letter"])
def test_the_small_sets_come_with_the_code(dataset, data_folder):
    """Their values are those of the whole sets' files."""
    shipped = pq.read_table(Path(papers.__file__).parent / "data" / f"{dataset}.parquet")
    whole = pq.read_table(data_folder / f"{dataset}.parquet")
    assert shipped.column_names == whole.column_names
    for name in whole.column_names:
        assert shipped[name].to_pylist() == whole[name].to_pylist(), name


@pytest.mark.slow
def test_the_first_table_on_a_fresh_clone(tmp_path):
    """No data folder, no network, another place to keep runs."""
    left = {k: v for k, v in os.environ.items() if not k.startswith(("ONKEL", "XDG"))}
    asked = ["lsokl.table5", "--data", "german", "--learner", "nogd", "--runs", "1", "--markdown"]
    shown = subprocess.run(
        [sys.executable, "-m", "papers", *asked], capture_output=True, text=True, check=True,
        cwd=Path(papers.__file__).parents[1], env={**left, "XDG_CACHE_HOME": str(tmp_path)},
    )  # fmt: skip
    assert "| german | 1,000 | nogd | " in shown.stdout


def test_what_takes_longer_is_left_out(reproduce):
    shown = reproduce("lsokl.table5", "--learner", "nogd", "--runs", 1, "--within", 0.0001,
                      "--markdown")  # fmt: skip
    assert shown.exit_code == 0, shown.stderr
    rows = [line for line in shown.stdout.splitlines() if "| nogd |" in line]
    assert [row.split(" | ")[0] for row in rows] == ["| german"]
    none = reproduce("lsokl.table5", "--within", 1e-9)
    assert "nothing is as quick as that" in none.stderr


@pytest.mark.parametrize("words", [[], ["nosuch"], ["streams"], ["pages"]])
def test_the_usage_that_help_shows_can_be_typed(words):
    said = CliRunner().invoke(app, [*words, "--help"]).stdout
    usage = re.search(r"Usage: .* (tables|streams|pages) \[OPTIONS", said)
    assert usage is not None
    assert CliRunner().invoke(app, [usage[1], "--help"]).stdout == said


@pytest.mark.parametrize("word", ["tables", "list"])
def test_a_verb_lists_the_experiments(word):
    shown = CliRunner().invoke(app, [word])
    assert shown.stdout == CliRunner().invoke(app, []).stdout
