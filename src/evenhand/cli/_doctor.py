"""``evenhand doctor``: what is installed, and whether it works."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from typing import NamedTuple

import numpy as np
import typer
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from rich.markup import escape
from rich.table import Table

from evenhand.cli._screen import errors, print_table, say, screen
from evenhand.core.checks import brief
from evenhand.core.provenance import commit
from evenhand.environment import Environment
from evenhand.errors import EvenhandError, MissingExtra
from evenhand.problem import Problem
from evenhand.simulation import simulate
from evenhand.simulation.runner import available_cores

OWN, WRONG = "evenhand", "[red]"
FOR_DEVELOPERS = ("dev", "docs")


class Needed(NamedTuple):
    """A package that an extra needs: which versions, and which one is installed, if any."""

    package: str
    wanted: SpecifierSet
    found: str | None

    @property
    def too_old(self) -> bool:
        """Whether the installed version is not one of the wanted ones."""
        return self.found is not None and not self.wanted.contains(self.found, prereleases=True)


def needed() -> dict[str, list[Needed]]:
    """Return what every extra needs by its name; what is always needed comes first, as ``core``.

    >>> [one.package for one in needed()["gym"]]
    ['gymnasium']
    """
    names = [*(metadata(OWN).get_all("Provides-Extra") or []), ""]
    extras: dict[str, list[Needed]] = {"core": []}
    for requirement in map(Requirement, requires(OWN) or []):
        marker = requirement.marker
        users = [name for name in names if marker is None or marker.evaluate({"extra": name})]
        for name in ["core"] if "" in users else users:
            if requirement.name != OWN and name not in FOR_DEVELOPERS:
                found = installed(requirement.name)
                part = Needed(requirement.name, requirement.specifier, found)
                extras.setdefault(name, []).append(part)
    return extras


def installed(package: str) -> str | None:
    """Return the version of a package, if it is there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def version_line() -> str:
    """Return what ``--version`` prints: the version, Python's, and the extras that are there."""
    complete = [name for name, parts in needed().items() if all(part.found for part in parts)]
    extras = ", ".join(name for name in complete if name != "core") or "none"
    return f"{OWN} {version(OWN)} (Python {platform.python_version()}; extras: {extras})"


def doctor() -> None:
    """Say what is installed and whether it works; exit code 1 if something does not."""
    say(screen, version_line())
    where = f"{platform.platform()}, {available_cores()} of {os.cpu_count()} cores"
    built = commit()
    say(screen, where + (f", commit {built[:12]}" if built else ""))
    screen.print()
    print_table(packages_table(needed()))
    screen.print()
    with errors.status("trying them, which takes half a minute the first time"):
        found = {words: outcome(check) for words, check in CHECKS.items()}
    table = Table(box=None, pad_edge=False, show_header=False)
    for words, said in found.items():
        table.add_row(words, said)
    print_table(table)
    old = any(part.too_old for parts in needed().values() for part in parts)
    raise typer.Exit(1 if old or any(said.startswith(WRONG) for said in found.values()) else 0)


def packages_table(extras: dict[str, list[Needed]]) -> Table:
    """Return a line for each package, with the extras that it is part of."""
    table = Table("package", "wanted", "found", "for", box=None, pad_edge=False)
    parts = dict.fromkeys(part for needs in extras.values() for part in needs)
    for part in parts:
        users = ", ".join(name for name, needs in extras.items() if part in needs)
        found = part.found or "[yellow]not installed[/yellow]"
        if part.too_old:
            found = f"{WRONG}{part.found}, too old[/red]"
        table.add_row(part.package, str(part.wanted), found, users)
    return table


def outcome(check: Callable[[], None]) -> str:
    """Return how a check went: works, lacks an extra, or what is wrong."""
    try:
        check()
    except MissingExtra as error:
        return f"[yellow]{escape(str(error))}[/yellow]"
    except Exception as error:
        return f"{WRONG}{type(error).__name__}: {escape(brief(str(error)))}[/red]"
    return "works"


def same_bits() -> None:
    """Play a few rounds with both engines, and compare."""
    nature = Environment(Problem(3, plays=2, floors=[0.5, 0.6, 0.4]), [0.4, 0.5, 0.7], 0.8)
    both = [
        simulate(nature, ["priced"], horizon=200, engine=engine, progress=False)
        for engine in ("compiled", "reference")
    ]
    if not np.array_equal(both[0].expected, both[1].expected):
        raise EvenhandError("the compiled engine and the readable one differ")


def tables() -> None:
    """Make a table of results."""
    nature = Environment(Problem(2, plays=1), 0.5)
    simulate(nature, ["priced"], horizon=10, progress=False).rounds_table()


CHECKS: dict[str, Callable[[], None]] = {
    "compiled engine, the same bits as the readable one": same_bits,
    "tables of results": tables,
}
