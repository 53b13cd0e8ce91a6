"""Who may come in: keys where there are any, and nobody but this machine where there are none."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from evenhand.service._refusals import Refusal
from evenhand.service.keys import find_key
from evenhand.service.stores.protocol import Key


class Door:
    """Decides whether a request is let in.

    Parameters
    ----------
    loopback
        Whether the server listens to this machine only. If so, and as long as no key was ever
        made, no key is wanted; but then a request must be meant for this machine (``Host``), and
        must not come from a page of another origin: so no web page can reach the server.
    """

    def __init__(self, loopback: bool) -> None:
        self.loopback = loopback
        self.keys: Sequence[Key] = ()

    @property
    def wants_key(self) -> bool:
        """Whether a key is wanted."""
        return bool(self.keys) or not self.loopback

    def check(self, headers: Mapping[bytes, bytes], scope: str) -> None:
        """Refuse a request that may not do what the scope stands for; "" is open to all."""
        if not self.wants_key:
            check_local(headers)
        elif scope:
            self._check_key(headers.get(b"authorization", b""), scope)

    def _check_key(self, header: bytes, scope: str) -> None:
        kind, _, given = header.decode("latin-1").partition(" ")
        if kind.lower() != "bearer":
            detail = "a key is wanted: send the header 'Authorization: Bearer KEY'"
            raise Refusal(401, "no-key", detail)
        key = find_key(self.keys, given.strip())
        if key is None:
            raise Refusal(401, "bad-key", "the key is unknown or has been revoked")
        if scope not in key.scopes and "admin" not in key.scopes:
            detail = f"the key must have the scope {scope!r}, it has {', '.join(key.scopes)}"
            raise Refusal(403, "scope", detail)


def check_local(headers: Mapping[bytes, bytes]) -> None:
    """Refuse what is not meant for this machine, or comes from another origin's page."""
    host = headers.get(b"host", b"").decode("latin-1")
    if not _is_local(host):
        detail = f"without keys only this machine is answered; Host must be loopback, got {host!r}"
        raise Refusal(403, "host", detail)
    origin = headers.get(b"origin")
    if origin is not None and _authority(origin.decode("latin-1")) != host.lower():
        shown = origin.decode("latin-1")
        raise Refusal(403, "origin", f"without keys no other origin is answered, got {shown!r}")
    if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
        raise Refusal(403, "origin", "without keys no page of another site is answered")


def is_loopback(host: str | None) -> bool:
    """Say whether a host is this machine, and no other can be.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host is None:
        return False
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@lru_cache(maxsize=16)
def _is_local(host: str) -> bool:
    """Say whether a Host header stands for this machine."""
    try:
        return "@" not in host and is_loopback(urlsplit(f"//{host}").hostname)
    except ValueError:
        return False


def _authority(origin: str) -> str:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return ""
    return parts.netloc.lower() if parts.scheme in ("http", "https") else ""
