"""What each operation of the API does."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from evenhand.core.checks import NAME_RULE, brief, is_name
from evenhand.errors import InfeasibleFloors, InputError
from evenhand.service import _commands as commands
from evenhand.service._api_page import SAFE, TYPES
from evenhand.service._bodies import (
    BANDIT_NAME,
    BANDIT_RULE,
    DOTS,
    ArmChange,
    ArmValues,
    BanditBody,
    BanditChange,
    BanditList,
    FeedbackGiven,
    FeedbackItem,
    FeedbackResult,
    FeedbackResults,
    Health,
    Question,
)
from evenhand.service._edition import Edition, first_edition
from evenhand.service._operations import Call, Reply, decoded
from evenhand.service._reading import find_bandit, find_decision, log_lines
from evenhand.service._refusals import Refusal, bad_input, of_floors, of_input
from evenhand.service._state import state_now
from evenhand.service._why import reasons_of
from evenhand.service._work import Answer

if TYPE_CHECKING:
    from evenhand.service._service import Service

ID_RULE = f"{NAME_RULE}, but not '.' or '..'"
NDJSON = "application/x-ndjson"
MOST_LINES = 10_000

_encode = msgspec.json.Encoder().encode
log = logging.getLogger(__name__)


async def put_bandit(service: Service, call: Call) -> Reply:
    """Create a bandit; the same body again changes nothing."""
    name = call.path["name"]
    if not BANDIT_NAME.fullmatch(name):
        detail = f"name of a bandit must be {BANDIT_RULE}, got {brief(name)}"
        raise bad_input(detail, "name", BANDIT_RULE, name)
    body = decoded(call.body, BanditBody)
    edition = await service.compute(_first_edition, body)
    return await _done(service, commands.Create(name, body, edition))


def _first_edition(body: BanditBody) -> Edition:
    """Work out the first edition of a bandit, or refuse it; takes its time with many arms."""
    try:
        return first_edition(body)
    except InfeasibleFloors as error:
        raise of_floors(error) from None
    except InputError as error:
        raise of_input(error) from None


async def get_bandit(service: Service, call: Call) -> Reply:
    """Show a bandit as it is now."""
    name = call.path["name"]
    found = await service.read(lambda view: find_bandit(view, name))
    return Reply(200, _encode(found.edition.shown(name)))


async def list_bandits(service: Service, call: Call) -> Reply:
    """Name all bandits."""
    return Reply(200, _encode(BanditList(await service.read(lambda view: view.names()))))


async def patch_bandit(service: Service, call: Call) -> Reply:
    """Change plays, or how long feedback is awaited."""
    return await _done(service, commands.Alter(call.path["name"], decoded(call.body, BanditChange)))


async def delete_bandit(service: Service, call: Call) -> Reply:
    """Delete a bandit with all it knows."""
    reply = await _done(service, commands.Delete(call.path["name"]))
    service.metrics.forget(call.path["name"])
    return reply


async def put_arm(service: Service, call: Call) -> Reply:
    """Let an arm take part; nothing is owed to it for the time before."""
    values = decoded(call.body or b"{}", ArmValues)
    return await _done(service, commands.Join(call.path["name"], call.path["arm"], values))


async def patch_arm(service: Service, call: Call) -> Reply:
    """Change an arm's floor, weight or availability, pause or resume it."""
    values = decoded(call.body, ArmChange)
    return await _done(service, commands.AlterArm(call.path["name"], call.path["arm"], values))


async def delete_arm(service: Service, call: Call) -> Reply:
    """Let an arm leave; feedback on it that is under way will be ignored."""
    return await _done(service, commands.Retire(call.path["name"], call.path["arm"]))


async def post_decision(service: Service, call: Call) -> Reply:
    """Decide which of the awake arms to play; the same id is the same decision."""
    explain = bool(call.query) and call.flag("explain")
    asked: Question = decoded(call.body or b"{}", Question)
    if asked.id is not None and (not is_name(asked.id) or asked.id in DOTS):
        raise bad_input(f"id must be {ID_RULE}, got {brief(asked.id)}", "id", ID_RULE, asked.id)
    command = commands.Ask(call.path["name"], asked.id, asked.awake, explain)
    answer = await _answer(service, command)
    service.metrics.decisions(command.bandit, answer.status)
    if answer.source is not None:
        reasons = await service.compute(reasons_of, answer.source)
        answer.body.reasons = reasons
        note = commands.Note(command.bandit, answer.body.id, reasons)
        kept = await service.writer.hand_in(note, urgent=True)
        if isinstance(kept, Refusal):
            log.warning("the reasons of decision %s could not be kept: %s", answer.body.id, kept)
    return Reply(answer.status, _encode(answer.body))


async def get_decision(service: Service, call: Call) -> Reply:
    """Show a decision and what became of it."""
    name, decision = call.path["name"], call.path["decision"]
    key, shown = await service.read(lambda view: find_decision(view, name, decision))
    if shown.reasons is None and (source := service.recent.find(key, decision)) is not None:
        shown.reasons = await service.compute(reasons_of, source)
    return Reply(200, _encode(shown))


async def delete_decision(service: Service, call: Call) -> Reply:
    """Take back a decision that was never shown: it is as if it had not been made."""
    return await _done(service, commands.Cancel(call.path["name"], call.path["decision"]))


async def post_feedback(service: Service, call: Call) -> Reply:
    """Tell what played arms returned: one decision, or many as items."""
    name = call.path["name"]
    items, alone = feedback_items(call.body)
    answer = await _answer(service, commands.Tell(name, items))
    results: FeedbackResults = answer.body
    service.metrics.feedback(name, results.results)
    result = results.results[0] if alone else None
    if result is not None and result.outcome == "invalid":
        given = {"field": result.field, "rule": result.rule, "value": result.value}
        raise Refusal(422, "bad-input", result.detail, **given, results=results.results)
    return Reply(200, _encode(results))


def feedback_items(body: bytes) -> tuple[list[FeedbackItem | FeedbackResult], bool]:
    """Return the items of a request, and whether it was one that stands alone.

    In a batch there is a result in place of each item that is bad.

    >>> feedback_items(b'{"items": [{"decision": "d-1", "rewards": {"news": 2}}]}')[0][0].rule
    'a number <= 1.0'
    """
    given: FeedbackGiven = decoded(body, FeedbackGiven)
    if given.items is UNSET:
        return [decoded(body, FeedbackItem)], True
    for field in ("decision", "rewards"):
        if getattr(given, field) is not UNSET:
            rule = "left out beside items"
            raise bad_input(f"{field} must be {rule}", field, rule)
    return [_item(bytes(item)) for item in given.items], False


def _item(body: bytes) -> FeedbackItem | FeedbackResult:
    try:
        item: FeedbackItem = decoded(body, FeedbackItem)
        return item
    except Refusal as refusal:
        problem = refusal.problem
        return FeedbackResult(
            decision_named(body),
            "invalid",
            detail=problem.detail,
            field=problem.field,
            rule=problem.rule,
            value=problem.value,
        )


def decision_named(body: bytes) -> str:
    """Return the decision that a bad item names, if it does.

    >>> decision_named(b'{"decision": "d-1", "rewards": 1e999}'), decision_named(b"7")
    ('d-1', '')
    """
    try:
        given = json.loads(body)
        decision = given.get("decision") if isinstance(given, dict) else None
    except (ValueError, RecursionError):
        return ""
    return decision if isinstance(decision, str) and is_name(decision) else ""


async def get_state(service: Service, call: Call) -> Reply:
    """Show how every arm fares, and what to worry about."""
    name = call.path["name"]
    state = await service.read(lambda view: state_now(view, name, service.machine))
    return Reply(200, _encode(state))


async def get_log(service: Service, call: Call) -> Reply:
    """Show what has happened, a JSON line an event, by cursor."""
    name = call.path["name"]
    after, limit = call.whole("after", 0, 2**62), call.whole("limit", 1_000, MOST_LINES, 1)
    lines = await service.read(lambda view: b"".join(log_lines(view, name, after, limit)))
    return Reply(200, lines, NDJSON)


async def livez(service: Service, call: Call) -> Reply:
    """Say that the process lives."""
    return Reply(200, _encode(Health("alive")))


async def readyz(service: Service, call: Call) -> Reply:
    """Say whether decisions can be made and kept."""
    if not service.writer.works:
        raise Refusal(503, "unavailable", "the database cannot be written to now")
    await service.read(lambda view: view.find(""))
    return Reply(200, _encode(Health("ready")))


async def get_metrics(service: Service, call: Call) -> Reply:
    """Show counts and latencies for Prometheus."""
    return Reply(200, await service.read(service.metrics.page), service.metrics.media_type)


async def get_openapi(service: Service, call: Call) -> Reply:
    """Show this description."""
    return Reply(200, service.openapi)


async def get_docs(service: Service, call: Call) -> Reply:
    """Show the page about this API."""
    return Reply(200, service.api_page, TYPES["html"], SAFE)


async def _answer(service: Service, command: commands.Command) -> Answer:
    """Have a command carried out; complain if it was refused."""
    answer = await service.writer.hand_in(command)
    if isinstance(answer, Refusal):
        raise answer
    return answer


async def _done(service: Service, command: commands.Command) -> Reply:
    """Have a command carried out and answer with what came of it."""
    answer = await _answer(service, command)
    return Reply(answer.status, b"" if answer.body is None else _encode(answer.body))
