"""What the README shows runs as it stands, and its links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from onkel.cli import app

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()


def _blocks(language):
    found = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [block for own, block in found if own == language]


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 120


def test_its_lines_of_python_run(capsys):
    (block,) = _blocks("python")
    exec(compile(block, "README.md", "exec"), {})
    assert float(capsys.readouterr().out.split()[0]) < 0.1


@pytest.mark.slow
def test_its_lines_of_shell_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, n in (("flights", 600), ("tomorrow", 100)):
        X = rng.normal(size=(n, 2)).round(3).tolist()
        rows = [f"{a},{b},{'AB'[a > 0]},{'yes' if a * b > 0 else 'no'}\n" for a, b in X]
        Path(f"{name}.csv").write_text("distance,hour,carrier,delayed\n" + "".join(rows))
    commands = [line for block in _blocks("") for line in block.splitlines() if "onkel " in line]
    ran = 0
    for line in commands:
        if "|" in line:
            assert "onkel live" in line  # a pipe: tests/cli/test_live.py
            continue
        result = CliRunner().invoke(app, shlex.split(line)[1:])
        assert result.exit_code == 0, line + result.output
        ran += 1
    assert ran == 5
    assert Path("flights.html").exists()


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"])
def test_links_lead_to_files(page):
    for target in re.findall(r"\]\(([^)#\s]+)", (ROOT / page).read_text()):
        if "://" not in target:
            assert (ROOT / page).parent.joinpath(target).exists(), target
