"""The handlers of the dashboard: overview, live updates, history, what-if, and its files."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from starlette.responses import Response

from evenhand.service.http.live import SHOWN
from evenhand.service.http.operations import ApiRequest, json_response
from evenhand.service.http.pages import SAFE
from evenhand.service.problems import not_found
from evenhand.service.schemas import WhatIfBody
from evenhand.service.views.decisions import newest_decisions
from evenhand.service.views.history import SECONDS, history_of
from evenhand.service.views.lookup import find_bandit
from evenhand.service.views.schemas import Range
from evenhand.service.views.what_if import what_if

if TYPE_CHECKING:
    from evenhand.service.http.app import Service

MOST_LISTED = 1_000
RANGES = tuple(SECONDS)


async def get_overview(service: Service, request: ApiRequest) -> Response:
    """Return a summary of every bandit: which floors are kept."""
    return json_response(await service.read(service.overview.summaries))


async def get_live(service: Service, request: ApiRequest) -> Response:
    """Send updates as server-sent events: the overview, or everything of one bandit."""
    return await service.live.open(request)


async def get_decisions(service: Service, request: ApiRequest) -> Response:
    """List the newest decisions."""
    name, limit = request.path["name"], request.whole("limit", SHOWN, MOST_LISTED, 1)
    return json_response(await service.read(lambda view: newest_decisions(view, name, limit)))


async def get_history(service: Service, request: ApiRequest) -> Response:
    """Return the history of a bandit and its arms, coarser the longer ago."""
    name, span = request.path["name"], cast("Range", request.choice("range", RANGES))
    arms = [arm for arm in request.query["arm"] if arm] if "arm" in request.query else None
    found = await service.read(lambda view: history_of(view, name, span, arms, service.store.now()))
    return json_response(found)


async def post_what_if(service: Service, request: ApiRequest) -> Response:
    """Compute the optimum with other floors; nothing is changed."""
    name, body = request.path["name"], await service.decode(request.body or b"{}", WhatIfBody)
    bandit = await service.read(lambda view: find_bandit(view, name))
    compiled = service.precompiler.solves(bandit.config)
    return json_response(await service.computer.run(what_if, bandit, body, compiled))


async def get_dashboard(service: Service, request: ApiRequest) -> Response:
    """Return the dashboard."""
    return _file(service, request, "index.html")


async def get_file(service: Service, request: ApiRequest) -> Response:
    """Return a file of the dashboard."""
    return _file(service, request, request.path["file"])


def _file(service: Service, request: ApiRequest, path: str) -> Response:
    if path not in service.files:
        raise not_found("file", path)
    body, media_type, tag = service.files[path]
    headers = {**SAFE, "ETag": tag}
    if request.headers.get(b"if-none-match", b"").decode("latin-1") == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=media_type, headers=headers)
