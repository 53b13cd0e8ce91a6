"""The table of all operations: the API, version 1, and its pages."""

from __future__ import annotations

from typing import Any

from evenhand.service import schemas
from evenhand.service.http import dashboard, handlers
from evenhand.service.http.handlers import NDJSON
from evenhand.service.http.live import EVENT_STREAM, SHOWN
from evenhand.service.http.operations import Operation
from evenhand.service.views import schemas as views

BANDIT = "/v1/bandits/{name}"
ARM = f"{BANDIT}/arms/{{arm}}"
DECISION = f"{BANDIT}/decisions/{{decision}}"
EXPLAIN = {"explain": ({"type": "boolean", "default": False}, "Add the reasons, and keep them.")}
CURSOR = {
    "after": (
        {"type": "integer", "minimum": 0, "maximum": 2**62, "default": 0},
        "The cursor of the last line that was read.",
    ),
    "limit": (
        {"type": "integer", "minimum": 1, "maximum": handlers.MOST_LINES, "default": 1_000},
        "At most how many lines.",
    ),
}
LIMIT = {
    "limit": (
        {"type": "integer", "minimum": 1, "maximum": dashboard.MOST_LISTED, "default": SHOWN},
        "At most how many decisions; fewer if much else has happened since.",
    )
}
HISTORY: dict[str, tuple[dict[str, Any], str]] = {
    "range": (
        {"type": "string", "enum": list(dashboard.RANGES), "default": dashboard.RANGES[0]},
        "How far back.",
    ),
    "arm": (
        {"type": "array", "items": {"type": "string"}},
        "Which arms, one parameter each; all without a parameter, none if it is empty.",
    ),
}
WATCHED = {"bandit": ({"type": "string"}, "A bandit to watch; all bandits if left out.")}
PROBLEM = schemas.ProblemDetails
# The statuses of every operation that writes, reads, or has a body.
WRITES = {429: PROBLEM, 503: PROBLEM, 507: PROBLEM}
READS = {503: PROBLEM}
BODY = {400: PROBLEM, 413: PROBLEM, 422: PROBLEM}

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "POST",
        f"{BANDIT}/decisions",
        "decide",
        handlers.post_decision,
        {
            200: schemas.DecisionResponse,
            201: schemas.DecisionResponse,
            404: PROBLEM,
            409: PROBLEM,
            410: PROBLEM,
            **BODY,
            **WRITES,
        },
        body=(schemas.DecisionBody,),
        query=EXPLAIN,
    ),
    Operation(
        "POST",
        f"{BANDIT}/feedback",
        "decide",
        handlers.post_feedback,
        {200: schemas.FeedbackResults, 404: PROBLEM, **BODY, **WRITES},
        body=(schemas.FeedbackItem, schemas.FeedbackBatch),
    ),
    Operation(
        "GET", "/v1/bandits", "read", handlers.list_bandits, {200: schemas.BanditList, **READS}
    ),
    Operation(
        "PUT",
        BANDIT,
        "admin",
        handlers.put_bandit,
        {200: schemas.BanditResponse, 201: schemas.BanditResponse, 409: PROBLEM, **BODY, **WRITES},
        body=(schemas.BanditBody,),
    ),
    Operation(
        "GET",
        BANDIT,
        "read",
        handlers.get_bandit,
        {200: schemas.BanditResponse, 404: PROBLEM, **READS},
    ),
    Operation(
        "PATCH",
        BANDIT,
        "admin",
        handlers.patch_bandit,
        {200: schemas.BanditResponse, 404: PROBLEM, **BODY, **WRITES},
        body=(schemas.BanditChange,),
    ),
    Operation(
        "DELETE", BANDIT, "admin", handlers.delete_bandit, {204: None, 404: PROBLEM, **WRITES}
    ),
    Operation(
        "GET",
        f"{BANDIT}/state",
        "read",
        handlers.get_state,
        {200: views.BanditState, 404: PROBLEM, **READS},
    ),
    Operation(
        "GET", "/v1/overview", "read", dashboard.get_overview, {200: views.BanditSummaries, **READS}
    ),
    Operation(
        "GET",
        "/v1/live",
        "read",
        dashboard.get_live,
        {200: None, 404: PROBLEM, 429: PROBLEM, **READS},
        query=WATCHED,
        media_type=EVENT_STREAM,
    ),
    Operation(
        "GET",
        f"{BANDIT}/decisions",
        "read",
        dashboard.get_decisions,
        {200: views.DecisionList, 404: PROBLEM, 422: PROBLEM, **READS},
        query=LIMIT,
    ),
    Operation(
        "GET",
        f"{BANDIT}/history",
        "read",
        dashboard.get_history,
        {200: views.HistoryResponse, 404: PROBLEM, 422: PROBLEM, **READS},
        query=HISTORY,
    ),
    Operation(
        "POST",
        f"{BANDIT}/what-if",
        "read",
        dashboard.post_what_if,
        {200: views.WhatIf, 404: PROBLEM, 429: PROBLEM, **BODY, **READS},
        body=(schemas.WhatIfBody,),
    ),
    Operation(
        "GET",
        f"{BANDIT}/log",
        "read",
        handlers.get_log,
        {200: None, 404: PROBLEM, 422: PROBLEM, **READS},
        query=CURSOR,
        media_type=NDJSON,
    ),
    Operation(
        "PUT",
        ARM,
        "admin",
        handlers.put_arm,
        {
            200: schemas.ArmResponse,
            201: schemas.ArmResponse,
            404: PROBLEM,
            409: PROBLEM,
            **BODY,
            **WRITES,
        },
        body=(schemas.ArmValues,),
    ),
    Operation(
        "PATCH",
        ARM,
        "admin",
        handlers.patch_arm,
        {200: schemas.ArmResponse, 404: PROBLEM, **BODY, **WRITES},
        body=(schemas.ArmChange,),
    ),
    Operation(
        "DELETE",
        ARM,
        "admin",
        handlers.delete_arm,
        {204: None, 404: PROBLEM, 409: PROBLEM, 422: PROBLEM, **WRITES},
    ),
    Operation(
        "GET",
        DECISION,
        "read",
        handlers.get_decision,
        {200: views.DecisionDetails, 404: PROBLEM, 410: PROBLEM, **READS},
    ),
    Operation(
        "DELETE",
        DECISION,
        "decide",
        handlers.delete_decision,
        {204: None, 404: PROBLEM, 409: PROBLEM, **WRITES},
    ),
    Operation("GET", "/livez", "", handlers.livez, {200: schemas.Health}),
    Operation("GET", "/readyz", "", handlers.readyz, {200: schemas.Health, **READS}),
    Operation(
        "GET",
        "/metrics",
        "read",
        handlers.get_metrics,
        {200: None, **READS},
        media_type="text/plain",
    ),
    Operation("GET", "/openapi.json", "", handlers.get_openapi, {200: None}),
    Operation("GET", "/docs", "", handlers.get_docs, {200: None}, media_type="text/html"),
    Operation("GET", "/", "", dashboard.get_dashboard, {}, listed=False),
    Operation("GET", "/page/{file}", "", dashboard.get_file, {}, listed=False),
)
