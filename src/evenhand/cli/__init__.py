"""The command line: one file a command."""

from __future__ import annotations

import io
import signal
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from evenhand.cli.compare import compare
from evenhand.cli.movielens import app as movielens
from evenhand.cli.optimum import INFEASIBLE, optimum
from evenhand.cli.policies import policies
from evenhand.cli.report import report
from evenhand.cli.reproduce import reproduce
from evenhand.cli.screen import Stopped, errors, say, screen
from evenhand.cli.simulate import simulate
from evenhand.cli.study import study
from evenhand.cli.sweep import sweep
from evenhand.errors import EvenhandError, InfeasibleFloors

app = typer.Typer(
    name="evenhand",
    help="Even-handed bandits: play the best arms that are awake, and give each arm its share.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(reproduce)
app.command()(simulate)
app.command()(optimum)
app.command()(compare)
app.command()(policies)
app.command()(study)
app.command()(sweep)
app.command()(report)
app.add_typer(movielens, name="movielens")


@app.callback(invoke_without_command=True)
def top(
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.")
    ] = False,
) -> None:
    """Even-handed bandits: play the best arms that are awake, and give each arm its share."""
    if show_version:
        screen.print(version("evenhand"))
        raise typer.Exit


def _stop(number: int, frame: object) -> None:
    raise Stopped


def main() -> None:
    """Run a command; a mistake in the input is one line on standard error and exit code 2.

    Floors that no policy could keep are no mistake of form: they have the exit code 3.
    """
    try:
        signal.signal(signal.SIGINT, _stop)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        app()
    except EvenhandError as error:
        say(errors, f"evenhand: {error}")
        sys.exit(INFEASIBLE if isinstance(error, InfeasibleFloors) else 2)
    except MemoryError as error:
        say(errors, f"evenhand: {str(error) or 'not enough memory'}")
        sys.exit(1)
    except OSError as error:
        say(errors, f"evenhand: {str(error) or type(error).__name__}")
        sys.exit(1)
    except Stopped:
        errors.print("evenhand: stopped")
        sys.exit(130)
