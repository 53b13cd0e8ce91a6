"""The handlers of the API's operations, but for those that only the dashboard needs."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING, get_type_hints

from msgspec import UNSET
from starlette.responses import Response

from evenhand.core.checks import NAME_RULE, is_name
from evenhand.errors import InfeasibleFloors, InputError
from evenhand.service.engine import commands
from evenhand.service.engine.config_version import ConfigVersion, first_config
from evenhand.service.engine.explanations import reasons_of
from evenhand.service.engine.unit_of_work import CommandResult
from evenhand.service.http.operations import JSON, ApiRequest, Handler, json_response
from evenhand.service.http.pages import SAFE, TYPES
from evenhand.service.problems import ProblemError, bad_input, problem_of
from evenhand.service.schemas import (
    BANDIT_NAME,
    BANDIT_RULE,
    DOTS,
    BanditBody,
    BanditList,
    DecisionBody,
    FeedbackBody,
    FeedbackItem,
    FeedbackResult,
    FeedbackResults,
    Health,
)
from evenhand.service.validation import decode
from evenhand.service.views.decisions import find_decision, log_lines
from evenhand.service.views.lookup import find_bandit
from evenhand.service.views.state import state_now

if TYPE_CHECKING:
    from evenhand.service.http.app import Service

ID_RULE = f"{NAME_RULE}, but not '.' or '..'"
NDJSON = "application/x-ndjson"
MOST_LINES = 10_000
READY_SECONDS = 3.0
log = logging.getLogger(__name__)


def executes(name: str, command: type[commands.Command], *, body_optional: bool = False) -> Handler:
    """Return the handler of an operation that executes a command made from path and body.

    The fields of the command are the parameters of the path, and ``body`` is decoded.
    """
    types = get_type_hints(command)
    named = [field for field in command.__struct_fields__ if field not in ("bandit", "body")]

    async def handler(service: Service, request: ApiRequest) -> Response:
        given = {field: request.path[field] for field in named}
        if "body" in types:
            body = request.body or (b"{}" if body_optional else b"")
            given["body"] = await service.decode(body, types["body"])
        return await _executed(service, command(request.path["name"], **given))

    handler.__name__, handler.__doc__ = name, command.__doc__
    return handler


async def put_bandit(service: Service, request: ApiRequest) -> Response:
    """Create a bandit; the same body again changes nothing."""
    name = request.path["name"]
    if not BANDIT_NAME.fullmatch(name):
        raise bad_input("name", BANDIT_RULE, name)
    body, config = await service.decode_with(_first_config, request.body)
    return await _executed(service, commands.CreateBandit(name, body, config))


def _first_config(given: bytes) -> tuple[BanditBody, ConfigVersion]:
    """Decode a bandit and make its first configuration, or raise why not; slow with many arms."""
    body: BanditBody = decode(given, BanditBody)
    try:
        return body, first_config(body)
    except (InfeasibleFloors, InputError) as error:
        raise problem_of(error) from None


async def get_bandit(service: Service, request: ApiRequest) -> Response:
    """Return a bandit as it is now."""
    name = request.path["name"]
    bandit = await service.read(lambda view: find_bandit(view, name))
    return json_response(bandit.config.response(name))


async def list_bandits(service: Service, request: ApiRequest) -> Response:
    """List the names of all bandits."""
    return json_response(BanditList(await service.read(lambda view: view.names())))


async def delete_bandit(service: Service, request: ApiRequest) -> Response:
    """Delete a bandit and its log."""
    response = await _executed(service, commands.DeleteBandit(request.path["name"]))
    service.metrics.forget(request.path["name"])
    return response


async def post_decision(service: Service, request: ApiRequest) -> Response:
    """Choose which of the awake arms to play; the same id always gets the same decision."""
    explain = bool(request.query) and request.flag("explain")
    body: DecisionBody = await service.decode(request.body or b"{}", DecisionBody)
    if body.id is not None and (not is_name(body.id) or body.id in DOTS):
        raise bad_input("id", ID_RULE, body.id)
    command = commands.Decide(request.path["name"], body.id, body.awake, explain)
    if explain:
        return await _explained(service, command)
    result = await _execute(service, command)
    service.metrics.decisions(command.bandit, result.status)
    return json_response(result.body, result.status)


async def _explained(service: Service, command: commands.Decide) -> Response:
    """Decide, and return the decision with its reasons, which are stored with it."""
    # Whoever is told that the queue is full must not have got a decision.
    with service.computer.reserved():
        result = await _execute(service, command)
        service.metrics.decisions(command.bandit, result.status)
        if result.basis is None:
            return json_response(result.body, result.status)
        reasons = await service.computer.run_reserved(reasons_of, result.basis)
    result.body.reasons = reasons
    store = commands.StoreReasons(command.bandit, result.body.id, reasons)
    stored = await service.writer.submit(store, urgent=True)
    if isinstance(stored, ProblemError):
        log.warning("the reasons of decision %s were not stored: %s", result.body.id, stored)
    return json_response(result.body, result.status)


async def get_decision(service: Service, request: ApiRequest) -> Response:
    """Return a decision and its feedback."""
    name, decision = request.path["name"], request.path["decision"]
    key, details = await service.read(lambda view: find_decision(view, name, decision))
    if details.reasons is None and (basis := service.recent.find(key, decision)) is not None:
        details.reasons = await service.computer.run(reasons_of, basis)
    return json_response(details)


async def post_feedback(service: Service, request: ApiRequest) -> Response:
    """Report the rewards of played arms: of one decision, or of many as items."""
    name = request.path["name"]
    items, alone = await service.decode_with(feedback_items, request.body)
    results: FeedbackResults = (await _execute(service, commands.Tell(name, items))).body
    service.metrics.feedback(name, results.results)
    result = results.results[0] if alone else None
    if result is not None and result.outcome == "invalid":
        given = {"field": result.field, "rule": result.rule, "value": result.value}
        raise ProblemError(422, "bad-input", result.detail, **given, results=results.results)
    return json_response(results)


def feedback_items(body: bytes) -> tuple[list[FeedbackItem | FeedbackResult], bool]:
    """Return the items of a request, and whether it was a single one.

    An invalid item of a batch is replaced by its result.

    >>> feedback_items(b'{"items": [{"decision": "d-1", "rewards": {"news": 2}}]}')[0][0].rule
    'a number <= 1.0'
    """
    given: FeedbackBody = decode(body, FeedbackBody)
    if given.items is UNSET:
        return [decode(body, FeedbackItem)], True
    for field in ("decision", "rewards"):
        if getattr(given, field) is not UNSET:
            raise bad_input(field, "left out beside items", "both")
    return [_item(bytes(item)) for item in given.items], False


def _item(body: bytes) -> FeedbackItem | FeedbackResult:
    try:
        item: FeedbackItem = decode(body, FeedbackItem, "item")
        return item
    except ProblemError as problem:
        details = problem.details
        return FeedbackResult(
            named_decision(body),
            "invalid",
            detail=details.detail,
            field=details.field,
            rule=details.rule,
            value=details.value,
        )


def named_decision(body: bytes) -> str:
    """Return the decision that an invalid item names, if it does.

    >>> named_decision(b'{"decision": "d-1", "rewards": 1e999}'), named_decision(b"7")
    ('d-1', '')
    """
    try:
        given = json.loads(body)
        decision = given.get("decision") if isinstance(given, dict) else None
    except (ValueError, RecursionError):
        return ""
    return decision if isinstance(decision, str) and is_name(decision) else ""


async def get_state(service: Service, request: ApiRequest) -> Response:
    """Return the state of every arm, and warnings."""
    name, solves = request.path["name"], service.precompiler.solves
    bandit = await service.read(lambda view: find_bandit(view, name))
    return json_response(await service.computer.run(state_now, name, bandit, solves))


async def get_log(service: Service, request: ApiRequest) -> Response:
    """Return the events of a bandit as JSON lines, by cursor."""
    name = request.path["name"]
    after, limit = request.whole("after", 0, 2**62), request.whole("limit", 1_000, MOST_LINES, 1)
    lines = await service.read(lambda view: b"".join(log_lines(view, name, after, limit)))
    return Response(lines, media_type=NDJSON)


async def livez(service: Service, request: ApiRequest) -> Response:
    """Say that the process is alive."""
    return json_response(Health("alive"))


async def readyz(service: Service, request: ApiRequest) -> Response:
    """Say whether decisions can be made and stored."""
    if not service.writer.works:
        raise ProblemError(503, "unavailable", "the database cannot be written to now")
    try:
        await asyncio.wait_for(service.check_readable(), READY_SECONDS)
    except (TimeoutError, ProblemError) as error:
        detail = f"the database cannot be read now: {error or 'it does not answer'}"
        raise ProblemError(503, "unavailable", detail) from None
    return json_response(Health("ready"))


async def get_metrics(service: Service, request: ApiRequest) -> Response:
    """Return metrics for Prometheus."""
    body = await service.read(service.metrics.page)
    return Response(body, headers={"Content-Type": service.metrics.media_type})


async def get_openapi(service: Service, request: ApiRequest) -> Response:
    """Return this description."""
    return Response(service.openapi, media_type=JSON)


async def get_docs(service: Service, request: ApiRequest) -> Response:
    """Return the page about this API."""
    return Response(service.api_page, media_type=TYPES["html"], headers=SAFE)


async def _execute(service: Service, command: commands.Command) -> CommandResult:
    """Execute a command; raise the problem if it is refused."""
    result = await service.writer.submit(command)
    if isinstance(result, ProblemError):
        raise result
    return result


async def _executed(service: Service, command: commands.Command) -> Response:
    """Execute a command and return its result as the response."""
    result = await _execute(service, command)
    return json_response(result.body, result.status)
