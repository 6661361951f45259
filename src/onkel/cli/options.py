"""What ``onkel learn`` was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["LearnOptions"]


@dataclass(frozen=True)
class LearnOptions:
    """Options of the command line, as plain values."""

    source: str
    target: str | None
    algorithm: str | None
    task: str
    params: tuple[str, ...]
    scaling: str
    seed: int
    format: str | None
    exclude: tuple[str, ...]
    missing: str
    n_hash: int
    shuffle: int
    dtype: str
    limit: int | None
    checkpoint: Path | None
    checkpoint_every: int
    resume: bool
    save: Path | None
    report: Path | None
    as_json: bool
    verbose: bool

    def settings(self, algorithm: str, params: dict[str, Any]) -> dict[str, Any]:
        """What decides on the model: kept with it, and compared when a run is resumed.

        Parameters
        ----------
        algorithm : str
            Name, chosen or by default.
        params : dict
            Its parameters, parsed.

        Returns
        -------
        dict
            JSON-able.
        """
        return {
            "source": self.source,
            "target": self.target,
            "format": self.format,
            "exclude": list(self.exclude),
            "missing": self.missing,
            "n_hash": self.n_hash,
            "shuffle": self.shuffle,
            "dtype": self.dtype,
            "algorithm": algorithm,
            "params": params,
            "scaling": self.scaling,
            "seed": self.seed,
        }
