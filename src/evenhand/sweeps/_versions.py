"""What the bits of a run may depend on besides its settings: packages, and the code of policies."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from types import FunctionType

from evenhand.core.jit import digest
from evenhand.core.provenance import matching_versions, version_differences
from evenhand.errors import EvenhandError
from evenhand.policies import Policy
from evenhand.sweeps.grid import Cell, Grid

Versions = dict[str, str | None]


class VersionError(EvenhandError):
    """A worker has other packages than the process that sweeps; its bits could differ."""


def matching_of(grid: Grid) -> Versions:
    """Return the versions that must match; policies that are not the package's own have theirs."""
    pairs = ((label, policy) for label, policy in grid.policies.items() if not _ours(policy))
    return {**matching_versions(), **{f"policy {label}": _code(one) for label, one in pairs}}


def check_versions(wanted: Versions, cells: Iterable[Cell] = ()) -> None:
    """Refuse to play with other code than the sweep was started with: bits could differ."""
    here = dict(matching_versions())
    for cell in cells:
        if not _ours(cell.policy):
            here[f"policy {cell.cell_id.label}"] = _code(cell.policy)
    packages = {key: value for key, value in wanted.items() if not key.startswith("policy ")}
    own = {key: wanted.get(key) for key in here if key.startswith("policy ")}
    different = version_differences({**packages, **own}, here)
    if different:
        raise VersionError(
            f"worker on {platform.node()} must have what the sweep was started with, "
            f"got {', '.join(different)}"
        )


def short_digest(versions: Mapping[str, object]) -> str:
    """Return what tells one set of versions from another, for a column of a table."""
    return hashlib.sha256(json.dumps(versions, sort_keys=True).encode()).hexdigest()[:12]


def _ours(policy: Policy) -> bool:
    return type(policy).__module__.startswith("evenhand.")


def _code(policy: Policy) -> str:
    """Return a digest of a policy's functions, with all that they call and the constants they read.

    Only what is not the package's own counts: that has a version.
    """
    parts = [digest(policy.scoring)]
    for kind in type(policy).__mro__:
        if not kind.__module__.startswith(("evenhand.", "builtins", "abc")):
            own = sorted(vars(kind).items())
            parts += [digest(value) for _, value in own if isinstance(value, FunctionType)]
            parts += [
                f"{name} = {value.fget and digest(value.fget)}"
                for name, value in own
                if isinstance(value, property)
            ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
