"""The options of ``onkel serve``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from onkel.cli.live.options import EventOptions
from onkel.cli.options import of_run


@dataclass(frozen=True, kw_only=True)
class ServeOptions(EventOptions):
    """What ``onkel serve`` is given."""

    host: Annotated[str, of_run("Address to listen at.", "--host", metavar="ADDRESS")] = "127.0.0.1"
    port: Annotated[int, of_run("Port to listen at; 0: any.", "--port", min=0, max=65535)] = 8000
    token_file: Annotated[
        Path | None,
        of_run("File with the token that requests must bear.", "--token-file", metavar="FILE"),
    ] = None
    keyed: Annotated[
        bool, of_run("A model for each key, made from MODEL: /models/KEY/...", "--keyed/--one")
    ] = False
    follow: Annotated[
        bool, of_run("Only predict, with the newest MODEL that another process saves.", "--follow")
    ] = False
    max_models: Annotated[
        int, of_run("Models in memory; others are on disk.", "--max-models", min=1, metavar="N")
    ] = 10_000
    max_memory: Annotated[
        int, of_run("MB of the models in memory.", "--max-memory", min=1, metavar="MB")
    ] = 1_000
    max_body: Annotated[
        int, of_run("Bytes of a body.", "--max-body", min=1_000, metavar="BYTES")
    ] = 16 << 20
    max_rows: Annotated[int, of_run("Rows of a request.", "--max-rows", min=1, metavar="N")] = (
        10_000
    )
    max_columns: Annotated[
        int, of_run("Columns of a model.", "--max-columns", min=1, metavar="N")
    ] = 1_000
    timeout: Annotated[
        float, of_run("Seconds until a body must have come.", "--timeout", min=0.1, metavar="S")
    ] = 30.0
