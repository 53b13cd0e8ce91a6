"""What the operations do that those who watch need, and the way to their page."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

import msgspec

from evenhand.service._api_page import SAFE
from evenhand.service._bodies import Range, Supposed
from evenhand.service._live import SHOWN
from evenhand.service._operations import Call, Reply, decoded
from evenhand.service._reading import find_bandit, newest_decisions
from evenhand.service._refusals import Refusal, not_found
from evenhand.service._samples import SECONDS, history_of
from evenhand.service._what_if import what_if

if TYPE_CHECKING:
    from evenhand.service._service import Service

MOST_LISTED = 1_000
MOST_THINKING = 16
RANGES = tuple(SECONDS)
_encode = msgspec.json.Encoder().encode


async def get_overview(service: Service, call: Call) -> Reply:
    """Show all bandits at a glance: whose floors are kept."""
    return Reply(200, _encode(await service.read(service.overview.look)))


async def get_live(service: Service, call: Call) -> Reply:
    """Tell what is new, as server-sent events: of all bandits, or in full of one of them."""
    return await service.live.watch(call)


async def get_decisions(service: Service, call: Call) -> Reply:
    """List the newest decisions."""
    name, limit = call.path["name"], call.whole("limit", SHOWN, MOST_LISTED, 1)
    return Reply(200, _encode(await service.read(lambda view: newest_decisions(view, name, limit))))


async def get_history(service: Service, call: Call) -> Reply:
    """Show how a bandit and its arms stood over time, coarser the longer ago."""
    name, span = call.path["name"], cast("Range", call.choice("range", RANGES))
    arms = [arm for arm in call.query["arm"] if arm] if "arm" in call.query else None
    found = await service.read(lambda view: history_of(view, name, span, arms, time.time()))
    return Reply(200, _encode(found))


async def post_what_if(service: Service, call: Call) -> Reply:
    """Work out the optimum with other floors; nothing is changed."""
    name, supposed = call.path["name"], decoded(call.body or b"{}", Supposed)
    found = await service.read(lambda view: find_bandit(view, name))
    if service.thinking >= MOST_THINKING:
        raise Refusal(429, "busy", f"{MOST_THINKING} are being worked out: come again in a moment")
    ready = service.machine.ready_to_solve(found.edition)
    return Reply(200, _encode(await service.compute(what_if, found, supposed, ready)))


async def get_dashboard(service: Service, call: Call) -> Reply:
    """Show the dashboard."""
    return _file(service, call, "index.html")


async def get_file(service: Service, call: Call) -> Reply:
    """Send a file of the dashboard's."""
    return _file(service, call, call.path["file"])


def _file(service: Service, call: Call, path: str) -> Reply:
    if path not in service.files:
        raise not_found("file", path)
    body, media_type, tag = service.files[path]
    headers = (*SAFE, (b"etag", tag.encode()))
    if call.headers.get(b"if-none-match", b"").decode("latin-1") == tag:
        return Reply(304, b"", media_type, headers)
    return Reply(200, body, media_type, headers)
