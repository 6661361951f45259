"""Words that options choose from."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Dtype", "Format", "Missing", "Scaling", "Task"]


class Task(StrEnum):
    """What the target is."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class Scaling(StrEnum):
    """How features are scaled."""

    auto = "auto"
    standard = "standard"
    minmax = "minmax"
    none = "none"


class Missing(StrEnum):
    """What becomes of a missing value."""

    error = "error"
    zero = "zero"
    mean = "mean"
    skip = "skip"


class Format(StrEnum):
    """How a source is written."""

    csv = "csv"
    tsv = "tsv"
    parquet = "parquet"
    arrow = "arrow"
    jsonl = "jsonl"
    svmlight = "svmlight"


class Dtype(StrEnum):
    """Precision of the features."""

    float32 = "float32"
    float64 = "float64"
