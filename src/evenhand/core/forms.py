"""Stored forms: whatever is written to be read later says its name and its version.

A form knows how to bring a document of every earlier version, since the first release, to the
present one. Files of each of these versions are kept in the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from evenhand.core.checks import brief, fail

Document: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Form:
    """The name of a stored form, its present version, and a step from each earlier version.

    >>> form = Form("evenhand thing", 2, {1: lambda old: {**old, "size": 0}})
    >>> form.read({"format": "evenhand thing", "version": 1})["size"]
    0
    >>> form.read({"format": "evenhand thing", "version": 3})
    Traceback (most recent call last):
    ...
    evenhand.errors.InputError: evenhand thing must be of a version that this release reads...
    """

    name: str
    version: int
    steps: Mapping[int, Callable[[Document], Document]] = field(default_factory=dict)

    def write(self, document: Mapping[str, Any]) -> Document:
        """Return a document with its name and version."""
        return {"format": self.name, "version": self.version, **document}

    def read(self, document: object) -> Document:
        """Return a document of the present version; raise if it is of another form."""
        if not isinstance(document, dict) or document.get("format") != self.name:
            found = document.get("format") if isinstance(document, dict) else document
            fail("stored form", f"{self.name!r}", found)
        version = document.get("version")
        if type(version) is not int or (version != self.version and version not in self.steps):
            known = ", ".join(map(str, (*self.steps, self.version)))
            rule = f"of a version that this release reads ({known})"
            fail(self.name, rule, f"version {brief(version)}")
        while version != self.version:
            document = self.steps[version](document)
            version += 1
        return {key: value for key, value in document.items() if key not in ("format", "version")}
