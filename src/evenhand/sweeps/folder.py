"""A sweep on disk: what it is, and the parts that are done.

::

    sweep.json        the grid, where it came from, and the versions that have played it
    parts/            runs FIRST to STOP - 1 of the grid as FIRST-STOP.parquet
    failures.json     what was given up, if anything was
    .lock             there while a sweep is writing

A part appears by one rename, whole. Its name says which runs it holds, and so does its content,
together with the grid that they are of and a checksum; nothing is trusted that does not fit.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core.forms import Form
from evenhand.core.provenance import provenance
from evenhand.core.storage import check_folder, check_writable, claimed, write_bytes, write_text
from evenhand.errors import InputError
from evenhand.sweeps._parts import StoredPart, check_part
from evenhand.sweeps._versions import matching_of
from evenhand.sweeps.grid import Grid

ABOUT, PARTS, FAILURES = "sweep.json", "parts", "failures.json"
ASIDE = ".damaged"
NAME = re.compile(r"(\d{12})-(\d{12})\.parquet")
FORM = Form("evenhand sweep", 2)
MANY = 8
log = logging.getLogger(__name__)


class Contents(NamedTuple):
    """Runs that a folder lacks, and files that have the name of a part but are none of this sweep.

    Each of those comes with what is wrong with it. ``seen`` are the files that were looked at.
    """

    missing: list[range]
    damaged: dict[Path, str]
    seen: frozenset[Path] = frozenset()


def left(folder: Path, grid: Grid, *, any_version: bool) -> list[range]:
    """Return the runs that a folder lacks, without a claim on it: it may be in use."""
    check_same(folder, describe(grid), any_version=any_version)
    return inspect(folder, grid).missing


def check(folder: Path, grid: Grid, *, resume: bool, any_version: bool) -> Contents:
    """Return the content of a folder, or raise if a sweep cannot use it."""
    with check_writable(folder):
        fresh = not (folder / ABOUT).exists()
    if not fresh and not resume:
        raise InputError(
            f"{str(folder)!r} holds a sweep already; to go on with it, resume it (--resume)"
        )
    if not fresh:
        check_same(folder, describe(grid), any_version=any_version)
    check_folder(folder, overwrite=resume and (not fresh or _only_rubble(folder)))
    return Contents([range(grid.runs)], {}) if fresh else inspect(folder, grid)


@contextmanager
def opened(
    folder: Path, grid: Grid, known: Contents | None = None, *, any_version: bool
) -> Iterator[list[range]]:
    """Hold a checked folder for writing; give the runs that are missing.

    Parts that are damaged are put aside, to be played again. What is ``known`` from before is not
    read again, unless other parts have come since.
    """
    with claimed(folder, overwrite=True):
        with check_writable(folder):
            if (folder / ABOUT).exists():
                check_same(folder, describe(grid), any_version=any_version)
            else:
                _write_about(folder, about_grid(grid))
            (folder / PARTS).mkdir(exist_ok=True)
            (folder / FAILURES).unlink(missing_ok=True)
            clear_rubble(folder)
            same = known is not None and known.seen == _part_files(folder)
            found = known if known is not None and same else inspect(folder, grid)
            for path, reason in found.damaged.items():
                log.warning("%s is put aside and played again: %s", path, reason)
                path.replace(path.with_suffix(ASIDE))
        yield found.missing


def about_grid(grid: Grid) -> dict[str, Any]:
    """Return what a folder says of itself when a sweep is begun in it."""
    return FORM.write({**provenance({}), **describe(grid)})


def describe(grid: Grid) -> dict[str, Any]:
    """Return all that results depend on, as JSON gives it back."""
    about: dict[str, Any] = json.loads(
        json.dumps({"settings": grid.describe(), "matching": matching_of(grid)})
    )
    return about


def note_versions(folder: Path, grid: Grid) -> None:
    """Write down which versions are about to play, if they are others than before."""
    about, here = read_about(folder), matching_of(grid)
    known = [about["matching"], *about.get("also", [])]
    if here not in known:
        log.info("%s goes on with other versions than it was begun with", folder)
        _write_about(folder, FORM.write({**about, "also": [*known[1:], here]}))


def _write_about(folder: Path, about: Mapping[str, Any]) -> None:
    write_text(folder / ABOUT, json.dumps(about, indent=2) + "\n")


def _only_rubble(folder: Path) -> bool:
    """Say whether a sweep was killed here before it had written what it is."""
    return folder.is_dir() and all(path.name.startswith(".") for path in folder.iterdir())


def check_same(folder: Path, described: Mapping[str, Any], *, any_version: bool) -> None:
    """Refuse to resume the results of another sweep, and say what differs."""
    about = read_about(folder)
    found = list(differences(about.get("settings"), described["settings"]))
    if found:
        raise InputError(f"{str(folder)!r} holds results of another sweep: {_listed(found)}")
    others = list(differences(about.get("matching"), described["matching"], "versions"))
    if others and not any_version and described["matching"] not in about.get("also", []):
        raise InputError(
            f"{str(folder)!r} was begun with other code, whose results could differ: "
            f"{_listed(others)}; to go on all the same, resume it with any_version (--any-version)"
        )


def _listed(lines: Sequence[str]) -> str:
    more = f"; and {len(lines) - MANY} more" if len(lines) > MANY else ""
    return "; ".join(lines[:MANY]) + more


def differences(there: object, here: object, location: str = "") -> Iterator[str]:
    """Say where two plain documents differ.

    >>> list(differences({"seed": 1, "horizons": [10]}, {"seed": 2, "horizons": [10, 20]}))
    ['seed is 1 there and 2 here', 'horizons[1] is only here']
    """
    if isinstance(there, Mapping) and isinstance(here, Mapping):
        if set(there) == set(here) and list(there) != list(here):
            yield f"{location} are in another order"
        for key in [*there, *(key for key in here if key not in there)]:
            inner = f"{location}.{key}" if location else str(key)
            if key not in here or key not in there:
                yield f"{inner} is only {'here' if key in here else 'there'}"
            else:
                yield from differences(there[key], here[key], inner)
    elif isinstance(there, list) and isinstance(here, list):
        one, two = ({f"[{i}]": value for i, value in enumerate(values)} for values in (there, here))
        yield from (line.replace(".[", "[") for line in differences(one, two, location))
    elif there != here:
        yield f"{location} is {there!r} there and {here!r} here"


def read_about(folder: Path) -> dict[str, Any]:
    """Return the description of a sweep, or raise if the folder holds none."""
    try:
        return FORM.read(json.loads((folder / ABOUT).read_text(encoding="utf-8")))
    except InputError as error:
        reason = f"{ABOUT}: {error}"
    except OSError as error:
        reason = f"{ABOUT}: {error.strerror}"
    except ValueError as error:
        reason = f"{ABOUT} is damaged: {error}"
    raise InputError(f"{str(folder)!r} must hold a sweep: {reason}")


def clear_rubble(folder: Path) -> None:
    """Remove what a sweep left that was killed while writing."""
    for name in (ABOUT, FAILURES, f"{PARTS}/*.parquet"):
        location, _, file = name.rpartition("/")
        for path in (folder / location).glob(f".{file}.*"):
            path.unlink()


def inspect(folder: Path, grid: Grid) -> Contents:
    """Read every part, and tell what is missing and what is no part of this sweep."""
    damaged, good = {}, []
    for part in named_parts(folder):
        try:
            check_part(part.content(), part.runs, grid.digest)
            good.append(part)
        except InputError as error:
            damaged[part_path(folder, part.runs)] = str(error)
    gaps, end = [], 0
    for part in in_order(good, grid.runs):
        if part.runs.start > end:
            gaps.append(range(end, part.runs.start))
        end = part.runs.stop
    missing = [*gaps, range(end, grid.runs)] if end < grid.runs else gaps
    return Contents(missing, damaged, _part_files(folder))


def _part_files(folder: Path) -> frozenset[Path]:
    return frozenset(
        part.location for part in named_parts(folder) if isinstance(part.location, Path)
    )


def in_order(found: Iterable[StoredPart], runs: int) -> list[StoredPart]:
    """Return parts in the order of their runs; raise if two hold the same run."""
    ordered, end = sorted(found, key=lambda part: part.runs.start), 0
    for part in ordered:
        if part.runs.start < end or part.runs.stop > runs:
            raise InputError(f"{part} must be a part of this sweep, and of no other")
        end = part.runs.stop
    return ordered


def named_parts(folder: Path) -> Iterator[StoredPart]:
    """Yield whatever has the name of a part."""
    for path in (folder / PARTS).glob("*"):
        match = NAME.fullmatch(path.name)
        if match is not None:
            yield StoredPart(range(int(match[1]), int(match[2])), path)


def write_part(folder: Path, runs: range, content: bytes) -> None:
    """Write a part, whole or not at all."""
    write_bytes(part_path(folder, runs), content)


def part_path(folder: Path, runs: range) -> Path:
    """Return the file of a part."""
    return folder / PARTS / f"{runs.start:012d}-{runs.stop:012d}.parquet"


def write_failures(folder: Path, failures: Sequence[Mapping[str, Any]]) -> None:
    """Write what was given up, if anything was."""
    if failures:
        write_text(folder / FAILURES, json.dumps(list(failures), indent=2) + "\n")


def read_failures(folder: Path) -> list[dict[str, Any]]:
    """Return what was given up, when the sweep last ended."""
    path = folder / FAILURES
    try:
        found: list[dict[str, Any]] = json.loads(path.read_bytes()) if path.exists() else []
    except ValueError as error:
        raise InputError(f"{str(path)!r} must be undamaged: {error}") from None
    return found
