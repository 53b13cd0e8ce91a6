"""Downloading a release into the user's cache: resumed where it stopped, checked before use."""

from __future__ import annotations

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from evenhand.core.checks import check_known
from evenhand.core.storage import write_text
from evenhand.errors import InputError
from evenhand.lab.paper.movielens.releases import ADDRESS, MD5, RELEASES

BLOCK = 1 << 20
SECONDS = 30


def cache_folder() -> Path:
    """Return where releases are kept: EVENHAND_CACHE, or the user's cache folder."""
    base = os.environ.get("EVENHAND_CACHE") or os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "evenhand" / "movielens"


def cached(release: str) -> Path:
    """Return a release that was fetched or put in place by hand."""
    check_known("release", [release], RELEASES)
    path = cache_folder() / f"{release}.zip"
    if not path.exists():
        raise InputError(
            f"release {release!r} must be in place, got nothing at {path}: run "
            f"'evenhand lab movielens fetch {release}', or put the zip there"
        )
    wanted = _known_md5(path, release)
    if wanted is not None and _md5(path) != wanted:
        raise InputError(
            f"{path} must have the md5 {wanted} that GroupLens publishes, and has another: "
            f"remove it and run 'evenhand lab movielens fetch {release}'"
        )
    return path


def _known_md5(path: Path, release: str) -> str | None:
    """Return the md5 of a release that never changes, or the one kept when it was fetched."""
    note = path.with_suffix(".zip.md5")
    return MD5.get(release) or (note.read_text(encoding="ascii") if note.exists() else None)


def fetch(
    release: str, *, address: str = ADDRESS, tell: Callable[[int, int], None] | None = None
) -> Path:
    """Download a release, going on from an earlier attempt, and check the published md5.

    ``tell`` is told how many bytes there are and how many are to come in all.
    """
    check_known("release", [release], RELEASES)
    target = cache_folder() / f"{release}.zip"
    part = target.with_suffix(".zip.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and _md5(target) == _known_md5(target, release):
            return target
        published = _published_md5(f"{address}/{release}.zip.md5")
        _download(f"{address}/{release}.zip", part, tell or (lambda done, total: None))
    except (urllib.error.URLError, OSError) as error:
        raise InputError(
            f"cannot download {release!r} ({getattr(error, 'reason', error)}); get {release}.zip "
            f"from the MovieLens site of GroupLens yourself and put it at {target}"
        ) from None
    if _md5(part) != published:
        part.unlink()
        raise InputError(
            f"{release}.zip must have the md5 {published} that GroupLens publishes; the download "
            "had another and was thrown away"
        )
    part.replace(target)
    write_text(target.with_suffix(".zip.md5"), published)
    return target


def _published_md5(address: str) -> str:
    """Return the md5 in a file such as ``MD5 (ml-1m.zip) = c4d9...`` or ``c4d9...  ml-1m.zip``."""
    with urllib.request.urlopen(address, timeout=SECONDS) as answer:
        words = answer.read(4_096).decode("ascii", "replace").split()
    for word in words:
        if len(word) == 32 and all(letter in "0123456789abcdef" for letter in word):
            return str(word)
    raise OSError("the published md5 could not be read")


def _download(address: str, part: Path, tell: Callable[[int, int], None]) -> None:
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(address, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        answer = urllib.request.urlopen(request, timeout=SECONDS)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # all of it is there already
            return
        raise
    with answer:
        resumed = answer.status == 206
        done = have if resumed else 0
        total = done + int(answer.headers.get("Content-Length") or 0)
        with part.open("ab" if resumed else "wb") as file:
            while block := answer.read(BLOCK):
                file.write(block)
                done += len(block)
                tell(done, total)
    if done < total:
        raise OSError(f"the connection ended after {done:,} of {total:,} bytes; run it again")


def _md5(path: Path) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()
