"""Pictures of one run: windows, importance, confusion, residuals, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from onkel.columns.failures import count
from onkel.evaluation.curves import COLOURS, new_axes
from onkel.metrics import Metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_BARS = 20
_MOST_NUMBERED = 12
_BLUE, _ORANGE, _GREY = COLOURS[0], COLOURS[1], "#8a9099"


def windows_picture(
    metric: Metric, details: dict[str, Any], changes: Sequence[int], alarms: Sequence[int] = ()
) -> Figure:
    """The metric in windows and so far, the better baseline in windows, and marks of changes.

    ``details`` are those of a `PrequentialResult`; at the rows ``changes`` the learner restarted,
    at ``alarms`` the alarm on larger errors rang.
    """
    figure, axes = new_axes((8.0, 3.8))
    windows = details["windows"]
    rows, loss = np.array(windows["rows"]), np.array(windows["loss"])
    lengths = np.diff(rows, prepend=windows["rows_before"])
    so_far = np.cumsum(lengths * loss) / np.cumsum(lengths)
    place = list(details["baselines"]).index(details["baseline"])
    baseline = np.array(windows["baselines"][place])
    width = f"{count(windows['width'], 'row')}"
    # a line of one point is nothing to see
    point = "o" if len(rows) == 1 else ""
    axes.plot(rows, _finished(metric, baseline), color=_GREY, linewidth=1.2, linestyle=":",
              marker=point, label=f"{details['baseline']}, windows")  # fmt: skip
    axes.plot(rows, _finished(metric, loss), color=_BLUE, linewidth=1.0, alpha=0.75,
              marker=point, label=f"windows of {width}")  # fmt: skip
    axes.plot(rows, _finished(metric, so_far), color=_BLUE, linewidth=2.2, marker=point,
              label="all rows so far")  # fmt: skip
    for i, row in enumerate(changes):
        axes.axvline(row, color=_ORANGE, linewidth=1.2, linestyle="--",
                     label=None if i else "the stream changed")  # fmt: skip
    for i, row in enumerate(alarms):
        axes.axvline(row, color=_GREY, linewidth=1.0, linestyle="-.",
                     label=None if i else "alarm")  # fmt: skip
    _count_rows(axes)
    axes.set_xlim(0, max(1, rows[-1]))
    # the first rows may be far off, and would flatten the rest
    shown = np.concatenate([_finished(metric, v[len(v) // 50 :]) for v in (loss, baseline, so_far)])
    shown = shown[np.isfinite(shown)]
    top = float(np.quantile(shown, 0.99)) if len(shown) else 0.0
    axes.set_ylim(0, 1.08 * top or 1.0)
    unit = "%" if metric.unit == "%" else "units of the target"
    axes.set_ylabel(f"{metric.title} ({unit})")
    figure.legend(loc="outside upper left", frameon=False, fontsize=9, ncols=4)
    return figure


def importance_picture(names: Sequence[str], shares: Sequence[float]) -> Figure:
    """Bars of the columns that move the predictions most, and one of all others together."""
    order = np.argsort(-np.asarray(shares), kind="stable")
    order, rest = order[:_MOST_BARS], order[_MOST_BARS:]
    labels = _cut([str(names[i]) for i in order], 28)
    values = 100 * np.asarray(shares)[order]
    if len(rest):
        labels.append(count(len(rest), "other column"))
        values = np.append(values, 100 * np.asarray(shares)[rest].sum())
    figure, axes = new_axes((8.0, 0.7 + 0.27 * len(labels)))
    bars = axes.barh(range(len(labels)), values, color=_BLUE, height=0.65)
    axes.bar_label(bars, [f"{value:.1f} %" for value in values], padding=4, fontsize=9)
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.15 * max(float(values.max(initial=0.0)), 1e-9))
    axes.xaxis.set_visible(False)
    axes.spines["bottom"].set_visible(False)
    axes.grid(visible=False)
    return figure


def confusion_picture(confusion: dict[str, Any]) -> Figure:
    """True classes down, predicted ones across; shades are shares of a true class."""
    labels, counts = confusion["labels"], np.array(confusion["rows"])
    side = min(6.0, max(3.0, 1.6 + 0.55 * len(labels)))
    figure, axes = new_axes((side + 0.4, side))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
    axes.grid(visible=False)
    ticks, texts = range(len(labels)), _cut(labels, 12)
    small = 9 if len(labels) <= _MOST_NUMBERED else 6
    # inches for a label, and those of the longest
    room, widest = (side - 1.2) / len(labels), 0.0095 * small * max(map(len, texts), default=0)
    axes.set_xticks(ticks, texts, rotation=0 if widest < room else 90, fontsize=small)
    axes.set_yticks(ticks, texts, fontsize=small)
    if len(labels) <= _MOST_NUMBERED:
        for (i, j), count in np.ndenumerate(counts):
            axes.text(j, i, f"{count:,}", ha="center", va="center", fontsize=8,
                      color="white" if shares[i, j] > 0.55 else "#1b1f24")  # fmt: skip
    axes.set_xlabel("predicted")
    axes.set_ylabel("true")
    return figure


def residual_picture(sample: dict[str, Any]) -> Figure:
    """Predictions over targets of rows drawn at random; on the line they are right."""
    figure, axes = new_axes((4.2, 3.8))
    rows = np.column_stack([sample["target"], sample["prediction"]])
    rows = rows[np.isfinite(rows).all(axis=1)]
    y, p = rows.T
    low, high = np.quantile(rows, [0.005, 0.995]) if len(rows) else (0.0, 1.0)
    # of a constant the axes need a length, too
    margin = max(0.04 * (high - low), 1e-6 * abs(high), 1e-300)
    axes.plot([low, high], [low, high], color=_GREY, linewidth=1.0)
    axes.scatter(y, p, s=9, color=_BLUE, alpha=0.5, linewidths=0)
    axes.set_xlim(low - margin, high + margin)
    axes.set_ylim(low - margin, high + margin)
    axes.set_xlabel("target")
    axes.set_ylabel("predicted")
    return figure


def bounds_picture(last: dict[str, Any], n_rows: int) -> Figure:
    """The last of ``n_rows`` rows: the band between bounds, predictions and targets."""
    figure, axes = new_axes((8.0, 3.4))
    target, low, high = (np.array(last[name]) for name in ("target", "low", "high"))
    rows = n_rows - len(target) + 1 + np.arange(len(target))
    inside = (low <= target) & (target <= high)
    axes.fill_between(rows, low, high, color=_BLUE, alpha=0.2, linewidth=0, label="bounds")
    axes.plot(rows, last["prediction"], color=_BLUE, linewidth=1.2, label="predicted")
    for where, colour, name in ((inside, _GREY, "target"), (~inside, _ORANGE, "target outside")):
        axes.scatter(rows[where], target[where], s=9, color=colour, linewidths=0, label=name)
    _count_rows(axes)
    axes.set_ylabel("target")
    figure.legend(loc="outside upper left", frameon=False, fontsize=9, ncols=4)
    return figure


def calibration_picture(bins: Sequence[dict[str, Any]]) -> Figure:
    """How often the predicted class was right, over the probability predicted for it."""
    figure, axes = new_axes((4.2, 3.8))
    names = ("predicted", "observed", "rows")
    predicted, observed, rows = (np.array([b[name] for b in bins]) for name in names)
    low = min(0.5, float(min(predicted.min(), observed.min())))
    axes.plot([low, 1], [low, 1], color=_GREY, linewidth=1.0)
    axes.plot(predicted, observed, color=_BLUE, linewidth=1.2)
    axes.scatter(predicted, observed, s=12 + 120 * rows / rows.max(), color=_BLUE, linewidths=0)
    axes.set_xlabel("predicted probability")
    axes.set_ylabel("share that was right")
    return figure


def _finished(metric: Metric, losses: np.ndarray) -> np.ndarray:
    return np.array([metric.finish(float(loss)) for loss in losses])


def _count_rows(axes: Axes) -> None:
    """Whole numbers of rows below the axes."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    axes.set_xlabel("rows")


def _cut(names: Sequence[str], most: int) -> list[str]:
    """Names that fit, from where they differ; matplotlib takes $ for mathematics."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(_begin(name, most), []).append(name)
    texts = []
    for name in names:
        text = _begin(name, most)
        if len(alike[text]) > 1:
            letters = enumerate(zip(*alike[text], strict=False))
            same = next((i for i, found in letters if len(set(found)) > 1), most)
            text = _begin("…" + name[min(same, len(name) - most + 1) :], most)
        texts.append(text.replace("$", r"\$"))
    return texts


def _begin(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
