"""Authentication: API keys if there are any, otherwise only requests from this machine."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from evenhand.service.keys import find_key
from evenhand.service.problems import ProblemError
from evenhand.service.stores.protocol import Key

FORWARDED, X_FORWARDED = b"forwarded", b"x-forwarded-"


class Authenticator:
    """Checks whether a request is allowed.

    Parameters
    ----------
    loopback
        Whether the server listens on a loopback address only. If so, and as long as no key was
        ever created, no key is required. Then a request must name a loopback address (``Host``),
        and must not come from a page of another origin: so no web page can reach the server.
    """

    def __init__(self, loopback: bool) -> None:
        self.loopback = loopback
        self.keys: Sequence[Key] = ()

    @property
    def requires_key(self) -> bool:
        """Whether a key is required."""
        return bool(self.keys) or not self.loopback

    def check(self, headers: Mapping[bytes, bytes], scope: str) -> None:
        """Raise if a request lacks the scope; "" needs no key."""
        if not self.requires_key:
            check_local(headers)
        elif scope:
            self._check_key(headers.get(b"authorization", b""), scope)

    def _check_key(self, header: bytes, scope: str) -> None:
        kind, _, given = header.decode("latin-1").partition(" ")
        if kind.lower() != "bearer":
            detail = "an API key is required: send the header 'Authorization: Bearer KEY'"
            raise ProblemError(401, "no-key", detail)
        key = find_key(self.keys, given.strip())
        if key is None:
            raise ProblemError(401, "bad-key", "the API key is unknown or has been revoked")
        if scope not in key.scopes and "admin" not in key.scopes:
            detail = f"the API key must have the scope {scope!r}, it has {', '.join(key.scopes)}"
            raise ProblemError(403, "scope", detail)


def check_local(headers: Mapping[bytes, bytes]) -> None:
    """Raise if a request is for another host, from a page of another origin, or from a proxy.

    Behind a proxy every client has a loopback address.
    """
    for name in headers:
        if name == FORWARDED or name.startswith(X_FORWARDED):
            shown = name.decode().title()
            detail = f"without API keys no proxy is answered, got the header {shown}"
            raise ProblemError(403, "host", detail)
    host = headers.get(b"host", b"").decode("latin-1")
    if not _is_local(host):
        detail = f"without API keys Host must be a loopback address, got {host!r}"
        raise ProblemError(403, "host", detail)
    origin = headers.get(b"origin")
    if origin is not None and _authority(origin.decode("latin-1")) != host.lower():
        shown = origin.decode("latin-1")
        raise ProblemError(
            403, "origin", f"without API keys no other origin is answered, got {shown!r}"
        )
    if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
        raise ProblemError(403, "origin", "without API keys no page of another site is answered")


def is_loopback(host: str | None) -> bool:
    """Say whether a host is a loopback address.

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
    """Say whether a Host header names a loopback address."""
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
