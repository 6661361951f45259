"""Which learners take part in ``onkel compare``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onkel.algorithms import LINEAR
from onkel.cli.console import note
from onkel.evaluation.comparison.entries import Entry, entry, is_rival, named, split_names
from onkel.learners.making import close, make_estimator

DEFAULT_LEARNERS = "okl,krls,fogd,nogd,rrf,pa"


def taking_part(
    algorithms: Sequence[str] | None,
    rivals: Sequence[str] | None,
    settings: dict[str, Any],
    task: str,
    classes: Any,
) -> tuple[list[Entry], list[str]]:
    """The learners, plus a linear one if there is none; and a note if one was added.

    ``classes``: all classes, for rivals that ask for them.
    """
    given = split_names(",".join(algorithms or [DEFAULT_LEARNERS]))
    names = [name for name in given if not is_rival(name)]
    others = [name for name in given if is_rival(name)] + list(rivals or ())
    params = params_by_learner(settings, names, task)
    entries = [entry(name, task, params=params[name]) for name in names]
    entries += [entry(rival, task, classes=classes) for rival in others]
    if any(one.linear for one in entries):
        return named(entries), []
    added = f"{LINEAR} was added: every comparison has a linear learner"
    note(added)
    return named([*entries, entry(LINEAR, task)]), [added]


def params_by_learner(
    given: dict[str, Any], names: Sequence[str], task: str
) -> dict[str, dict[str, Any]]:
    """Parameters by learner: ``fogd.gamma`` goes to every fogd, ``gamma`` to all that have one.

    Raises
    ------
    ValueError
        If no learner has a parameter, or a named learner is not compared.
    """
    algorithms = {name: name.split(":")[0] for name in names}
    own = {name: make_estimator(a, task, {}) for name, a in algorithms.items()}
    known = {name: estimator.get_params(deep=False) for name, estimator in own.items()}
    params: dict[str, dict[str, Any]] = {name: {} for name in names}
    for key, value in given.items():
        owner, dot, parameter = key.rpartition(".")
        if dot and owner not in algorithms.values():
            choices = list(dict.fromkeys(algorithms.values()))
            raise ValueError(f"--set {key}: {owner!r} is not compared{close(owner, choices)}")
        asked = [name for name in names if not dot or algorithms[name] == owner]
        takers = [name for name in asked if parameter.split("__")[0] in known[name]]
        if not takers:
            choices = sorted({p for name in asked for p in known[name]})
            raise ValueError(f"--set {key}: no such parameter{close(parameter, choices)}")
        for taker in takers:
            params[taker][parameter] = value
    return params
