"""Numbers for people."""

from __future__ import annotations

from collections.abc import Sequence


def short(number: float) -> str:
    """A count in three digits; "-" if there is none.

    >>> short(1_534_000), short(20_140), short(700)
    ('1.53M', '20.1k', '700')
    """
    if number != number:
        return "-"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size * 0.9995:
            return f"{number / size:.3g}{letter}"
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def bytes_text(size: float) -> str:
    """A size in bytes, kB, MB or GB.

    >>> bytes_text(12_800)
    '12.8 kB'
    """
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:.0f} B"


def duration(seconds: float) -> str:
    """A time in the unit that reads best.

    >>> duration(0.42), duration(125)
    ('420 ms', '2 min 05 s')
    """
    if seconds < 1:
        return f"{1000 * seconds:.3g} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return clock(int(seconds))


def skill_text(skill: float) -> str:
    """The share of a baseline's loss that is avoided; far below 0 in four digits.

    >>> skill_text(0.98765), skill_text(-82_167_537_919.31)
    ('0.988', '-8.217e+10')
    """
    return f"{skill:.3f}" if abs(skill) < 1e4 else f"{skill:.4g}"


def label_text(label: object) -> str:
    """A label as files hold it: a flag is true or false.

    >>> label_text(True), label_text(3), label_text("yes")
    ('true', '3', 'yes')
    """
    return str(label).lower() if isinstance(label, bool) else str(label)


def clock(seconds: int) -> str:
    """Whole seconds, as they are counted down.

    >>> clock(42), clock(125)
    ('42 s', '2 min 05 s')
    """
    return f"{seconds} s" if seconds < 60 else f"{seconds // 60} min {seconds % 60:02d} s"


def listed(values: Sequence[object], most: int = 20) -> str:
    """The first of some values, separated by commas; with their number where not all are shown.

    >>> listed(["a", "b", "c"], 2)
    'a, b, ... (3 in all)'
    """
    more = f", ... ({len(values):,} in all)" if len(values) > most else ""
    return ", ".join(map(str, values[:most])) + more
