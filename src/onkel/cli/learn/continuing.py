"""Continue a saved model with another source: ``onkel learn --from``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from onkel.cli.asked import names_in
from onkel.cli.learn.options import LearnOptions
from onkel.cli.values import parse_settings, with_features
from onkel.errors import ModelFileError
from onkel.persistence import load_with_info
from onkel.pipeline import StreamModel


def load_base(path: Path) -> tuple[StreamModel, dict[str, Any]]:
    """The model to continue, and what was saved with it.

    Raises
    ------
    ModelFileError
        The file holds no model that reads columns.
    """
    model, info = load_with_info(path)
    if not isinstance(model, StreamModel) or model.encoder is None:
        raise ModelFileError(
            f"--from {path}: holds a {type(model).__name__} without its columns; give a file that "
            "'onkel learn --save' wrote"
        )
    return model, info


def continued(options: LearnOptions, model: StreamModel) -> LearnOptions:
    """The options, completed by the model's own settings; contradictions are refused.

    Files are read in the format of those before, unless the options say otherwise.

    Raises
    ------
    ValueError
        Naming the option, what the model has, and what was asked for.
    """
    assert model.encoder is not None
    kept = model.settings
    _refuse_others(options, model)
    left_out = [*kept.get("exclude", ()), *kept.get("left_out", ()), *names_in(options.exclude)]
    held_missing = kept.get("missing", LearnOptions.missing)
    own: dict[str, Any] = {
        "algorithm": kept.get("algorithm", type(model.estimator).__name__),
        "target": model.encoder.target,
        "group": kept.get("group"),
        "task": model.task,
        "scaling": kept.get("scaling", model.scaling),
        "n_hash": model.encoder.n_hash,
        "max_categories": model.encoder.max_categories,
        "statistics": model.encoder.statistics,
        "dtype": kept.get("dtype", LearnOptions.dtype),
        "seed": kept.get("seed", LearnOptions.seed),
        "exclude": list(dict.fromkeys(left_out)),
        "missing": held_missing if options.missing == LearnOptions.missing else options.missing,
        "na_values": list(dict.fromkeys([*model.encoder.na_values, *names_in(options.na_values)])),
        "header": options.header and kept.get("header", True),
        "decimal": kept.get("decimal", LearnOptions.decimal),
        "thousands": kept.get("thousands"),
    }
    for name in ("sep", "encoding", "dates"):
        given = getattr(options, name)
        own[name] = kept.get(name) if given is None else given
    return replace(options, **own)


def _refuse_others(options: LearnOptions, model: StreamModel) -> None:
    """Refuse options that contradict the model's own settings."""
    assert model.encoder is not None
    kept = model.settings
    asked = {
        "--algorithm": (options.algorithm, kept.get("algorithm"), None),
        "--target": (options.target, model.encoder.target, None),
        "--group": (options.group, kept.get("group"), None),
        "--task": (options.task, model.task, "auto"),
        "--scaling": (options.scaling, kept.get("scaling"), "auto"),
        "--n-hash": (options.n_hash, model.encoder.n_hash, LearnOptions.n_hash),
        "--max-categories": (
            options.max_categories,
            model.encoder.max_categories,
            LearnOptions.max_categories,
        ),
        "--statistics": (options.statistics, model.encoder.statistics, LearnOptions.statistics),
        "--dtype": (options.dtype, kept.get("dtype"), LearnOptions.dtype),
        "--seed": (options.seed, kept.get("seed"), LearnOptions.seed),
        "--decimal": (options.decimal, kept.get("decimal"), LearnOptions.decimal),
        "--thousands": (options.thousands, kept.get("thousands"), None),
    }
    for name, (wanted, held, unset) in asked.items():
        if wanted not in (unset, held):
            raise _contradiction(options, name, held, wanted)
    params = kept.get("params", {})
    given = with_features(parse_settings(options.settings or ()), options.features)
    for name, value in given.items():
        if params.get(name) != value:
            raise _contradiction(options, f"--set {name}", params.get(name), value)
    _refuse_columns(options, model)


def _refuse_columns(options: LearnOptions, model: StreamModel) -> None:
    """Refuse options that would treat a column differently than the model does."""
    assert model.encoder is not None
    kinds, base = model.encoder.kinds, f"the model of --from {options.base}"
    numbers = {name for name, kind in kinds.items() if kind != "text"}
    left_out = set(model.settings.get("left_out", ()))
    for option, asked, held, what in (
        ("--exclude", options.exclude, kinds.keys(), "was learned with it"),
        ("--categorical", options.categorical, numbers, "did not learn it as categories"),
        ("--keep-columns", options.keep_columns, left_out, "was learned without it"),
    ):
        clash = sorted(set(names_in(asked)) & held)
        if clash:
            raise ValueError(f"{option} {', '.join(clash)}: {base} {what}")


def _contradiction(options: LearnOptions, name: str, held: Any, wanted: Any) -> ValueError:
    return ValueError(
        f"{name}: the model of --from {options.base} has {held!r}, this command has {wanted!r}; "
        "leave the option out, or learn a new model"
    )
