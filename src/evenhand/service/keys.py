"""API keys: shown once, stored as digests, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Sequence

from evenhand.core.checks import NAME_RULE, check_known, fail, is_name
from evenhand.service.stores import Store
from evenhand.service.stores.protocol import Key

SCOPES = ("decide", "read", "admin")
PREFIX = "eh"


def new_key(label: str, scopes: Sequence[str]) -> tuple[str, Key]:
    """Return a new key as its user gets it, and as it is stored.

    A plain digest is enough: nobody can guess a secret of 256 random bits.

    >>> secret, key = new_key("shop", ["decide"])
    >>> key.scopes, find_key([key], secret) == key, find_key([key], secret + "0")
    (('decide',), True, None)
    """
    if not is_name(label):
        fail("label of a key", NAME_RULE, label)
    check_known("scope", scopes, SCOPES)
    if not scopes:
        fail("scopes of a key", f"some of {', '.join(SCOPES)}", "none")
    id_, secret = secrets.token_hex(6), secrets.token_hex(32)
    kept = tuple(scope for scope in SCOPES if scope in scopes)
    return f"{PREFIX}_{id_}_{secret}", Key(id_, label, kept, digest(secret), time.time(), None)


def digest(secret: str) -> bytes:
    """Return the stored digest of a secret."""
    return hashlib.sha256(secret.encode()).digest()


def find_key(keys: Sequence[Key], given: str) -> Key | None:
    """Return the key of a secret; None if it is unknown or revoked."""
    parts = given.split("_")
    if len(parts) != 3 or parts[0] != PREFIX:
        return None
    for key in keys:
        if key.id == parts[1] and hmac.compare_digest(key.digest, digest(parts[2])):
            return None if key.revoked is not None else key
    return None


def store_key(store: Store, key: Key) -> None:
    """Store a new key."""
    with store.transaction() as transaction:
        transaction.put_key(key)


def revoke_key(store: Store, id_: str) -> Key:
    """Revoke a key; revoking it again changes nothing."""
    with store.transaction() as transaction:
        keys = {key.id: key for key in transaction.all_keys()}
        check_known("key", [id_], keys)
        key = keys[id_]
        if key.revoked is None:
            key = key._replace(revoked=time.time())
            transaction.put_key(key)
    return key
