"""Entry point of the command ``evenhand``; says which extra is missing if one is."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from evenhand.errors import MissingExtra
from evenhand.extras import load


def main() -> None:
    """Run the command line."""
    open_closed_output()
    try:
        load("typer")
        load("rich")
    except MissingExtra as error:
        sys.exit(f"evenhand: {error}")
    import_module("evenhand.cli").main()


def open_closed_output() -> None:
    """Open standard output if the caller closed it, before something else gets its number."""
    if sys.stdout is None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8")


if __name__ == "__main__":
    main()
