"""Prequential evaluation: test on each row, then learn from it; curves, figures and reports."""

from __future__ import annotations

from onkel.evaluation.prequential import prequential
from onkel.evaluation.report import write_html
from onkel.evaluation.result import CurveRow, PrequentialResult
from onkel.evaluation.run import PrequentialRun
from onkel.metrics import METRICS, Metric

__all__ = [
    "METRICS",
    "CurveRow",
    "Metric",
    "PrequentialResult",
    "PrequentialRun",
    "prequential",
    "write_html",
]
