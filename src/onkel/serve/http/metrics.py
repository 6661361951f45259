"""Numbers for Prometheus: what the models know, and how long requests took."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

_COUNTERS = {
    "rows": "Rows that were answered and wait, or were learned",
    "labels": "Labels that were learned",
    "refused": "Events that could not be used",
    "unknown": "Labels of no row",
    "doubled": "Labels of rows that were learned already",
    "late": "Labels of rows that were forgotten",
    "repeated": "Rows that came again and got the same answer",
    "forgotten": "Rows that were forgotten before their labels came",
    "snapshots_loaded": "Files of another process that this replica has loaded",
    "rings": "Rings of the alarm on larger errors; where there is one model, up to 64",
}
_GAUGES = {
    "waiting": "Rows that wait for their labels; of models with a key, those in memory",
    "model_rows": "Rows that the model has learned",
    "skill": "Share of the loss of the better baseline that the model avoids",
    "lag_seconds": "Seconds that the oldest request has waited for the writer",
    "journal_bytes": "Bytes of the journal since the last snapshot",
    "snapshot_age_seconds": "Seconds since the file was written that this replica predicts with",
    "models": "Models with a key",
    "models_in_memory": "Models with a key that are in memory",
    "models_bytes": "Bytes of the models in memory",
    "rss_bytes": "Memory of the process",
}


class Metrics:
    """The registry of a service.

    Parameters
    ----------
    report : callable
        Gives the numbers of the models when they are asked for.
    """

    def __init__(self, report: Callable[[], dict[str, Any]]) -> None:
        self.registry: CollectorRegistry = CollectorRegistry()
        self.registry.register(_Report(report))
        self._seconds = Histogram(
            "onkel_request_seconds",
            "Seconds from a request to its answer",
            ["endpoint"],
            registry=self.registry,
            buckets=_BUCKETS,
        )
        self._requests = Counter(
            "onkel_requests", "Requests", ["endpoint", "status"], registry=self.registry
        )
        # looking a label up takes longer than counting
        self._known: dict[tuple[str, int], tuple[Any, Any]] = {}

    def note(self, endpoint: str, status: int, seconds: float) -> None:
        """Count a request."""
        found = self._known.get((endpoint, status))
        if found is None:
            found = self._seconds.labels(endpoint), self._requests.labels(endpoint, str(status))
            self._known[endpoint, status] = found
        found[0].observe(seconds)
        found[1].inc()

    def text(self) -> bytes:
        """All numbers, as Prometheus reads them."""
        return generate_latest(self.registry)


class _Report(Collector):
    def __init__(self, report: Callable[[], dict[str, Any]]) -> None:
        self._report = report

    def describe(self) -> list[Any]:
        return []

    def collect(self) -> Iterator[Any]:
        found = self._report()
        for name, text in _COUNTERS.items():
            if found.get(name) is not None:
                yield CounterMetricFamily(f"onkel_{name}", text, value=found[name])
        for name, text in _GAUGES.items():
            if found.get(name) is not None:
                yield GaugeMetricFamily(f"onkel_{name}", text, value=found[name])
        score = GaugeMetricFamily("onkel_score", "Metrics of all predictions", labels=["metric"])
        for name, value in found.get("score", {}).items():
            score.add_metric([name], value)
        yield score
