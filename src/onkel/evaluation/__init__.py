"""Prequential evaluation: test on each row, then learn from it; curves, figures and reports."""

from __future__ import annotations

from onkel.evaluation.metrics import METRICS, Metric
from onkel.evaluation.prequential import prequential
from onkel.evaluation.report import write_html
from onkel.evaluation.result import CurveRow, PrequentialResult
from onkel.evaluation.run import PrequentialRun

__all__ = [
    "METRICS",
    "CurveRow",
    "Metric",
    "PrequentialResult",
    "PrequentialRun",
    "prequential",
    "write_html",
]
