"""The options of ``onkel learn``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from onkel.cli import options
from onkel.cli.arguments import Learning
from onkel.streams.reading import Reading


@dataclass(frozen=True, kw_only=True)
class LearnOptions(Learning):
    """What ``onkel learn`` is given."""

    algorithm: options.Algorithm = None
    features: options.Features = None
    shuffle: options.Shuffle = 0
    block_rows: options.BlockRows = Reading.block_rows
    base: options.Base = None
    delay: options.Delay = "0"
    time: options.Time = None
    group: options.Group = None
    intervals: options.IntervalsOfRun = None
    checkpoint: options.Checkpoint = None
    checkpoint_every: options.CheckpointEvery = 100_000
    resume: options.Resume = False
    overwrite: options.Overwrite = False
    workers: options.Workers = None
    scheduler: options.Scheduler = None
    skip_bad_partitions: options.SkipBad = False
    save: options.Save = None
    report: options.Report = None
    as_json: options.Json = False
    verbose: options.Verbose = False

    def kept(self, algorithm: str, params: dict[str, Any]) -> dict[str, Any]:
        """The settings that determine the model: kept with it, and compared on resuming."""
        return {
            "source": self.source,
            **self.reading().settings(),
            "algorithm": algorithm,
            "params": params,
            "scaling": self.scaling,
            "seed": self.seed,
            "delay": self.delay,
        }

    def reading(self) -> Reading:
        """How the source is read, with its columns of groups and times."""
        own = ("shuffle", "block_rows", "group", "time")
        return super().reading().changed(**{name: getattr(self, name) for name in own})


_UNITS = {"s": "seconds", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_delay(text: str) -> int | timedelta:
    """A number of rows, or a time such as 1h; ValueError for anything else.

    >>> parse_delay("24"), parse_delay("1.5h")
    (24, datetime.timedelta(seconds=5400))
    """
    if text.isdecimal():
        return int(text)
    found = re.fullmatch(r"(\d+\.?\d*)\s*(s|min|h|d|w)", text.strip())
    if found is None:
        raise ValueError(
            f"--delay {text}: must be a number of rows, or a time such as 90s, 15min, 1h, 2d or 1w"
        )
    try:
        return timedelta(**{_UNITS[found[2]]: float(found[1])})
    except OverflowError:
        raise ValueError(f"--delay {text}: is too long a time") from None
