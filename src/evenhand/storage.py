"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from evenhand.errors import InputError


def check_folder(folder: Path, *, overwrite: bool) -> None:
    """Complain, before any work, about a folder that results could not go into.

    It may be missing or empty; a folder with something in it needs ``overwrite``.
    """
    try:
        if folder.exists() and not folder.is_dir():
            raise InputError(f"output folder must be a folder, got the file {str(folder)!r}")
        if folder.exists() and any(folder.iterdir()) and not overwrite:
            raise InputError(
                "output folder must be empty or new unless it may be overwritten, "
                f"got {str(folder)!r}"
            )
        _try_to_write(folder)
    except OSError as error:
        raise InputError(
            f"output folder must be in a writable place, got {str(folder)!r}: {error.strerror}"
        ) from None


def _try_to_write(folder: Path) -> None:
    """Make the folder and a file in it, and take both away again."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    finally:
        for place in missing:
            if place.is_dir():
                place.rmdir()


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""

    def write(neighbour: Path) -> None:
        neighbour.write_text(text, encoding="utf-8")

    write_whole(path, write)


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary neighbour of ``path``, then rename it into place."""
    if path.exists() and not path.is_file():
        raise InputError(f"output must go into a file, got {str(path)!r}")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    neighbour = Path(name)
    try:
        write(neighbour)
        neighbour.chmod(0o644)
        neighbour.replace(path)
    finally:
        neighbour.unlink(missing_ok=True)
