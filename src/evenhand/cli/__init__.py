"""The command line: a file for each command, or for a few, loaded when it is called."""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Mapping
from importlib import import_module
from types import FrameType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from evenhand.cli._screen import INFEASIBLE, Stopped, errors, say, screen
from evenhand.core.extras import extras_named
from evenhand.errors import EvenhandError, InfeasibleFloors

__all__ = ["main"]

_RETRY_SECONDS = 0.05
_COMMANDS: Mapping[str, str] = {
    "simulate": "Play the policies of FILE in its environment and say how they did.",
    "compare": "Run policies on FILE's instance: worst shortfall at the horizon against regret.",
    "optimum": "Find the best that could be had in FILE's environment, and what each floor costs.",
    "policies": "List the policies, what each one does, and its parameters with their defaults.",
    "sweep": "Play every cell of FILE's grid; a sweep that was stopped goes on with --resume.",
    "report": "Write the page of a sweep, FOLDER/report.html, or its summary as a table.",
    "reproduce": "Run the paper's evaluation and tell, claim by claim, what holds.",
    "study": "Compare all policies on random instances of many worlds: who wins where.",
    "verify-science": "Check against other people's numbers, and laws that must hold.",
    "movielens": "The movie experiment on MovieLens, or your ratings.",
    "demo": "Show the whole system alive: a service, visitors, and a page to watch.",
    "serve": "Serve decisions over HTTP, from a database that survives anything.",
    "keys": "Make, list and revoke the keys that open the service.",
    "verify": "Count the logs of a database again, and compare with its counters.",
    "export": "Write bandits of a database as JSON lines.",
    "import": "Add the bandits of FILE to a database.",
    "compact": "Fold old events of a database into its counters.",
    "doctor": "Say what is installed and whether it works.",
}
_MODULES = dict.fromkeys(("verify", "export", "import", "compact"), "database")


class _Commands(TyperGroup):
    """Loads a command when it is called; their list comes from the table above."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load a command."""
        if cmd_name not in _COMMANDS:
            return None
        with extras_named():
            python_name = cmd_name.replace("-", "_")
            module = import_module(f"{__name__}._{_MODULES.get(cmd_name, python_name)}")
        own = getattr(module, "app", None)
        if own is None:
            own = typer.Typer(add_completion=False, rich_markup_mode=None)
            # A command may be called like a keyword of Python's.
            function = getattr(module, python_name, None) or getattr(module, f"{python_name}_")
            own.command(cmd_name)(function)
        return get_command(own)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


_app = typer.Typer(
    cls=_Commands,
    name="evenhand",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@_app.callback(invoke_without_command=True)
def _top(
    show_version: Annotated[
        bool, typer.Option("--version", help="Print version and extras, and stop.")
    ] = False,
) -> None:
    """Even-handed bandits: play the best arms that are awake, and give each arm its share."""
    if show_version:
        say(screen, import_module(f"{__name__}._doctor").version_line())
        raise typer.Exit


def _stop(number: int, frame: FrameType | None) -> None:
    """Stop; a moment later if the compiler is at work, whose callbacks swallow every exception."""
    while frame is not None:
        if "llvmlite" in frame.f_code.co_filename:
            signal.setitimer(signal.ITIMER_REAL, _RETRY_SECONDS)
            return
        frame = frame.f_back
    raise Stopped


def main() -> None:
    """Run a command; a mistake in the input is one line on standard error and exit code 2.

    Floors that no policy could keep are no mistake of form: they have the exit code 3.
    """
    try:
        signal.signal(signal.SIGINT, _stop)
        if hasattr(signal, "SIGALRM"):
            signal.signal(signal.SIGALRM, _stop)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        _app()
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
