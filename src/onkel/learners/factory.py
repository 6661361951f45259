"""Learners from user input: a name, parameters as text, parameters of components."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Sequence
from typing import Any

from onkel.budgets import make_budget
from onkel.kernels import make_kernel
from onkel.learners.compose import (
    ExplicitKernelClassifier,
    ExplicitKernelRegressor,
    SupportKernelClassifier,
    SupportKernelRegressor,
)
from onkel.learners.declaration import parameters
from onkel.learners.table import ALGORITHMS, make
from onkel.maps import make_map
from onkel.rules import make_rule

_WORDS = {"true": True, "false": False, "none": None}
_COMPONENTS: dict[str, Any] = {
    "kernel": make_kernel, "map": make_map, "rule": make_rule, "budget": make_budget,
}  # fmt: skip
#: compositions of your own: any map and rule, or any kernel, rule and budget
OPEN: dict[str, dict[str, Any]] = {
    "explicit": {
        "classification": ExplicitKernelClassifier, "regression": ExplicitKernelRegressor,
    },
    "support": {
        "classification": SupportKernelClassifier, "regression": SupportKernelRegressor,
    },
}  # fmt: skip


def parse_value(text: str) -> Any:
    """A number, a fraction (1/128), true, false, none, a Python literal, else the text itself."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    fraction = re.fullmatch(r"([-+.\deE]+)\s*/\s*([-+.\deE]+)", text)
    try:
        if fraction and float(fraction[2]):
            return float(fraction[1]) / float(fraction[2])
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def close(word: str, choices: Sequence[str]) -> str:
    """The end of a message: what could have been meant, and all choices."""
    near = difflib.get_close_matches(word, choices, n=1)
    meant = f"; did you mean {near[0]!r}?" if near else "."
    return f"{meant} There is: {', '.join(choices)}"


def make_estimator(
    algorithm: str, task: str, params: dict[str, Any], seed: int | None = None
) -> Any:
    """An estimator by the name of its algorithm, its parameters checked.

    The name is one of `onkel.algorithms.ALGORITHMS`, or "explicit" or "support" for a composition
    of your own. ``params`` are those of the estimator and of its components, such as
    ``rule__learning_rate``; ``seed`` is its ``random_state``, if it has one and they don't.
    ValueError: there is no such algorithm or parameter; the message names what is close.
    """
    estimator = _new(algorithm, task)
    known = estimator.get_params(deep=False)
    for name in params:
        owner = name.split("__")[0]
        if owner not in known:
            raise ValueError(f"{algorithm} has no parameter {name!r}{close(owner, sorted(known))}")
    if "random_state" in known:
        params = {"random_state": seed, **params}
    own = {name: value for name, value in params.items() if "__" not in name}
    estimator.set_params(**own)
    for name in params:
        if "__" in name:
            _set_component(algorithm, estimator, name, params[name])
    return estimator


def described(algorithm: str) -> dict[str, Any]:
    """Title, first sentence and parameters (name, default, kind, doc) of an algorithm."""
    _check_name(algorithm)
    if algorithm in OPEN:
        classes, fixed = list(OPEN[algorithm].values()), {}
        title = "a composition of your own"
    else:
        row = ALGORITHMS[algorithm]
        classes = [cls for cls in (row.classifier, row.regressor) if cls is not None]
        fixed, title = row.params, row.title
    found: dict[str, dict[str, str]] = {}
    for cls in classes:
        for parameter in parameters(cls):
            if parameter["name"] in fixed:
                parameter["default"] = repr(fixed[parameter["name"]])
            before = found.setdefault(parameter["name"], parameter)
            if before["default"] != parameter["default"]:
                before["default"] += f" ({parameter['default']} in regression)"
    summary = (classes[0].__doc__ or "").split("\n\n")[0].replace("\n", " ")
    return {
        "name": algorithm, "title": title, "summary": summary, "parameters": list(found.values())
    }  # fmt: skip


def _check_name(algorithm: str) -> None:
    if algorithm not in ALGORITHMS and algorithm not in OPEN:
        names = [*ALGORITHMS, *OPEN]
        raise ValueError(f"there is no algorithm {algorithm!r}{close(algorithm, names)}")


def _new(algorithm: str, task: str) -> Any:
    _check_name(algorithm)
    return OPEN[algorithm][task]() if algorithm in OPEN else make(algorithm, task=task)


def _set_component(algorithm: str, estimator: Any, name: str, value: Any) -> None:
    """Set a parameter of a component, which may so far be given by name."""
    owner, _, of_component = name.partition("__")
    held = estimator.get_params(deep=False)[owner]
    if owner not in _COMPONENTS or isinstance(held, int | float):
        raise ValueError(
            f"{algorithm} has no parameter {name!r}: its {owner} is {held!r}, which has none"
        )
    component = _COMPONENTS[owner](held)
    known = sorted(component.get_params())
    if of_component not in known:
        what = f"{of_component!r}{close(of_component, known)}" if known else "of its own"
        raise ValueError(f"{name}: {owner} {held!r} has no parameter {what}")
    estimator.set_params(**{owner: component.set_params(**{of_component: value})})
