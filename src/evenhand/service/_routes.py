"""All operations of the API, version 1, and the ways to its pages."""

from __future__ import annotations

from typing import Any

from evenhand.service import _bodies as bodies
from evenhand.service import _handlers as handlers
from evenhand.service import _watching as watching
from evenhand.service._handlers import NDJSON
from evenhand.service._live import SHOWN, STREAM
from evenhand.service._operations import Operation

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
        {"type": "integer", "minimum": 1, "maximum": watching.MOST_LISTED, "default": SHOWN},
        "At most how many decisions; fewer if much else has happened since.",
    )
}
HISTORY: dict[str, tuple[dict[str, Any], str]] = {
    "range": (
        {"type": "string", "enum": list(watching.RANGES), "default": watching.RANGES[0]},
        "How far back.",
    ),
    "arm": (
        {"type": "array", "items": {"type": "string"}},
        "Which arms, one parameter each: all if there is none, none if it is empty.",
    ),
}
WATCHED = {"bandit": ({"type": "string"}, "A bandit to be told of in full, and of no other.")}
PROBLEM = bodies.ProblemShown
# Statuses of every operation that writes.
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
            200: bodies.DecisionMade,
            201: bodies.DecisionMade,
            404: PROBLEM,
            409: PROBLEM,
            410: PROBLEM,
            **BODY,
            **WRITES,
        },
        body=(bodies.Question,),
        query=EXPLAIN,
    ),
    Operation(
        "POST",
        f"{BANDIT}/feedback",
        "decide",
        handlers.post_feedback,
        {200: bodies.FeedbackResults, 404: PROBLEM, **BODY, **WRITES},
        body=(bodies.FeedbackItem, bodies.FeedbackBatch),
    ),
    Operation(
        "GET", "/v1/bandits", "read", handlers.list_bandits, {200: bodies.BanditList, **READS}
    ),
    Operation(
        "PUT",
        BANDIT,
        "admin",
        handlers.put_bandit,
        {200: bodies.BanditShown, 201: bodies.BanditShown, 409: PROBLEM, **BODY, **WRITES},
        body=(bodies.BanditBody,),
    ),
    Operation(
        "GET", BANDIT, "read", handlers.get_bandit, {200: bodies.BanditShown, 404: PROBLEM, **READS}
    ),
    Operation(
        "PATCH",
        BANDIT,
        "admin",
        handlers.patch_bandit,
        {200: bodies.BanditShown, 404: PROBLEM, **BODY, **WRITES},
        body=(bodies.BanditChange,),
    ),
    Operation(
        "DELETE", BANDIT, "admin", handlers.delete_bandit, {204: None, 404: PROBLEM, **WRITES}
    ),
    Operation(
        "GET",
        f"{BANDIT}/state",
        "read",
        handlers.get_state,
        {200: bodies.BanditState, 404: PROBLEM, **READS},
    ),
    Operation("GET", "/v1/overview", "read", watching.get_overview, {200: bodies.Glances, **READS}),
    Operation(
        "GET",
        "/v1/live",
        "read",
        watching.get_live,
        {200: None, 404: PROBLEM, 429: PROBLEM, **READS},
        query=WATCHED,
        media_type=STREAM,
    ),
    Operation(
        "GET",
        f"{BANDIT}/decisions",
        "read",
        watching.get_decisions,
        {200: bodies.DecisionList, 404: PROBLEM, 422: PROBLEM, **READS},
        query=LIMIT,
    ),
    Operation(
        "GET",
        f"{BANDIT}/history",
        "read",
        watching.get_history,
        {200: bodies.HistoryShown, 404: PROBLEM, 422: PROBLEM, **READS},
        query=HISTORY,
    ),
    Operation(
        "POST",
        f"{BANDIT}/what-if",
        "read",
        watching.post_what_if,
        {200: bodies.WhatIf, 404: PROBLEM, 429: PROBLEM, **BODY, **READS},
        body=(bodies.Supposed,),
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
        {200: bodies.ArmShown, 201: bodies.ArmShown, 404: PROBLEM, 409: PROBLEM, **BODY, **WRITES},
        body=(bodies.ArmValues,),
    ),
    Operation(
        "PATCH",
        ARM,
        "admin",
        handlers.patch_arm,
        {200: bodies.ArmShown, 404: PROBLEM, **BODY, **WRITES},
        body=(bodies.ArmChange,),
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
        {200: bodies.DecisionShown, 404: PROBLEM, 410: PROBLEM, **READS},
    ),
    Operation(
        "DELETE",
        DECISION,
        "decide",
        handlers.delete_decision,
        {204: None, 404: PROBLEM, 409: PROBLEM, **WRITES},
    ),
    Operation("GET", "/livez", "", handlers.livez, {200: bodies.Health}),
    Operation("GET", "/readyz", "", handlers.readyz, {200: bodies.Health, **READS}),
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
    Operation("GET", "/", "", watching.get_dashboard, {}, listed=False),
    Operation("GET", "/page/{file}", "", watching.get_file, {}, listed=False),
)
