"""Entry point of the command ``evenhand``.

What can go wrong before there is a command line is settled here, before anything slow is loaded:
Ctrl-C, streams that the caller closed, and extras that are missing.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

# As in typing, which takes a while to load; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

STOPPED = 130


def main() -> None:
    """Run the command line."""
    try:
        signal = import_module("signal")
        signal.signal(signal.SIGINT, leave)
        open_closed_streams()
        check_extras()
        cli = import_module("evenhand.cli")
    except KeyboardInterrupt:
        leave()
    cli.main()


def leave(*given: object) -> NoReturn:
    """Exit at once: nothing has been started yet."""
    os.write(2, b"evenhand: stopped\n")
    os._exit(STOPPED)


def check_extras() -> None:
    """Exit with a sentence if the packages of the command line are not installed."""
    missing = import_module("evenhand.errors").MissingExtra
    try:
        for package in ("typer", "rich"):
            import_module("evenhand.core.extras").load(package)
    except missing as error:
        if sys.argv[1:] == ["--version"]:
            version = import_module("importlib.metadata").version("evenhand")
            sys.exit(print(f"evenhand {version} (core only)"))
        sys.exit(f"evenhand: {error}")


def open_closed_streams() -> None:
    """Open standard streams that the caller closed, before something else gets their numbers."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDONLY if mode == "r" else os.O_WRONLY)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))


if __name__ == "__main__":
    main()
