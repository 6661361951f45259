"""``onkel reproduce`` without a name: what there is."""

from __future__ import annotations

from onkel.cli.console import note, stdout


def show() -> None:
    """What there is: name, title, data, what is missing here, minutes."""
    from onkel import datasets
    from onkel.experiments import EXPERIMENTS
    from onkel.experiments.formats import rich_table
    from onkel.experiments.running.minutes import minutes_of

    rows = []
    for entry in EXPERIMENTS.values():
        here = [name for name in entry.datasets if datasets.info(name).local]
        absent = [name for name in entry.datasets if name not in here]
        minutes = f"{max(1.0, minutes_of(entry)):,.0f}" if entry.cases else ""
        rows.append([entry.name, entry.title, " ".join(here), " ".join(absent), minutes])
    head = ("name", "what", "data here", "missing here", "min")
    stdout().print(rich_table(head, rows, left=head[:-1], folded=head[1:-1]))
    note(
        "min: about so many on one core, with the data that are here. "
        "'onkel datasets list' tells where data lie."
    )
