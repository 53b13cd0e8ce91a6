"""Files that appear whole or not at all, and folders that one process at a time writes into."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from evenhand.errors import InputError

LOCK = ".lock"
MAKING = 20


@contextmanager
def claimed(folder: Path, *, overwrite: bool = False) -> Iterator[None]:
    """Hold a folder for writing: new, empty, or with ``overwrite`` as it is.

    Another process, or another thread, that wants it meanwhile is refused. The claim goes with the
    process, however it ends; a folder that nothing was written into goes with the claim.
    """
    with check_writable(folder):
        check_free(folder, overwrite=overwrite)
        new = [path for path in (folder, *folder.parents) if not path.exists()]
        lock = _locked(folder)
    try:
        check_free(folder, overwrite=overwrite)
        yield
    finally:
        _unlock(lock, folder)
        with suppress(OSError):
            for path in new:
                path.rmdir()


def _locked(folder: Path) -> BaseFileLock:
    """Make a folder and lock it; another process may be taking it away again meanwhile."""
    lock = FileLock(folder / LOCK, is_singleton=True, fallback_to_soft=False)
    for attempt in range(MAKING):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock.acquire(blocking=False)
            break
        except Timeout:
            raise InputError(f"{str(folder)!r} is being written by another process") from None
        except (FileNotFoundError, FileExistsError):
            if attempt == MAKING - 1:
                raise
    return lock


def _unlock(lock: BaseFileLock, folder: Path) -> None:
    """Release a folder; where an open file can be removed, its lock is removed first."""
    try:
        if lock.lock_counter == 1:
            with suppress(OSError):
                (folder / LOCK).unlink()
    finally:
        lock.release()


def check_folder(folder: Path, *, overwrite: bool) -> None:
    """Raise before any work if results cannot be written to a folder."""
    with claimed(folder, overwrite=overwrite):
        pass


def check_free(folder: Path, *, overwrite: bool) -> None:
    """Raise for a file, or for a folder that is not empty unless it may be overwritten."""
    try:
        found = os.listdir(folder)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        if not folder.exists():
            raise
        raise InputError(f"output folder must be a folder, got the file {str(folder)!r}") from None
    if not overwrite and set(found) - {LOCK}:
        raise InputError(
            f"output folder must be empty or new unless it may be overwritten, got {str(folder)!r}"
        )


class UnwritableError(InputError):
    """Nothing can be written here: no room, no right, no such name."""


@contextmanager
def check_writable(path: Path) -> Iterator[None]:
    """Say in one line what the system has against writing here: no room, no right, no such name."""
    try:
        yield
    except OSError as error:
        raise UnwritableError(
            f"output must be in a writable place with room, got {str(path)!r}: "
            f"{error.strerror or error}"
        ) from None


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all: also if the power fails, the old one or the new one.

    A link is followed, an existing file keeps its mode, and a new one has what the user's umask
    says.
    """
    with check_writable(path):
        target = _real(path)
        neighbour = _neighbour(target, content)
        try:
            if target.exists():
                shutil.copymode(target, neighbour)
            neighbour.replace(target)
            _sync(target.parent)
        finally:
            neighbour.unlink(missing_ok=True)


def write_set(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files that belong together; the last one vouches for the others."""
    with staged(folder, list(files)[-1]) as temporary:
        for name, content in files.items():
            write_bytes(temporary / name, content)


@contextmanager
def staged(folder: Path, last: str) -> Iterator[Path]:
    """Give a temporary folder for files that belong together; they move when all are there.

    If anything goes wrong before that, a full disk for instance, the folder is as it was. One of
    them vouches for the others: it leaves first and comes last, so that a set which is interrupted
    in between has none.
    """
    temporary = folder / f".{secrets.token_hex(4)}"
    with check_writable(folder):
        temporary.mkdir()
    try:
        yield temporary
        with check_writable(folder):
            (folder / last).unlink(missing_ok=True)
            for path in sorted(temporary.iterdir(), key=lambda path: path.name == last):
                path.replace(folder / path.name)
            _sync(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _neighbour(target: Path, content: bytes) -> Path:
    """Write the content to a temporary file beside the target, and flush it to the disk."""
    if target.exists() and not target.is_file():
        raise InputError(f"output must go into a file, got {str(target)!r}")
    target.parent.mkdir(parents=True, exist_ok=True)
    neighbour = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with neighbour.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        neighbour.unlink(missing_ok=True)
        raise
    return neighbour


def _sync(folder: Path) -> None:
    """See to it that the names in a folder are on disk, where folders can be opened."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _real(path: Path) -> Path:
    """Follow links; a link to itself is left as it is."""
    return Path(os.path.realpath(path))
