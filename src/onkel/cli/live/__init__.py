"""``onkel live``: one process in a pipe, or at a broker, that predicts rows and learns labels."""

from __future__ import annotations

import gc
import os
import sys
import time

import typer

from onkel.cli.arguments import command
from onkel.cli.guarded import never_wait
from onkel.cli.live.options import LiveOptions
from onkel.numerics.threads import keep_one_blas_thread

# Seconds after which a thread hands over to another that waits.
_SWITCH = 0.0001


@command(LiveOptions)
def live(options: LiveOptions) -> None:
    """Predict rows as they come, and learn their labels when they come.

    A line {"id": 7, "size": 3.5} is answered at once; the line {"id": 7, "y": 12.0} is its label.
    A row does not wait for labels that take long, as when the learner searches.

    Example: orders | onkel live prices.onkel --task regression -t price | shop
    """
    if os.name != "posix":
        raise ValueError("onkel live needs pipes and signals as POSIX has them")
    from onkel.persistence.locking import only_writer
    from onkel.serve.brokers import is_broker

    with only_writer(options.model):
        status = _at_broker(options) if is_broker(options.source) else _in_pipe(options)
    if status:
        raise typer.Exit(status)


def _in_pipe(options: LiveOptions) -> int:
    from onkel.cli.live.opening import open_durable, open_model
    from onkel.cli.live.pipe import Pipe, is_file
    from onkel.cli.outputs import check_outputs
    from onkel.cli.signals import Interrupts
    from onkel.persistence.untouched import Untouched
    from onkel.serve.warmup import compile_where_needed
    from onkel.streams.files import find_files

    began = time.monotonic()
    for name in ("out", "labels", "client"):
        if getattr(options, name) is not None:
            raise ValueError(
                f"--{name} is for a broker, such as kafka://host/topic; SOURCE is {options.source}"
            )
    check_outputs(options.model, inputs=[options.source])
    sources = find_files(options.source)
    if len(sources) > 1:
        raise ValueError(f"{options.source}: onkel live reads one file or pipe")
    never_wait()
    saved, durable = Untouched(options.model), None
    if options.journal is not None:
        keep_one_blas_thread()
        durable = open_durable(options, options.journal)
    model = open_model(options) if durable is None else durable.live
    if sources[0].once and not (options.source == "-" and is_file(0)):
        compile_where_needed(model)
    # garbage is looked for often, and each time in few objects
    gc.set_threshold(10_000, 5, 80)
    # a thread that saves hands over soon to the one that answers rows
    sys.setswitchinterval(_SWITCH)
    with Interrupts(end_input=True) as interrupts, sources[0].opened() as raw:
        status = Pipe(model, options, raw.fileno(), 1, interrupts, durable, began, saved).run()
    if durable is not None:
        durable.journal.close()
    return status


def _at_broker(options: LiveOptions) -> int:
    from onkel.cli.live.broker import run
    from onkel.cli.outputs import check_outputs

    for name in ("format", "sep"):
        if (given := getattr(options, name)) != getattr(LiveOptions, name):
            raise ValueError(
                f"--{name} {given}: messages of a broker are JSON; leave the option out"
            )
    check_outputs(options.model)
    never_wait()
    # a start takes the journal again, perhaps on other cores, and must round as before
    keep_one_blas_thread()
    return run(options)
