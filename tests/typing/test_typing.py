"""What is public is typed: strict checkers find nothing to complain about in a user's script."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import onkel

pytest.importorskip("mypy")
pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
SOURCE = Path(onkel.__file__).parents[1]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """What mypy knows of the package, for all checks."""
    return tmp_path_factory.mktemp("mypy")


def strictly(script: Path, cache: Path) -> str:
    """What mypy says of a user's script; the package is read through its types only."""
    config = cache / "mypy.ini"
    config.write_text(
        f"[mypy]\nstrict = True\nmypy_path = {SOURCE}\ncache_dir = {cache}\n"
        "[mypy-onkel.*]\nfollow_imports = silent\n"
        "[mypy-scipy.*,sklearn.*,numba.*,pyarrow.*,safetensors.*,joblib.*]\n"
        "ignore_missing_imports = True\n"
    )
    command = [sys.executable, "-m", "mypy", "--config-file", str(config), str(script)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def test_a_users_script_passes_strict_checks(cache):
    assert "Success" in strictly(HERE / "user.py", cache)


def test_every_public_name_can_be_imported_and_used_strictly(tmp_path, cache):
    names = sorted(name for name in onkel.__all__ if name.isidentifier())
    lines = ["import onkel", *(f"from onkel import {name}" for name in names)]
    classes = [name for name in names if isinstance(getattr(onkel, name), type)]
    lines += [f"def use_{name}(value: {name}) -> {name}:\n    return value" for name in classes]
    functions = [name for name in names if name not in classes and callable(getattr(onkel, name))]
    lines += [f"reveal_type({name})" for name in functions]
    script = tmp_path / "names.py"
    script.write_text("\n".join(lines) + "\n")
    output = strictly(script, cache)
    assert "error" not in output, output
    revealed = [line for line in output.splitlines() if "Revealed type" in line]
    assert len(revealed) == len(functions)
    assert all('is "Any"' not in line for line in revealed)


def test_a_wrong_use_is_found(tmp_path, cache):
    script = tmp_path / "wrong.py"
    script.write_text(
        "import onkel\n"
        "model: onkel.StreamModel = onkel.load('m.onkel', onkel.LateLabels)\n"
        "onkel.StreamModel(onkel.PAClassifier(), scaling=3)\n"
        "onkel.from_bytes('text')\n"
    )
    output = strictly(script, cache)
    assert output.count("error:") == 3, output


def test_the_types_of_all_that_is_public_are_known():
    pytest.importorskip("pyright")
    if shutil.which("node") is None:
        pytest.skip("pyright needs node")
    command = [sys.executable, "-m", "pyright", "--verifytypes", "onkel", "--ignoreexternal"]
    command += ["--outputjson"]
    # this check takes the first python on the path, and does not look where a path file of an
    # editable install leads
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    there = os.environ | {"PYTHONPATH": str(SOURCE), "PATH": path}
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=there)
    found = json.loads(run.stdout)
    symbols = found["typeCompleteness"]["symbols"]
    assert len(symbols) > 5000
    unknown = [f"{s['name']}: {s['diagnostics']}" for s in symbols if not s["isTypeKnown"]]
    assert not unknown, "\n".join(unknown)
