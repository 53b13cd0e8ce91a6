"""Where results came from: package version, commit and the versions underneath."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

MATCHING = ("evenhand", "numpy", "scipy", "numba")


def provenance(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings together with all that a reader needs to repeat them.

    >>> sorted(provenance({"seed": 7}))
    ['commit', 'created', 'machine', 'settings', 'versions']
    """
    return {
        "settings": settings,
        "versions": {
            "python": platform.python_version(),
            **{name: _version(name) for name in (*MATCHING, "polars")},
        },
        "commit": commit(),
        "machine": f"{platform.system()} {platform.machine()}",
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


@cache
def matching_versions() -> dict[str, str | None]:
    """Return the versions on which the bits of a result may depend, and a digest of our source.

    >>> sorted(matching_versions())
    ['evenhand', 'numba', 'numpy', 'python', 'scipy', 'source']
    """
    python = ".".join(platform.python_version_tuple()[:2])
    packages = {name: _version(name) for name in MATCHING}
    return {"python": python, **packages, "source": _source_digest()}


def version_differences(wanted: dict[str, str | None], found: dict[str, str | None]) -> list[str]:
    """Say which versions are not the wanted ones.

    >>> version_differences({"numpy": "2.0", "scipy": "1.0"}, {"numpy": "1.0", "scipy": "1.0"})
    ['numpy 1.0 instead of 2.0']
    """
    return [
        f"{name} {found.get(name)} instead of {version}"
        for name, version in wanted.items()
        if found.get(name) != version
    ]


def _source_digest() -> str:
    """Return a digest of this package's files: two clones of one version may differ."""
    package = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def commit() -> str | None:
    """Return the commit of the source tree this runs from, marked if changed; None elsewhere."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return None
    try:
        name = _git(root, "rev-parse", "HEAD")
        return name + ("+changes" if _git(root, "status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
