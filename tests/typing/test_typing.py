"""What is public is typed: strict checkers find nothing to complain about in a user's script."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

import numpy as np
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


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An environment with the package installed: pyright then reads only what users see of it.

    A type that no declaration gives stays unknown there, where pyright finds it out in a source
    on the path.
    """
    pytest.importorskip("pyright")
    if shutil.which("node") is None:
        pytest.skip("pyright needs node")
    root = tmp_path_factory.mktemp("environment")
    venv.create(root, symlinks=os.name != "nt")
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(root)}))
    shutil.copytree(
        SOURCE / "onkel", packages / "onkel", ignore=shutil.ignore_patterns("__pycache__")
    )
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    return root


def pyright(installed: Path, *arguments: str) -> dict[str, Any]:
    """What pyright says in the environment."""
    bin = Path(sysconfig.get_path("scripts", "venv", {"base": str(installed)}))
    command = [sys.executable, "-m", "pyright", "--outputjson"]
    if "--verifytypes" not in arguments:
        command += ["--pythonpath", str(bin / "python")]
    # --verifytypes takes the first python on the path
    there = os.environ | {"PATH": os.pathsep.join([str(bin), os.environ["PATH"]])}
    there.pop("PYTHONPATH", None)
    run = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, check=False, env=there
    )
    found: dict[str, Any] = json.loads(run.stdout)
    return found


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


def ends_with_underscore(value: object) -> list[str]:
    """The public attributes that a fitted object has by learning."""
    names = {*vars(value), *dir(type(value))}
    return sorted(name for name in names if name.endswith("_") and not name.startswith("_"))


def test_what_is_learned_has_a_type_on_every_learner(installed, tmp_path):
    """Attributes such as ``n_rows_`` are found on fitted objects, and asked of every class."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = X[:, 0]
    krls = onkel.KernelRLSRegressor(n_components=20).fit(X, y)
    classifier = onkel.KernelRLSClassifier(n_components=20).fit(X, y > 0)
    stream = onkel.StreamModel(onkel.KernelRLSRegressor(n_components=20)).fit({"a": y}, y)
    fitted = [krls, classifier, stream, onkel.OnlineScaler().fit(X), onkel.Alarm()]
    asked: dict[type, list[str]] = {type(one): ends_with_underscore(one) for one in fitted}
    assert {"n_rows_", "n_features_in_", "nbytes_", "model_", "coef_"} <= set(asked[type(krls)])
    for learner in vars(onkel).values():
        for kind, one in ((onkel.OnlineRegressor, krls), (onkel.OnlineClassifier, classifier)):
            if isinstance(learner, type) and issubclass(learner, kind) and learner not in asked:
                # a learner that keeps rows has no map
                asked[learner] = [name for name in asked[type(one)] if name != "map_"]
    assert len(asked) > 50
    lines = ["import onkel", "", ""]
    for number, (cls, names) in enumerate(asked.items()):
        lines.append(f"def use_{number}(value: onkel.{cls.__name__}) -> None:")
        lines += [f"    reveal_type(value.{name})" for name in names]
    script = tmp_path / "attributes.py"
    script.write_text("\n".join(lines) + "\n")
    told = pyright(installed, str(script))["generalDiagnostics"]
    assert [one["severity"] for one in told] == ["information"] * sum(map(len, asked.values()))
    # each map has attributes of its own, so map_ may be anything
    types = [one["message"] for one in told if 'value.map_"' not in one["message"]]
    nothing = ('is "Unknown"', 'is "Unbound"', 'is "Any"')
    unknown = [text for text in types if text.endswith(nothing)]
    assert not unknown, "\n".join(unknown)


def test_a_users_script_passes_pyright(installed, tmp_path):
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    script = shutil.copy(HERE / "user.py", tmp_path)
    assert pyright(installed, "--project", str(tmp_path), script)["generalDiagnostics"] == []


def test_the_types_of_all_that_is_public_are_known(installed):
    found = pyright(installed, "--verifytypes", "onkel", "--ignoreexternal")
    symbols = found["typeCompleteness"]["symbols"]
    assert len(symbols) > 5000
    unknown = [f"{s['name']}: {s['diagnostics']}" for s in symbols if not s["isTypeKnown"]]
    assert not unknown, "\n".join(unknown)
