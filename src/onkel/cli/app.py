"""The application: its verbs, and how it reports errors."""

from __future__ import annotations

import atexit
import gc
import os
import re
import sys
from difflib import get_close_matches
from typing import Annotated, Any

import typer

from onkel._quick_start import leave_out_docs
from onkel._version import __version__
from onkel.cli import (
    algorithms,
    compare,
    datasets,
    demo,
    explain,
    export,
    info,
    live,
    predict,
    serve,
    tune,
)
from onkel.cli.console import Notes, complain, complain_of_result, fail, say_warnings
from onkel.cli.guarded import UnwrittenError, guard_streams
from onkel.cli.help import Group, Verb
from onkel.cli.learn import learn
from onkel.cli.locating import located
from onkel.cli.signals import Interrupted
from onkel.errors import UnwrittenModelFileError
from onkel.numerics.notices import heard_by

# Errors of options, and what they are in plain words.
_PLAINLY = (
    (r"Input should be a valid integer.*", "must be a whole number."),
    (r"Input should be a valid number.*", "must be a number."),
    (r"Input should be greater than or equal to (\S+?)\.?$", r"must be at least \1."),
    (r"Input should be less than or equal to (\S+?)\.?$", r"must be at most \1."),
    (r"Input should be a valid boolean.*", "must be true or false."),
    (r"Input should be (.*)", r"must be \1"),
    (r"^Value error, ", ""),
)


class _Verbs(Group):
    """Reports errors that a user can fix in one red line, with exit status 2."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb; for a word that resembles none, the error names all of them."""
        verbs = self.list_commands(ctx)
        if args[0] not in verbs and not get_close_matches(args[0], verbs):
            ctx.fail(f"No such command {args[0]!r}. There are: {', '.join(verbs)}.")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; ``ONKEL_TRACEBACK=1`` shows where an error comes from."""
        try:
            with heard_by(Notes()):
                found = super().invoke(ctx)
            sys.stdout.flush()
            return found
        except typer.BadParameter as error:
            # the library that found it speaks of inputs
            for theirs, ours in _PLAINLY:
                error.message = re.sub(theirs, ours, error.message)
            raise
        except UnwrittenError as error:
            complain_of_result(error)
            raise typer.Exit(1) from None
        except UnwrittenModelFileError as error:
            complain(str(error))
            raise typer.Exit(1) from None
        except BrokenPipeError:
            raise
        except Interrupted as signal:
            complain(signal.word)
            raise typer.Exit(signal.status) from None
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(130) from None
        except (ValueError, OSError) as error:
            if os.environ.get("ONKEL_TRACEBACK"):
                raise
            fail(located(error))


app: typer.Typer = typer.Typer(
    cls=_Verbs,
    help="Online kernel learning: nonlinear models from a stream, in one pass, in bounded memory.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(cls=Verb)(learn)
app.command(cls=Verb)(predict.predict)
app.command(cls=Verb)(explain.explain)
app.command(cls=Verb)(live.live)
app.command(cls=Verb)(serve.serve)
app.command(cls=Verb)(info.info)
app.command(cls=Verb)(export.export)
app.command(cls=Verb)(compare.compare)
app.command(cls=Verb)(tune.tune)
app.command(cls=Verb)(algorithms.algorithms)
app.command(cls=Verb)(demo.demo)
app.add_typer(datasets.app, name="datasets")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"onkel {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options before the verb."""


def main() -> None:
    """Run the command line; the console script ``onkel``."""
    # A short command mostly imports; garbage collection would take a sixth of that time, and at the
    # exit, where Python looks through all that there is, half a second.
    gc.set_threshold(500_000, 20, 20)
    atexit.register(gc.freeze)
    leave_out_docs()
    guard_streams()
    say_warnings()
    try:
        try:
            app(prog_name="onkel")
        finally:
            sys.stdout.flush()
    except UnwrittenError as error:  # what --help and --version say
        complain_of_result(error)
        sys.exit(1)
