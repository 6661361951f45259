"""Describe a model, as data for people and programs."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from onkel.columns.describing import describe_columns
from onkel.pipeline.statistics import is_fitted

if TYPE_CHECKING:
    from onkel.pipeline.block_model import BlockModel


def describe(model: BlockModel) -> dict[str, Any]:
    """Task, target, classes, rows, size, columns and settings, JSON-able."""
    encoder = model.encoder
    fitted = is_fitted(model.estimator)
    return {
        "learner": type(model.estimator).__name__,
        "algorithm": model.settings.get("algorithm"),
        "task": model.task,
        "target": encoder.target if encoder else model.settings.get("target"),
        "classes": (
            model.estimator.classes_.tolist() if fitted and model.task == "classification" else None
        ),
        "n_rows": model.n_rows,
        "n_features": int(model.estimator.n_features_in_) if fitted else None,
        "model_bytes": model.nbytes,
        "scaling": model.scaling,
        "parameters": model.estimator.get_params(deep=False),
        "columns": columns_of(model),
        "left_out": model.settings.get("left_out", []),
        "useless": model.settings.get("useless", {}),
        "settings": model.settings,
    }


def columns_of(model: BlockModel) -> list[dict[str, Any]]:
    """Each input column and what it became; see `onkel.columns.describing`."""
    return [] if model.encoder is None else describe_columns(model.encoder)


def columns_with_importance(model: BlockModel) -> list[dict[str, Any]]:
    """As `columns_of`, with the importance of each column.

    Of columns without names, only the 20 most important.
    """
    shares = model.feature_importances_
    columns = columns_of(model)
    if columns:
        found = zip(columns, shares.tolist(), strict=True)
        return [{**column, "importance": share} for column, share in found]
    most = np.argsort(-shares, kind="stable")[:20]
    return [{"name": f"column {_number(model, j)}", "importance": float(shares[j])} for j in most]


def _number(model: BlockModel, feature: int) -> Any:
    return feature if model.encoder is None else model.encoder.column_of(int(feature))


def html_table(title: str, rows: list[tuple[str, str]]) -> str:
    """A table of names and values for notebooks."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(value)}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{escape(title)}</caption><tbody>{cells}</tbody></table>"
