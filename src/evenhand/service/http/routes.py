"""The table of all operations: the API, version 1, and its pages."""

from __future__ import annotations

from typing import Any

from evenhand.service import schemas
from evenhand.service.engine import commands
from evenhand.service.http import dashboard, handlers
from evenhand.service.http.handlers import NDJSON, executes
from evenhand.service.http.live import EVENT_STREAM, SHOWN
from evenhand.service.http.operations import Operation
from evenhand.service.views import schemas as views

BANDIT = "/v1/bandits/{name}"
ARM = f"{BANDIT}/arms/{{arm}}"
DECISION = f"{BANDIT}/decisions/{{decision}}"
EXPLAIN = {"explain": ({"type": "boolean", "default": False}, "Add the reasons, and store them.")}
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


def answers(*codes: int, put: Any = None, **bodies: Any) -> dict[int, Any]:
    """Return the bodies by status: of success as ``_200=...``, and problems for the codes.

    ``put`` is the body of 200 and 201: something that exists, or was created.
    """
    success = {int(code[1:]): body for code, body in bodies.items()}
    created = {} if put is None else {200: put, 201: put}
    return {**success, **created, **dict.fromkeys(codes, schemas.ProblemDetails)}


# The problems of every operation that writes, reads, or has a body.
WRITES, READS, BODY = (429, 503, 507), (503,), (400, 413, 422)
CHANGES = (404, *BODY, *WRITES)
FOUND = (404, *READS)
CHECKED = (404, 422, *READS)

OPERATIONS: tuple[Operation, ...] = (
    Operation("POST", f"{BANDIT}/decisions", "decide", handlers.post_decision,
              answers(409, 410, *CHANGES, put=schemas.DecisionResponse),
              body=(schemas.DecisionBody,), query=EXPLAIN),
    Operation("POST", f"{BANDIT}/feedback", "decide", handlers.post_feedback,
              answers(*CHANGES, _200=schemas.FeedbackResults),
              body=(schemas.FeedbackItem, schemas.FeedbackBatch)),
    Operation("GET", "/v1/bandits", "read", handlers.list_bandits,
              answers(*READS, _200=schemas.BanditList)),
    Operation("PUT", BANDIT, "admin", handlers.put_bandit,
              answers(409, *BODY, *WRITES, put=schemas.BanditResponse),
              body=(schemas.BanditBody,)),
    Operation("GET", BANDIT, "read", handlers.get_bandit,
              answers(*FOUND, _200=schemas.BanditResponse)),
    Operation("PATCH", BANDIT, "admin", executes("patch_bandit", commands.ChangeBandit),
              answers(*CHANGES, _200=schemas.BanditResponse), body=(schemas.BanditChange,)),
    Operation("DELETE", BANDIT, "admin", handlers.delete_bandit, answers(404, *WRITES, _204=None)),
    Operation("GET", f"{BANDIT}/state", "read", handlers.get_state,
              answers(*FOUND, _200=views.BanditState)),
    Operation("GET", "/v1/overview", "read", dashboard.get_overview,
              answers(*READS, _200=views.BanditSummaries)),
    Operation("GET", "/v1/live", "read", dashboard.get_live, answers(404, 429, *READS, _200=None),
              query=WATCHED, media_type=EVENT_STREAM),
    Operation("GET", f"{BANDIT}/decisions", "read", dashboard.get_decisions,
              answers(*CHECKED, _200=views.DecisionList), query=LIMIT),
    Operation("GET", f"{BANDIT}/history", "read", dashboard.get_history,
              answers(*CHECKED, _200=views.HistoryResponse), query=HISTORY),
    Operation("POST", f"{BANDIT}/what-if", "read", dashboard.post_what_if,
              answers(404, 429, *BODY, *READS, _200=views.WhatIf), body=(schemas.WhatIfBody,)),
    Operation("GET", f"{BANDIT}/log", "read", handlers.get_log, answers(*CHECKED, _200=None),
              query=CURSOR, media_type=NDJSON),
    Operation("PUT", ARM, "admin",
              executes("put_arm", commands.JoinArm, body_optional=True),
              answers(409, *CHANGES, put=schemas.ArmResponse),
              body=(schemas.ArmValues,)),
    Operation("PATCH", ARM, "admin", executes("patch_arm", commands.ChangeArm),
              answers(*CHANGES, _200=schemas.ArmResponse), body=(schemas.ArmChange,)),
    Operation("DELETE", ARM, "admin", executes("delete_arm", commands.RetireArm),
              answers(404, 409, 422, *WRITES, _204=None)),
    Operation("GET", DECISION, "read", handlers.get_decision,
              answers(404, 410, *READS, _200=views.DecisionDetails)),
    Operation("DELETE", DECISION, "decide",
              executes("delete_decision", commands.CancelDecision),
              answers(404, 409, *WRITES, _204=None)),
    Operation("GET", "/livez", "", handlers.livez, answers(_200=schemas.Health)),
    Operation("GET", "/readyz", "", handlers.readyz, answers(*READS, _200=schemas.Health)),
    Operation("GET", "/metrics", "read", handlers.get_metrics, answers(*READS, _200=None),
              media_type="text/plain"),
    Operation("GET", "/openapi.json", "", handlers.get_openapi, answers(_200=None)),
    Operation("GET", "/docs", "", handlers.get_docs, answers(_200=None), media_type="text/html"),
    Operation("GET", "/", "", dashboard.get_dashboard, {}, listed=False),
    Operation("GET", "/page/{file}", "", dashboard.get_file, {}, listed=False),
)  # fmt: skip
