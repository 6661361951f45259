"""Prequential evaluation: test on each row, then learn from it; curves, figures and reports."""

from __future__ import annotations

from onkel.evaluation.prequential import prequential as prequential
from onkel.evaluation.report import write_html as write_html
from onkel.evaluation.result import CurveRow as CurveRow
from onkel.evaluation.result import PrequentialResult as PrequentialResult
from onkel.evaluation.run import PrequentialRun as PrequentialRun
from onkel.metrics import METRICS as METRICS
from onkel.metrics import Metric as Metric
