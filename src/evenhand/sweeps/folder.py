"""A sweep on disk: what it is, and the parts that are done.

::

    sweep.json        the grid, and where it came from
    parts/            runs FIRST to STOP - 1 of the grid as FIRST-STOP.parquet
    failures.json     what was given up, if anything was
    summary.parquet   one line a cell, written when the sweep has ended
    .lock             held while a sweep is writing

A part appears by one rename, whole, and its name says which runs it holds; so what is missing can
be read off the names, and nothing is ever counted twice.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.errors import InputError
from evenhand.provenance import matching_versions, provenance
from evenhand.storage import check_folder, write_text, write_whole
from evenhand.sweeps.grid import Grid

ABOUT, PARTS, FAILURES = "sweep.json", "parts", "failures.json"
SUMMARY, LOCK = "summary.parquet", ".lock"
NAME = re.compile(r"(\d{12})-(\d{12})\.parquet")
MAGIC = b"PAR1"
MANY = 8


class PartFile(NamedTuple):
    """A part on disk, with the runs that it holds."""

    runs: range
    path: Path


def check(folder: Path, grid: Grid, *, resume: bool) -> list[range]:
    """Complain about a folder that a sweep could not go into; return the runs that it lacks."""
    with unwritable_told(folder):
        fresh = not (folder / ABOUT).exists()
    if not fresh and not resume:
        raise InputError(f"{str(folder)!r} holds a sweep already; to go on with it, resume it")
    if not fresh:
        check_same(folder, describe(grid))
    check_folder(folder, overwrite=resume and (not fresh or _only_rubble(folder)))
    return [range(grid.runs)] if fresh else missing(folder, grid.runs)


@contextmanager
def opened(folder: Path, grid: Grid) -> Iterator[list[range]]:
    """Hold a checked folder for writing; give the runs that are missing."""
    with unwritable_told(folder), locked(folder):
        if (folder / ABOUT).exists():
            check_same(folder, describe(grid))
        else:
            about = {**provenance({}), **describe(grid)}
            write_text(folder / ABOUT, json.dumps(about, indent=2) + "\n")
        (folder / PARTS).mkdir(exist_ok=True)
        (folder / FAILURES).unlink(missing_ok=True)
        clear_rubble(folder)
        yield missing(folder, grid.runs)


@contextmanager
def unwritable_told(folder: Path) -> Iterator[None]:
    """Say in one line what the system has against writing here: no room, no right, no such name."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write into {str(folder)!r}: {error.strerror}") from None


def describe(grid: Grid) -> dict[str, Any]:
    """Return all that results depend on, as JSON gives it back."""
    about: dict[str, Any] = json.loads(
        json.dumps({"settings": grid.describe(), "matching": matching_versions()})
    )
    return about


def _only_rubble(folder: Path) -> bool:
    """Say whether a sweep was killed here before it had written what it is."""
    return folder.is_dir() and all(path.name.startswith(".") for path in folder.iterdir())


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep others from writing here; the lock goes with the process, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as lock:
        if find_spec("fcntl") is not None:
            fcntl = import_module("fcntl")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(f"{str(folder)!r} is being written by another sweep") from None
        yield


def check_same(folder: Path, described: Mapping[str, Any]) -> None:
    """Refuse to go on with the results of something else, and say what differs."""
    about = read_about(folder)
    found = [
        line
        for key, place in (("settings", ""), ("matching", "versions"))
        for line in differences(about.get(key), described[key], place)
    ]
    if found:
        shown = "; ".join(found[:MANY])
        more = f"; and {len(found) - MANY} more" if len(found) > MANY else ""
        raise InputError(f"{str(folder)!r} holds results of another sweep: {shown}{more}")


def differences(there: object, here: object, place: str = "") -> Iterator[str]:
    """Say where two plain documents differ.

    >>> list(differences({"seed": 1, "horizons": [10]}, {"seed": 2, "horizons": [10, 20]}))
    ['seed is 1 there and 2 here', 'horizons[1] is only here']
    """
    if isinstance(there, Mapping) and isinstance(here, Mapping):
        if set(there) == set(here) and list(there) != list(here):
            yield f"{place} are in another order"
        for key in [*there, *(key for key in here if key not in there)]:
            inner = f"{place}.{key}" if place else str(key)
            if key not in here or key not in there:
                yield f"{inner} is only {'here' if key in here else 'there'}"
            else:
                yield from differences(there[key], here[key], inner)
    elif isinstance(there, list) and isinstance(here, list):
        one, two = ({f"[{i}]": value for i, value in enumerate(values)} for values in (there, here))
        yield from (line.replace(".[", "[") for line in differences(one, two, place))
    elif there != here:
        yield f"{place} is {there!r} there and {here!r} here"


def read_about(folder: Path) -> dict[str, Any]:
    """Return what a sweep is, or complain about a folder that holds none."""
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        if isinstance(about, dict):
            return about
        reason = f"{ABOUT} is damaged"
    except OSError as error:
        reason = f"{ABOUT}: {error.strerror}"
    except ValueError as error:
        reason = f"{ABOUT} is damaged: {error}"
    raise InputError(f"{str(folder)!r} must hold a sweep: {reason}")


def clear_rubble(folder: Path) -> None:
    """Remove what a sweep left that was killed while writing, and parts that have no end."""
    for name in (ABOUT, FAILURES, SUMMARY, f"{PARTS}/*.parquet"):
        place, _, file = name.rpartition("/")
        for path in (folder / place).glob(f".{file}.*"):
            path.unlink()
    for part in _named(folder):
        if not _is_whole(part.path):
            part.path.unlink()


def _is_whole(path: Path) -> bool:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - len(MAGIC), 0))
        return file.read() == MAGIC


def parts(folder: Path, runs: int) -> list[PartFile]:
    """Return the parts that are whole, in the order of their runs, which must not overlap."""
    whole = [part for part in _named(folder) if _is_whole(part.path)]
    whole.sort(key=lambda part: part.runs.start)
    end = 0
    for part in whole:
        if part.runs.start < end or part.runs.stop > runs:
            raise InputError(f"{str(part.path)!r} must be a part of this sweep, and of no other")
        end = part.runs.stop
    return whole


def _named(folder: Path) -> Iterator[PartFile]:
    """Yield whatever has the name of a part."""
    for path in (folder / PARTS).glob("*"):
        match = NAME.fullmatch(path.name)
        if match is not None:
            yield PartFile(range(int(match[1]), int(match[2])), path)


def missing(folder: Path, runs: int) -> list[range]:
    """Return the runs that no part holds."""
    gaps, end = [], 0
    for part in parts(folder, runs):
        if part.runs.start > end:
            gaps.append(range(end, part.runs.start))
        end = part.runs.stop
    return [*gaps, range(end, runs)] if end < runs else gaps


def write_part(folder: Path, runs: range, content: bytes) -> None:
    """Write a part, whole or not at all."""
    path = folder / PARTS / f"{runs.start:012d}-{runs.stop:012d}.parquet"
    write_whole(path, lambda neighbour: neighbour.write_bytes(content))


def write_failures(folder: Path, failures: Sequence[Mapping[str, Any]]) -> None:
    """Write what was given up; leave no such file if nothing was."""
    if failures:
        write_text(folder / FAILURES, json.dumps(list(failures), indent=2) + "\n")
