"""The description of the API is true: no request of strangers gets an answer beyond it."""

from __future__ import annotations

import re

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi import checks as openapi_checks

from evenhand.service.http.openapi import openapi
from evenhand.service.http.routes import OPERATIONS
from evenhand.service.problems import PROBLEMS

CHECKS = [
    schemathesis.checks.not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.content_type_conformance,
    openapi_checks.response_schema_conformance,
]
# A stream does not end: it is followed in test_watching.
schema = schemathesis.openapi.from_dict(openapi(OPERATIONS)).exclude(path="/v1/live")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A real server with a bandit that is easily hit upon."""
    import httpx

    from tests.service.servers import Server

    folder = tmp_path_factory.mktemp("openapi")
    server = Server("--database", f"sqlite:///{folder}/strangers.db")
    body = {"arms": [{"name": "0"}, {"name": "1"}], "plays": 1}
    for name in ("0", "A"):
        assert httpx.put(f"{server.url}/v1/bandits/{name}", json=body).status_code == 201
    yield server.url
    server.kill()


@schema.parametrize()
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_no_request_of_strangers_gets_an_undescribed_answer(case, address):
    case.call_and_validate(base_url=address, checks=CHECKS)


def test_every_operation_is_described_once():
    document = openapi(OPERATIONS)
    described = [
        (path, method) for path, methods in document["paths"].items() for method in methods
    ]
    assert len(described) == sum(operation.listed for operation in OPERATIONS)
    assert ("/", "get") not in described
    ids = [o["operationId"] for methods in document["paths"].values() for o in methods.values()]
    assert len(set(ids)) == len(ids)


def test_what_writes_may_be_busy_unavailable_or_full():
    for operation in OPERATIONS:
        if operation.method != "GET" and operation.scope != "read":
            assert {429, 503, 507} <= set(operation.answers)


def test_the_types_of_problems_are_explained(tmp_path):
    from pathlib import Path

    import evenhand.service

    used = set()
    for source in Path(evenhand.service.__file__).parent.rglob("*.py"):
        text = source.read_text(encoding="utf-8")
        used |= set(re.findall(r'ProblemError\(\s*\d+,\s*"([a-z-]+)"', text))
    assert len(used) > 10
    assert used | {"full", "unavailable"} == set(PROBLEMS)
