"""All operations of the API, version 1, and the ways to its pages."""

from __future__ import annotations

from typing import Any

from evenhand.service import _bodies as bodies
from evenhand.service import _handlers as handlers
from evenhand.service import _views as views
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
        method="POST",
        path=f"{BANDIT}/decisions",
        scope="decide",
        summary="Decide which of the awake arms to play; the same id is the same decision.",
        handler=handlers.post_decision,
        body=(bodies.Question,),
        query=EXPLAIN,
        answers={
            200: bodies.DecisionMade,
            201: bodies.DecisionMade,
            404: PROBLEM,
            409: PROBLEM,
            410: PROBLEM,
            **BODY,
            **WRITES,
        },
    ),
    Operation(
        method="POST",
        path=f"{BANDIT}/feedback",
        scope="decide",
        summary="Tell what played arms returned: one decision, or many as items.",
        handler=handlers.post_feedback,
        body=(bodies.FeedbackItem, bodies.FeedbackBatch),
        answers={200: bodies.FeedbackResults, 404: PROBLEM, **BODY, **WRITES},
    ),
    Operation(
        method="GET",
        path="/v1/bandits",
        scope="read",
        summary="Name all bandits.",
        handler=handlers.list_bandits,
        answers={200: bodies.BanditList, **READS},
    ),
    Operation(
        method="PUT",
        path=BANDIT,
        scope="admin",
        summary="Create a bandit; the same body again changes nothing.",
        handler=handlers.put_bandit,
        body=(bodies.BanditBody,),
        answers={200: bodies.BanditShown, 201: bodies.BanditShown, 409: PROBLEM, **BODY, **WRITES},
    ),
    Operation(
        method="GET",
        path=BANDIT,
        scope="read",
        summary="Show a bandit as it is now.",
        handler=handlers.get_bandit,
        answers={200: bodies.BanditShown, 404: PROBLEM, **READS},
    ),
    Operation(
        method="PATCH",
        path=BANDIT,
        scope="admin",
        summary="Change plays, or how long feedback is awaited.",
        handler=handlers.patch_bandit,
        body=(bodies.BanditChange,),
        answers={200: bodies.BanditShown, 404: PROBLEM, **BODY, **WRITES},
    ),
    Operation(
        method="DELETE",
        path=BANDIT,
        scope="admin",
        summary="Delete a bandit with all it knows.",
        handler=handlers.delete_bandit,
        answers={204: None, 404: PROBLEM, **WRITES},
    ),
    Operation(
        method="GET",
        path=f"{BANDIT}/state",
        scope="read",
        summary="Show how every arm fares, and what to worry about.",
        handler=handlers.get_state,
        answers={200: bodies.BanditState, 404: PROBLEM, **READS},
    ),
    Operation(
        method="GET",
        path="/v1/overview",
        scope="read",
        summary="Show all bandits at a glance: whose floors are kept.",
        handler=watching.get_overview,
        answers={200: views.Glances, **READS},
    ),
    Operation(
        method="GET",
        path="/v1/live",
        scope="read",
        summary="Tell what is new, as server-sent events: the overview, or the state and the "
        "decisions of one bandit, each as its own operation has it.",
        handler=watching.get_live,
        query=WATCHED,
        answers={200: None, 404: PROBLEM, 429: PROBLEM, **READS},
        media_type=STREAM,
    ),
    Operation(
        method="GET",
        path=f"{BANDIT}/decisions",
        scope="read",
        summary="List the newest decisions.",
        handler=watching.get_decisions,
        query=LIMIT,
        answers={200: views.DecisionList, 404: PROBLEM, 422: PROBLEM, **READS},
    ),
    Operation(
        method="GET",
        path=f"{BANDIT}/history",
        scope="read",
        summary="Show how a bandit and its arms stood over time, coarser the longer ago.",
        handler=watching.get_history,
        query=HISTORY,
        answers={200: views.HistoryShown, 404: PROBLEM, 422: PROBLEM, **READS},
    ),
    Operation(
        method="POST",
        path=f"{BANDIT}/what-if",
        scope="read",
        summary="Work out the optimum with other floors; nothing is changed.",
        handler=watching.post_what_if,
        body=(views.Supposed,),
        answers={200: views.WhatIf, 404: PROBLEM, 429: PROBLEM, **BODY, **READS},
    ),
    Operation(
        method="GET",
        path=f"{BANDIT}/log",
        scope="read",
        summary="Show what has happened, a JSON line an event, by cursor.",
        handler=handlers.get_log,
        query=CURSOR,
        answers={200: None, 404: PROBLEM, 422: PROBLEM, **READS},
        media_type=NDJSON,
    ),
    Operation(
        method="PUT",
        path=ARM,
        scope="admin",
        summary="Let an arm take part; nothing is owed to it for the time before.",
        handler=handlers.put_arm,
        body=(bodies.ArmValues,),
        answers={
            200: bodies.ArmShown,
            201: bodies.ArmShown,
            404: PROBLEM,
            409: PROBLEM,
            **BODY,
            **WRITES,
        },
    ),
    Operation(
        method="PATCH",
        path=ARM,
        scope="admin",
        summary="Change an arm's floor, weight or availability, pause or resume it.",
        handler=handlers.patch_arm,
        body=(bodies.ArmChange,),
        answers={200: bodies.ArmShown, 404: PROBLEM, **BODY, **WRITES},
    ),
    Operation(
        method="DELETE",
        path=ARM,
        scope="admin",
        summary="Let an arm leave; feedback on it that is under way will be ignored.",
        handler=handlers.delete_arm,
        answers={204: None, 404: PROBLEM, 409: PROBLEM, 422: PROBLEM, **WRITES},
    ),
    Operation(
        method="GET",
        path=DECISION,
        scope="read",
        summary="Show a decision and what became of it.",
        handler=handlers.get_decision,
        answers={200: bodies.DecisionShown, 404: PROBLEM, 410: PROBLEM, **READS},
    ),
    Operation(
        method="DELETE",
        path=DECISION,
        scope="decide",
        summary="Take back a decision that was never shown: it is as if it had not been made.",
        handler=handlers.delete_decision,
        answers={204: None, 404: PROBLEM, 409: PROBLEM, **WRITES},
    ),
    Operation(
        method="GET",
        path="/livez",
        scope="",
        summary="Say that the process lives.",
        handler=handlers.livez,
        answers={200: bodies.Health},
    ),
    Operation(
        method="GET",
        path="/readyz",
        scope="",
        summary="Say whether decisions can be made and kept.",
        handler=handlers.readyz,
        answers={200: bodies.Health, **READS},
    ),
    Operation(
        method="GET",
        path="/metrics",
        scope="read",
        summary="Show counts and latencies for Prometheus.",
        handler=handlers.get_metrics,
        answers={200: None, **READS},
        media_type="text/plain",
    ),
    Operation(
        method="GET",
        path="/openapi.json",
        scope="",
        summary="Show this description.",
        handler=handlers.get_openapi,
        answers={200: None},
    ),
    Operation(
        method="GET",
        path="/docs",
        scope="",
        summary="Show the page about this API.",
        handler=handlers.get_docs,
        answers={200: None},
        media_type="text/html",
    ),
    Operation(
        method="GET",
        path="/",
        scope="",
        summary="Show the dashboard.",
        handler=watching.get_dashboard,
        listed=False,
    ),
    Operation(
        method="GET",
        path="/page/{file}",
        scope="",
        summary="Send a file of the dashboard's.",
        handler=watching.get_file,
        listed=False,
    ),
)
