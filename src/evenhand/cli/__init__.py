"""The command line: a file for each command, loaded when it is called."""

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
from evenhand.errors import EvenhandError, InfeasiblePromises

__all__ = ["main"]

_RETRY_SECONDS = 0.05
_COMMANDS: Mapping[str, str] = {
    "simulate": "Play the policies of FILE in its environment, and print how they did.",
    "compare": "Compare policies on FILE's instance: worst shortfall at the horizon, regret.",
    "optimum": "Compute the optimum of FILE's environment, and the price of each floor.",
    "policies": "List the policies with their parameters and defaults.",
    "sweep": "Run every cell of FILE's grid; --resume continues a stopped sweep.",
    "report": "Write the page of a sweep, FOLDER/report.html, or print its summary.",
    "reproduce": "Run the paper's evaluation, and print a verdict for each claim.",
    "demo": "Start a service with simulated visitors and open its dashboard.",
    "serve": "Serve decisions over HTTP.",
    "db": "Work on the database of a service: verify, export, import, compact, keys.",
    "lab": "Experiments beyond the paper: study, verify, movielens.",
    "doctor": "Check what is installed, and whether it works.",
}
_GROUPS: Mapping[str, Mapping[str, str]] = {
    "db": {
        "verify": "Recount the logs of a database, and compare with its counters.",
        "export": "Write bandits of a database as JSON lines.",
        "import": "Add the bandits of FILE to a database.",
        "compact": "Drop the details of old decisions; counters and ids stay.",
        "keys": "Create, list and revoke API keys.",
    },
    "lab": {
        "study": "Compare all policies on random instances of many worlds.",
        "verify": "Check results against published numbers and known laws.",
        "movielens": "The movie experiment, on MovieLens or your own ratings.",
    },
}
# The functions of these commands are in one module.
_MODULES = {("db", name): "db" for name in ("verify", "export", "import", "compact")}


class _LazyGroup(TyperGroup):
    """A group that loads a command when it is called; its list comes from the tables above."""

    @property
    def _table(self) -> Mapping[str, str]:
        return _GROUPS.get(self.name or "", _COMMANDS)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(self._table)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load a command."""
        if cmd_name not in self._table:
            return None
        if cmd_name in _GROUPS:
            return get_command(_new_app(cmd_name, _COMMANDS[cmd_name]))
        name = _MODULES.get((self.name or "", cmd_name), cmd_name)
        with extras_named():
            module = import_module(f"{__name__}._{name}")
        own = getattr(module, "app", None)
        if own is None:
            own = typer.Typer(add_completion=False, rich_markup_mode=None)
            # A command may have the name of a Python keyword.
            own.command(cmd_name)(
                getattr(module, cmd_name, None) or getattr(module, f"{cmd_name}_")
            )
        return get_command(own)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._table.items()))


def _new_app(name: str, words: str | None = None) -> typer.Typer:
    """Return a group of commands."""
    app = typer.Typer(
        cls=_LazyGroup,
        name=name,
        help=words,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    if words is not None:
        app.callback(help=words)(lambda: None)
    return app


_app = _new_app("evenhand")


@_app.callback(invoke_without_command=True)
def _top(
    show_version: Annotated[
        bool, typer.Option("--version", help="Print version and extras, and stop.")
    ] = False,
) -> None:
    """Play the best arms that are awake, and give each arm its share."""
    if show_version:
        say(screen, import_module(f"{__name__}._doctor").version_line())
        raise typer.Exit


def _stop(number: int, frame: FrameType | None) -> None:
    """Stop; a moment later if the compiler runs, whose callbacks swallow exceptions."""
    while frame is not None:
        if "llvmlite" in frame.f_code.co_filename:
            signal.setitimer(signal.ITIMER_REAL, _RETRY_SECONDS)
            return
        frame = frame.f_back
    raise Stopped


def main() -> None:
    """Run a command; an input error is one line on standard error and exit code 2.

    Infeasible floors have exit code 3.
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
        sys.exit(INFEASIBLE if isinstance(error, InfeasiblePromises) else 2)
    except MemoryError as error:
        say(errors, f"evenhand: {str(error) or 'not enough memory'}")
        sys.exit(1)
    except OSError as error:
        say(errors, f"evenhand: {str(error) or type(error).__name__}")
        sys.exit(1)
    except Stopped:
        errors.print("evenhand: stopped")
        sys.exit(130)
