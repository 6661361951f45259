"""``onkel info``: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onkel.cli import options


def info(model: options.Model, as_json: options.Json = False) -> None:
    """Show what a model file holds: columns, task, classes, rows, score, settings.

    Example: onkel info flights.onkel
    """
    from onkel.cli.console import print_json
    from onkel.persistence.files import load_with_info, written_by

    loaded, kept = load_with_info(model)
    found = {"file": model, "file_bytes": Path(model).stat().st_size, "version": written_by(model)}
    found |= _facts(loaded)
    found["score"] = _score(loaded, kept)
    if as_json:
        print_json(found)
    else:
        _show(found)


def _facts(model: Any) -> dict[str, Any]:
    """A model's description; a bare learner is described without columns."""
    from onkel.learners.base import OnlineEstimator
    from onkel.pipeline import StreamModel
    from onkel.pipeline.summary import columns_with_importance, describe

    if isinstance(model, StreamModel):
        return describe(model) | {"columns": columns_with_importance(model)}
    if isinstance(model, OnlineEstimator):
        bare = describe(StreamModel(model, scaling="none", scale_target=False))
        return {name: bare[name] for name in bare if name not in ("scaling", "settings")}
    return {"learner": type(model).__name__}


def _score(model: object, kept: dict[str, Any]) -> dict[str, Any] | None:
    """Metrics over the rows so far, each predicted before it was learned."""
    from onkel.evaluation.run import PrequentialRun

    if "run" not in kept:
        return None
    run = PrequentialRun(model)
    run.set_state(kept["run"])
    if not run.n_rows:
        return None
    result = run.result()
    return {**result.final.metrics, "n_rows": run.n_rows, "scored": result.scored,
            "details": result.details}  # fmt: skip


def _show(found: dict[str, Any]) -> None:
    from onkel.cli.console import stdout
    from onkel.cli.tables import columns_table, facts_table

    console = stdout()
    console.print(facts_table(_lines(found)))
    if found.get("columns"):
        useless = found.get("useless", {})
        console.print(columns_table(found["columns"], useless, console.width))


def _lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    from onkel.cli.tables import waiting_text
    from onkel.columns.failures import count
    from onkel.evaluation.formatting import bytes_text, label_text, listed
    from onkel.evaluation.run_summary import score_lines
    from onkel.metrics import METRICS

    lines = [("file", f"{found['file']}, {bytes_text(found['file_bytes'])}")]
    lines.append(("written by", f"onkel {found['version']}"))
    if "task" not in found:
        return [*lines, ("holds", found["learner"])]
    algorithm = f" ({found['algorithm']})" if found["algorithm"] else ""
    lines.append(("learner", found["learner"] + algorithm))
    target = f" of {found['target']}" if found["target"] else ""
    lines.append(("task", found["task"] + target))
    if found["classes"] is not None:
        lines.append(("classes", listed([label_text(label) for label in found["classes"]])))
    features = found["n_features"] or 0
    lines.append(("rows", f"{found['n_rows']:,} × {count(features, 'feature')}"))
    if found["score"]:
        lines.append(("scored", found["score"]["scored"]))
    for name, value in (found["score"] or {}).items():
        metric = METRICS.get(name)
        if metric is not None and metric.lower_is_better:
            lines.append((metric.title, metric.format(value)))
    lines += score_lines(found["task"], (found["score"] or {}).get("details", {}))
    for name in ("changes", "alarms"):
        if found[name]:
            rows = ", ".join(f"{row:,}" for row in found[name][-8:])
            lines.append((name, f"after row {rows}"))
    lines.append(("model size", bytes_text(found["model_bytes"])))
    if found["waiting_rows"]:
        lines.append(("kept rows", waiting_text(found["waiting_rows"])))
    lines.append(("parameters", ", ".join(f"{k}={v}" for k, v in found["parameters"].items())))
    if found["left_out"]:
        lines.append(("left out", listed(found["left_out"])))
    for name in ("source", "scaling", "missing", "shuffle", "seed"):
        value = found.get("settings", {}).get(name)
        if value not in (None, "", 0):
            lines.append((name, str(value)))
    return lines
