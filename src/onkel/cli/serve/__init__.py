"""``onkel serve``: a model as a service over HTTP that never loses an event."""

from __future__ import annotations

import os
import socket
import sys
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from onkel.cli.arguments import command
from onkel.cli.console import say_line
from onkel.cli.live.opening import how_of, new_model, open_durable, refuse_others
from onkel.cli.serve.options import ServeOptions
from onkel.columns.failures import count
from onkel.numerics.threads import keep_one_blas_thread
from onkel.persistence.locking import only_writer

if TYPE_CHECKING:
    import uvicorn

    from onkel.serve.http.service import Service

_LONGEST_DRAIN = 10
_SWITCH = 0.001
_REMEMBERED_OF_A_KEY = 1_000
# A connection on which nothing is asked is closed after so many seconds.
_IDLE = 60


@command(ServeOptions)
def serve(options: ServeOptions) -> None:
    """Serve a model over HTTP: it predicts rows, and learns their labels when they come.

    POST /predict {"id": 7, "size": 3.5} is answered at once; POST /label {"id": 7, "y": 12.0} is
    its label. The page at / shows how well it does.

    Example: onkel serve prices.onkel --task regression --target price
    """
    if os.name != "posix":
        raise ValueError("onkel serve needs file locks as POSIX has them")
    try:
        import uvicorn

        from onkel.serve.http.app import make_app
        from onkel.serve.http.bodies import Limits
        from onkel.serve.http.service import Service
    except ModuleNotFoundError as error:
        raise ValueError(f"onkel serve needs {error.name}: pip install 'onkel[serve]'") from None
    # a replay of the journal must round as the thread did that learned its events first
    keep_one_blas_thread()
    token = None if options.token_file is None else _token(options.token_file)
    if token is None and options.host not in ("127.0.0.1", "::1", "localhost"):
        say_line(f"anybody who reaches {options.host} may use this model; give --token-file")
    limits = Limits(options.max_body, options.max_rows, options.max_columns, options.timeout)
    writer = nullcontext() if options.follow else only_writer(options.model)
    with writer, _listen(options.host, options.port) as listening:
        models = _models(options)
        service = Service(models, options.model.stem, limits, say_line)
        warming = threading.Thread(
            target=_warm_up, args=(service,), name="onkel warm_up", daemon=True
        )
        config = uvicorn.Config(
            make_app(service, token), log_level="warning",
            access_log=False, timeout_keep_alive=_IDLE, timeout_graceful_shutdown=_LONGEST_DRAIN,
            lifespan="on", server_header=False, h11_max_incomplete_event_size=64 << 10, ws="none",
            proxy_headers=False,
        )  # fmt: skip
        try:
            _run(uvicorn.Server(config), listening, service, warming)
        except BaseException:
            models.close()
            raise
    say_line("ended" if options.follow else "saved; ended")
    if models.moved:
        raise typer.Exit(1)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise ValueError(
            f"--host {host} --port {port}: cannot listen there ({error.strerror or error}); give "
            "another --port"
        ) from None


def _run(
    server: uvicorn.Server, listening: socket.socket, service: Service, warming: threading.Thread
) -> None:
    """Serve until a signal comes: then what came is answered, and the models are saved."""
    import asyncio
    import signal

    # a thread that learns hands over sooner to the one that reads requests
    sys.setswitchinterval(_SWITCH)

    async def main() -> None:
        loop = asyncio.get_running_loop()

        def end(number: int) -> None:
            if service.ending:
                # what was answered is in the journal
                say_line("a second signal: ended at once; the next start takes the journal again")
                os._exit(128 + number)
            server.should_exit = service.ending = True

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, end, number)
        task = asyncio.create_task(server._serve([listening]))
        while not (server.started or task.done()):
            await asyncio.sleep(0.01)
        if server.started:
            warming.start()
            host, port = listening.getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            say_line(f"listening at http://{shown}:{port}")
        await task

    with asyncio.Runner(loop_factory=_loop()) as runner:
        runner.run(main())
    if not server.started:
        raise typer.Exit(1)


def _loop() -> Any:
    """The faster event loop, where it is installed."""
    try:
        import uvloop
    except ModuleNotFoundError:
        return None
    return uvloop.new_event_loop


def _models(options: ServeOptions) -> Any:
    """The models and their journal, after recovery."""
    from onkel.serve.one_model import OneModel

    how: dict[str, Any] = {"acknowledge": True, "say": _nothing}
    when = options.save_every, options.save_seconds
    if options.follow:
        return _replica(options, how)
    if options.keyed:
        return _keyed(options, how)
    folder = options.journal or Path(f"{options.model}.journal")
    return OneModel(open_durable(options, folder, **how), *when)


def _replica(options: ServeOptions, how: dict[str, Any]) -> Any:
    from onkel.serve.replica import Replica

    for name in ("keyed", "journal"):
        if getattr(options, name):
            raise ValueError(f"--{name}: a service that follows a file has none; leave it out")
    models = Replica(options.model, how_of(options) | how)
    live = models.names(None)
    refuse_others(options, live.model)
    say_line(f"following {options.model}, now of {count(live.model.n_rows, 'row')}")
    return models


def _keyed(options: ServeOptions, how: dict[str, Any]) -> Any:
    from onkel.serve import LiveModel
    from onkel.serve.journal import Journal
    from onkel.serve.keyed import KeyedModels

    how = how_of(options) | {"once": True, "remember": _REMEMBERED_OF_A_KEY} | how
    if options.model.exists():
        template = LiveModel.load(options.model, **how)
        refuse_others(options, template.model)
    else:
        template = new_model(options, **how)
    path = Path(f"{options.model}.keys")
    journal = Journal(options.journal or Path(f"{path}.journal"))
    models = KeyedModels(
        path, template.to_bytes(), journal, how,
        max_models=options.max_models, max_bytes=options.max_memory * 1_000_000,
        save_every=options.save_every, save_seconds=options.save_seconds,
    )  # fmt: skip
    if not options.model.exists():
        template.write(options.model)
    if again := models.recover():
        say_line(f"taken again from {journal.folder}: {count(again, 'event')}")
    there = count(len(models.keys()), "model")
    say_line(f"{there} in {path}; a new key begins with {options.model}")
    return models


def _warm_up(service: Service) -> None:
    from onkel.serve.warmup import warm_up

    try:
        with service.models.reading(None) as live:
            content = live.model.to_bytes()
        warm_up(live, content)
    except Exception as error:
        say_line(f"loops could not be compiled beforehand: {error}")
    service.ready = True


def _token(path: Path) -> str:
    try:
        token = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"--token-file {path}: cannot be read ({error})") from None
    if not token or not token.isascii() or len(token.split()) != 1:
        raise ValueError(f"--token-file {path}: must hold one word of ASCII characters")
    return token


def _nothing(line: str) -> None:
    """Print nothing: the client that sent what cannot be used gets the error."""
