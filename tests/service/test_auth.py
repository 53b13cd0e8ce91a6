"""Who may come in."""

from __future__ import annotations

import re
import time

import pytest

from evenhand.service.http.auth import Authenticator, is_loopback
from evenhand.service.keys import find_key, new_key, revoke_key, store_key
from evenhand.service.problems import ProblemError
from evenhand.service.stores import open_store

LOCAL = {b"host": b"127.0.0.1:8321"}


def refused(auth, headers, scope="read"):
    try:
        auth.check(headers, scope)
    except ProblemError as refusal:
        return refusal.status
    return None


@pytest.mark.parametrize(
    ("host", "status"),
    [
        (b"127.0.0.1:8321", None),
        (b"localhost:8321", None),
        (b"LOCALHOST", None),
        (b"[::1]:8321", None),
        (b"127.9.9.9", None),
        (b"evil.example:8321", 403),
        (b"localhost.evil.example", 403),
        (b"127.0.0.1.evil.example", 403),
        (b"0.0.0.0", 403),
        (b"[::1", 403),
        (b"", 403),
    ],
)
def test_without_keys_only_requests_to_this_machine_are_answered(host, status):
    assert refused(Authenticator(loopback=True), {b"host": host}) == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({b"origin": b"http://127.0.0.1:8321"}, None),
        ({b"origin": b"http://127.0.0.1:9999"}, 403),
        ({b"origin": b"https://evil.example"}, 403),
        ({b"origin": b"null"}, 403),
        ({b"origin": b"http://["}, 403),
        ({b"sec-fetch-site": b"same-origin"}, None),
        ({b"sec-fetch-site": b"none"}, None),
        ({b"sec-fetch-site": b"cross-site"}, 403),
        ({b"sec-fetch-site": b"same-site"}, 403),
    ],
)
def test_without_keys_no_page_of_another_origin_is_answered(headers, status):
    assert refused(Authenticator(loopback=True), {**LOCAL, **headers}) == status
    assert refused(Authenticator(loopback=True), {**LOCAL, **headers}, "") == status


def test_with_keys_a_key_of_the_right_scope_is_wanted():
    auth = Authenticator(loopback=True)
    secrets = {}
    for scope in ("decide", "read", "admin"):
        secrets[scope], key = new_key(scope, [scope])
        auth.keys = [*auth.keys, key]

    def status(secret, scope):
        return refused(auth, {b"authorization": f"Bearer {secret}".encode()}, scope)

    assert refused(auth, LOCAL) == 401
    assert refused(auth, LOCAL, "") is None
    allowed = {
        (key, scope): status(secrets[key], scope) is None
        for key in secrets
        for scope in ("decide", "read", "admin")
    }
    assert {pair for pair, may in allowed.items() if may} == {
        ("decide", "decide"), ("read", "read"),
        ("admin", "decide"), ("admin", "read"), ("admin", "admin"),
    }  # fmt: skip
    assert status(secrets["decide"], "read") == 403
    for wrong in ("", "x", secrets["read"][:-1], secrets["read"] + "0", "eh__", "eh_a_b_c", "é"):
        assert status(wrong, "read") == 401
    assert refused(auth, {b"authorization": b"Basic " + secrets["read"].encode()}) == 401


def test_a_server_for_others_wants_a_key_even_if_the_last_one_was_revoked(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/keys.db")
    secret, key = new_key("shop", ["admin"])
    store_key(store, key)
    with store.view() as view:
        [key] = view.all_keys()
    assert secret not in str(key)
    assert key.digest not in secret.encode()
    revoke_key(store, key.id)
    revoke_key(store, key.id)
    for loopback in (True, False):
        auth = Authenticator(loopback)
        with store.view() as view:
            auth.keys = view.all_keys()
        assert refused(auth, {**LOCAL, b"authorization": f"Bearer {secret}".encode()}) == 401
    assert find_key(auth.keys, secret) is None
    store.close()


def test_loopback_is_this_machine_and_no_other():
    assert all(map(is_loopback, ("127.0.0.1", "127.1.2.3", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.com", "", None)))


def test_the_app_opens_to_keys(shelf):
    service = shelf.service
    assert shelf.get("/v1/bandits").status_code == 200
    assert shelf.get("/v1/bandits", headers={"host": "evil.example"}).status_code == 403
    assert shelf.get("/nowhere", headers={"host": "evil.example"}).status_code == 403
    assert shelf.get("/docs", headers={"origin": "http://evil.example"}).status_code == 403
    secret, key = new_key("shop", ["decide"])
    store_key(service.store, key)
    end = time.monotonic() + 10
    while shelf.get("/v1/bandits").status_code == 200 and time.monotonic() < end:
        time.sleep(0.1)
    answer = shelf.get("/v1/bandits")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    header = {"authorization": f"Bearer {secret}"}
    assert shelf.post("/v1/bandits/shelf/decisions", json={}, headers=header).status_code == 201
    assert shelf.get("/v1/bandits/shelf/state", headers=header).status_code == 403
    assert shelf.delete("/v1/bandits/shelf", headers=header).status_code == 403
    assert shelf.get("/livez").status_code == 200
    assert re.fullmatch(r"eh_[0-9a-f]{12}_[0-9a-f]{64}", secret)
