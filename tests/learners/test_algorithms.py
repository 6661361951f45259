"""Learners made by name, and the names of the package."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import onkel
from onkel import ALGORITHMS, DataError, FOGDClassifier, FOGDRegressor, make


@pytest.mark.parametrize("task", ["classification", "binary", "multiclass"])
def test_a_data_sets_task_is_taken_as_it_is(task):
    model = make("fogd", task, n_components=50)
    assert isinstance(model, FOGDClassifier)
    assert model.n_components == 50
    assert isinstance(make("fogd", "regression"), FOGDRegressor)


@pytest.mark.parametrize(
    ("name", "task", "params", "message"),
    [
        ("fodg", "binary", {}, r"'fodg' is not one of .*did you mean 'fogd'"),
        ("fogd", "ranking", {}, r"'ranking' must be one of 'classification', 'binary'"),
        ("tvm", "regression", {}, "tvm does not learn regression, but"),
        ("fogd", "binary", {"gama": 1.0}, "gama"),
    ],
)
def test_what_there_is_not_is_named(name, task, params, message):
    with pytest.raises(ValueError, match=message):
        make(name, task, **params)


# ---- the names of the package --------------------------------------------------------------------


def test_a_star_import_brings_classes_and_functions_and_no_module():
    names: dict = {}
    exec("from onkel import *", names)
    modules = [name for name, value in names.items() if isinstance(value, ModuleType)]
    assert modules == []
    assert {"FOGDClassifier", "AdaGradRegressor", "make", "prequential", "load"} <= names.keys()
    assert set(onkel.__all__) | {"__builtins__"} == names.keys()
    assert onkel.evaluate is importlib.import_module("onkel.evaluation")
    assert set(onkel.__all__) < set(dir(onkel))


def test_every_class_stands_in_one_list():
    sources = Path(onkel.__file__).parent
    found = [
        path.relative_to(sources).as_posix()
        for path in [sources / "__init__.py", sources / "public.py",
                     *sources.joinpath("learners").rglob("*.py")]
        if re.search('"BPANNClassifier"|import BPANNClassifier', path.read_text(encoding="utf-8"))
    ]  # fmt: skip
    assert found == ["learners/__init__.py"]


def test_an_unknown_name_is_an_error():
    with pytest.raises(AttributeError, match="module 'onkel' has no attribute 'FODGClassifier'"):
        _ = onkel.FODGClassifier


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import sys, onkel, onkel.errors; onkel.__version__\n"
        "print({'numba', 'sklearn', 'numpy', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_package_is_marked_as_typed():
    assert resources.files("onkel").joinpath("py.typed").is_file()


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_wrong_parameter_is_named(name):
    """Before any row is learned: no error of a row blames the data."""
    wrong = {
        "random_state": [-1],
        "gamma": [None, [1.0, 2.0]],
        "kernel": ["nope"],
        "epsilon": [None],
        "max_groups": ["x", 0],
        "learning_rate": [None, [1.0]],
        "learning_rate_gamma": [None, -1.0],
        "alpha": [None],
    }
    classes = {cls for row in ALGORITHMS.values() for cls in (row.classifier, row.regressor) if cls}
    assert wrong.keys() <= {parameter for cls in classes for parameter in cls().get_params()}
    X = np.arange(8.0).reshape(4, 2)
    for task, y in (("classification", [0, 1, 0, 1]), ("regression", [0.5, 1.0, 2.0, 3.0])):
        row = ALGORITHMS[name]
        cls = row.classifier if task == "classification" else row.regressor
        known = {} if cls is None else cls().get_params()
        for parameter in known.keys() & wrong.keys():
            for value in wrong[parameter]:
                with pytest.raises(ValueError, match=parameter) as raised:
                    make(name, task, **{parameter: value}).partial_fit(X, y)
                assert not isinstance(raised.value, DataError)
