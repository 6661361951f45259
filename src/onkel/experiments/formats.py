"""How numbers, settings and tables are written, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

_DIGITS = {"mistakes": 2, "accuracy": 2, "mse": 5, "rmse": 2, "error": 4, "regret": 2, "moves": 0,
           "rate": 2}  # fmt: skip
_SYMBOLS = {
    "n_components": "D",
    "budget": "B",
    "rank": "k",
    "learning_rate": "η",
    "learning_rate_gamma": "η_γ",
    "damping": "N",
    "alpha": "λ",
    "nu": "ν",
    "C": "C",
    "variant": "variant",
    "gamma": "gamma",
    "orthogonal": "orthogonal",
    "schedule": "η_t",
    "loss": "loss",
}
_SHORT = {"inverse_sqrt": "η/√t"}


def mean_std(value: float, std: float | None, metric: str) -> str:
    """Mean ± standard deviation in the digits of the metric; the mean alone for None."""
    digits = 3 if metric == "rmse" and value < 1.0 else _DIGITS[metric]
    return f"{value:.{digits}f}" + ("" if std is None else f" ± {std:.{digits}f}")


def parameters(given: Mapping[str, Any]) -> str:
    """Parameters of an estimator in the papers' symbols."""
    parts = []
    for name, symbol in _SYMBOLS.items():
        if name in given:
            value = given[name]
            # for landmarks, n_components is the budget
            symbol = "B" if name == "n_components" and "rank" in given else symbol
            text = _width(value) if name == "gamma" else _text(value)
            parts.append(f"{symbol} = {text}")
    return ", ".join(parts)


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else _SHORT.get(value, str(value))


def _width(value: Any) -> str:
    """As other numbers, but powers of two below 1 as fractions, such as 1/128."""
    inverse = 1.0 / value if isinstance(value, float) and 0.0 < value < 1.0 else 0.5
    whole = inverse.is_integer() and int(inverse).bit_count() == 1
    return f"1/{inverse:.0f}" if whole else _text(value)


def rich_table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    left: Collection[str],
    folded: Collection[str] = (),
) -> Table:
    """A table for a terminal; columns in ``left`` are text, those in ``folded`` may be wrapped."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in head:
        table.add_column(
            title, justify="left" if title in left else "right", no_wrap=title not in folded
        )
    for row in rows:
        table.add_row(*row)
    return table


def markdown_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], left: Collection[str]
) -> str:
    """A table for a page; columns in ``left`` are text."""
    rule = "|" + "|".join("---" if title in left else "--:" for title in head) + "|"
    return "\n".join([_line(head), rule, *map(_line, rows)])


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
