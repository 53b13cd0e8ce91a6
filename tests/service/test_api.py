"""The API: what each route answers, and what it refuses."""

from __future__ import annotations

import json
import time

import pytest

ARMS = [{"name": "news", "floor": 0.3}, {"name": "arts", "floor": 0.1}, {"name": "sport"}]
BODY = {"arms": ARMS, "plays": 2}


def ask(shelf, **body):
    answer = shelf.post("/v1/bandits/shelf/decisions", json=body)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


def tell(shelf, *items):
    answer = shelf.post("/v1/bandits/shelf/feedback", json={"items": list(items)})
    assert answer.status_code == 200
    return answer.json()["results"]


def counts(shelf):
    state = shelf.get("/v1/bandits/shelf/state").json()
    return state["rounds"], [
        (arm["name"], arm["played"], arm["feedbacks"], arm["pending"]) for arm in state["arms"]
    ]


def problem(answer, status):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json()
    assert found["status"] == status
    assert {"type", "title", "detail"} <= set(found)
    return found


# Bandits


def test_a_bandit_is_created_once(app):
    made = app.put("/v1/bandits/shelf", json=BODY)
    assert made.status_code == 201
    assert made.json()["policy"]["name"] == "priced"
    again = app.put("/v1/bandits/shelf", json=BODY)
    assert (again.status_code, again.json()) == (200, made.json())
    assert (
        "another body"
        in problem(app.put("/v1/bandits/shelf", json={**BODY, "plays": 1}), 409)["detail"]
    )
    assert app.get("/v1/bandits/shelf").json() == made.json()
    assert app.get("/v1/bandits").json() == {"bandits": ["shelf"]}


def test_a_bandit_is_deleted_with_its_name(shelf):
    ask(shelf, id="d")
    assert shelf.delete("/v1/bandits/shelf").status_code == 204
    problem(shelf.get("/v1/bandits/shelf"), 404)
    problem(shelf.delete("/v1/bandits/shelf"), 404)
    assert shelf.put("/v1/bandits/shelf", json=BODY).status_code == 201
    problem(shelf.get("/v1/bandits/shelf/decisions/d"), 404)
    assert counts(shelf)[0] == 0


def test_its_rules_can_be_changed(shelf):
    changed = shelf.patch(
        "/v1/bandits/shelf",
        json={"plays": 1, "feedback": {"timeout_seconds": 5, "default_reward": 0}},
    )
    assert changed.json()["plays"] == 1
    assert changed.json()["feedback"] == {"timeout_seconds": 5.0, "default_reward": 0.0}
    assert len(ask(shelf)["chosen"]) == 1
    assert (
        shelf.patch("/v1/bandits/shelf", json={"plays": 3}).json()["feedback"]["timeout_seconds"]
        == 5.0
    )
    assert len(ask(shelf)["chosen"]) == 3
    assert (
        shelf.patch("/v1/bandits/shelf", json={"feedback": None}).json()["feedback"][
            "timeout_seconds"
        ]
        is None
    )


def test_floors_that_cannot_be_kept_are_refused_with_the_proof(app):
    arms = [
        {"name": "a", "floor": 0.6, "availability": 0.5},
        {"name": "b", "floor": 0.1, "availability": 0.9},
    ]
    found = problem(app.put("/v1/bandits/x", json={"arms": arms, "plays": 1}), 422)
    assert found["type"] == "/docs#infeasible-floors"
    assert found["certificate"] == {"arms": ["a"], "promised": 0.6, "possible": 0.5}
    assert found["floor_headroom"] == pytest.approx(0.5 / 0.6)
    for arm in arms:
        del arm["availability"]
    assert app.put("/v1/bandits/x", json={"arms": arms, "plays": 1}).status_code == 201


def test_floors_that_are_raised_too_far_are_refused_and_nothing_changes(app):
    arms = [{"name": n, "floor": 0.2, "availability": 0.5} for n in "ab"]
    app.put("/v1/bandits/x", json={"arms": arms, "plays": 1})
    before = app.get("/v1/bandits/x").json()
    found = problem(app.patch("/v1/bandits/x/arms/a", json={"floor": 0.55}), 422)
    assert found["certificate"]["arms"] == ["a"]
    problem(app.put("/v1/bandits/x/arms/c", json={"floor": 0.9, "availability": 0.1}), 422)
    assert app.get("/v1/bandits/x").json() == before
    assert app.post("/v1/bandits/x/decisions", json={"awake": ["a", "b"]}).status_code == 201


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ({"name": "tscsf-b", "eta": None}, "eta of policy 'tscsf-b' must be a number above 0"),
        ({"name": "opt-f"}, "nature's secrets"),
        ({"name": "nonsense"}, "unknown policy"),
        ({"name": "priced", "etta": 3}, "etta"),
        ({"name": "priced", "eta": -1}, "eta"),
        ({"eta": 1}, "policy.name"),
    ],
)
def test_policies_that_cannot_serve_are_refused_with_the_reason(app, policy, words):
    assert (
        words in problem(app.put("/v1/bandits/x", json={**BODY, "policy": policy}), 422)["detail"]
    )
    assert app.get("/v1/bandits").json() == {"bandits": []}


@pytest.mark.parametrize(
    "policy",
    [
        {"name": "tscsf-b", "eta": 10},
        {"name": "lfg", "debt": "cumulative"},
        {"name": "priced", "half_life": 50, "exploration": 0.1},
        {"name": "priced", "rewards": "binarised"},
        {"name": "uniform"},
    ],
    ids=lambda policy: "-".join(map(str, policy.values())),
)
def test_policies_that_can_serve_do(app, policy):
    assert app.put("/v1/bandits/shelf", json={**BODY, "policy": policy}).status_code == 201
    for i in range(30):
        made = ask(app, id=f"d{i}", awake=["news", "arts", "sport"] if i % 2 else ["arts"])
        tell(app, {"decision": made["id"], "rewards": dict.fromkeys(made["chosen"], 0.3)})
    app.delete("/v1/bandits/shelf/arms/sport")
    assert counts(app)[0] == 30
    from evenhand.service.upkeep.verification import verify

    with app.service.store.view() as view:
        assert verify(view, "shelf")[1] == []


# Arms


def test_an_arm_joins_changes_pauses_resumes_and_retires(shelf):
    joined = shelf.put("/v1/bandits/shelf/arms/rock%2Fpop", json={"floor": 0.2, "weight": 2})
    assert joined.status_code == 201
    assert joined.json() == {
        "name": "rock/pop", "floor": 0.2, "weight": 2.0, "availability": None, "paused": False,
    }  # fmt: skip
    assert (
        shelf.put("/v1/bandits/shelf/arms/rock%2Fpop", json={"floor": 0.2, "weight": 2}).status_code
        == 200
    )
    problem(shelf.put("/v1/bandits/shelf/arms/rock%2Fpop", json={"floor": 0.3}), 409)
    assert shelf.patch("/v1/bandits/shelf/arms/rock%2Fpop", json={"paused": True}).json()["paused"]
    assert "rock/pop" not in [arm for _ in range(20) for arm in ask(shelf)["chosen"]]
    assert (
        shelf.patch("/v1/bandits/shelf/arms/rock%2Fpop", json={"paused": True}).status_code == 200
    )
    resumed = shelf.patch("/v1/bandits/shelf/arms/rock%2Fpop", json={"paused": False, "floor": 0.9})
    assert (resumed.json()["paused"], resumed.json()["floor"]) == (False, 0.9)
    assert "rock/pop" in [arm for _ in range(20) for arm in ask(shelf)["chosen"]]
    assert shelf.delete("/v1/bandits/shelf/arms/rock%2Fpop").status_code == 204
    problem(shelf.delete("/v1/bandits/shelf/arms/rock%2Fpop"), 404)
    problem(shelf.patch("/v1/bandits/shelf/arms/rock%2Fpop", json={"floor": 0.1}), 404)


def test_the_last_arm_stays(shelf):
    for arm in ("news", "arts"):
        assert shelf.delete(f"/v1/bandits/shelf/arms/{arm}").status_code == 204
    assert "last one" in problem(shelf.delete("/v1/bandits/shelf/arms/sport"), 409)["detail"]


# Decisions


def test_the_same_id_is_the_same_decision(shelf):
    first = shelf.post("/v1/bandits/shelf/decisions", json={"id": "x", "awake": ["news", "arts"]})
    again = shelf.post("/v1/bandits/shelf/decisions", json={"id": "x", "awake": ["arts", "news"]})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    for other in ({"id": "x"}, {"id": "x", "awake": ["news"]}, {"id": "x", "awake": ["nobody"]}):
        problem(shelf.post("/v1/bandits/shelf/decisions", json=other), 409)
    assert counts(shelf)[0] == 1


def test_the_same_id_is_the_same_decision_after_its_arms_are_gone(shelf):
    first = ask(shelf, id="x", awake=["sport", "arts"])
    shelf.delete("/v1/bandits/shelf/arms/sport")
    shelf.patch("/v1/bandits/shelf/arms/arts", json={"paused": True})
    assert ask(shelf, id="x", awake=["sport", "arts"]) == first
    problem(shelf.post("/v1/bandits/shelf/decisions", json={"id": "y", "awake": ["sport"]}), 422)


def test_nobody_awake_is_an_empty_choice(shelf):
    assert ask(shelf, awake=[])["chosen"] == []


def test_awake_arms_that_are_paused_are_not_chosen(shelf):
    shelf.patch("/v1/bandits/shelf/arms/news", json={"paused": True})
    assert ask(shelf, id="x", awake=["news"])["chosen"] == []
    assert ask(shelf, id="x", awake=["news"])["chosen"] == []
    assert shelf.get("/v1/bandits/shelf/decisions/x").json()["awake"] == []


def test_a_decision_can_be_explained(shelf):
    made = shelf.post("/v1/bandits/shelf/decisions?explain=true", json={"id": "x"}).json()
    assert {reason["arm"] for reason in made["reasons"]} == {"news", "arts", "sport"}
    assert sum(reason["probability"] for reason in made["reasons"]) == pytest.approx(2.0)
    assert [r["arm"] for r in made["reasons"] if r["chosen"]] == made["chosen"]
    assert shelf.get("/v1/bandits/shelf/decisions/x").json()["reasons"] == made["reasons"]
    again = shelf.post("/v1/bandits/shelf/decisions?explain=true", json={"id": "x"})
    assert (again.status_code, again.json()) == (200, made)


def test_a_decision_can_be_looked_at(shelf):
    made = ask(shelf, id="x/1 ü")
    seen = shelf.get("/v1/bandits/shelf/decisions/x%2F1%20%C3%BC").json()
    assert {key: seen[key] for key in made} == made
    assert (seen["told"], seen["state"]) == ({}, "awaiting")
    assert [reason["arm"] for reason in seen["reasons"]] == ["news", "arts", "sport"]
    assert seen["awake"] == ["news", "arts", "sport"]
    tell(shelf, {"decision": "x/1 ü", "rewards": {made["chosen"][0]: 0.5}})
    assert shelf.get("/v1/bandits/shelf/decisions/x%2F1%20%C3%BC").json()["state"] == "awaiting"
    tell(shelf, {"decision": "x/1 ü", "rewards": {made["chosen"][1]: 1}})
    seen = shelf.get("/v1/bandits/shelf/decisions/x%2F1%20%C3%BC").json()
    assert seen["state"] == "told"
    assert seen["told"] == {made["chosen"][0]: 0.5, made["chosen"][1]: 1.0}


def test_a_decision_that_was_never_shown_is_taken_back(shelf):
    before = counts(shelf)
    ask(shelf, id="x")
    assert shelf.delete("/v1/bandits/shelf/decisions/x").status_code == 204
    assert shelf.delete("/v1/bandits/shelf/decisions/x").status_code == 204
    assert counts(shelf) == before
    assert shelf.get("/v1/bandits/shelf/decisions/x").json()["state"] == "cancelled"
    problem(shelf.post("/v1/bandits/shelf/decisions", json={"id": "x"}), 409)
    problem(shelf.delete("/v1/bandits/shelf/decisions/y"), 404)
    made = ask(shelf, id="z")
    tell(shelf, {"decision": "z", "rewards": {made["chosen"][0]: 1}})
    problem(shelf.delete("/v1/bandits/shelf/decisions/z"), 409)


# Feedback


def test_feedback_has_an_outcome_each_and_a_bad_item_spoils_nothing(shelf):
    made = ask(shelf, id="x")
    first, second = made["chosen"]
    left = next(arm["name"] for arm in ARMS if arm["name"] not in made["chosen"])
    ask(shelf, id="gone")
    shelf.delete("/v1/bandits/shelf/decisions/gone")
    results = tell(
        shelf,
        {"decision": "x", "rewards": {first: 0.5}},
        {"decision": "x", "rewards": {first: 0.5}},
        {"decision": "x", "rewards": {first: 0.75}},
        {"decision": "nowhere", "rewards": {first: 1}},
        {"decision": "x", "rewards": {left: 1}},
        {"decision": "x", "rewards": {second: 1.5}},
        {"decision": "x", "rewards": {}},
        {"rewards": {second: 1}},
        {"decision": "gone", "rewards": {first: 1}},
        17,
        {"decision": "x", "rewards": {first: 0.5, second: 1}},
    )
    assert [result["outcome"] for result in results] == [
        "applied", "duplicate", "conflict", "unknown", "invalid", "invalid", "invalid", "invalid",
        "conflict", "invalid", "applied",
    ]  # fmt: skip
    bad = results[5]
    assert (bad["field"], bad["rule"], bad["value"]) == (
        f"rewards.{second}",
        "a number <= 1.0",
        1.5,
    )
    assert results[10]["learned"] == [second]
    assert results[10]["repeated"] == [first]
    rounds, arms = counts(shelf)
    assert rounds == 1
    assert {name: feedbacks for name, _, feedbacks, _ in arms}[left] == 0
    assert all(pending == 0 for *_, pending in arms)


def test_one_item_of_feedback_stands_for_itself(shelf):
    made = ask(shelf, id="x")
    path, arm = "/v1/bandits/shelf/feedback", made["chosen"][0]
    answer = shelf.post(path, json={"decision": "x", "rewards": {arm: 1}})
    assert answer.json() == {"results": [{"decision": "x", "outcome": "applied", "learned": [arm]}]}
    assert (
        shelf.post(path, json={"decision": "y", "rewards": {arm: 1}}).json()["results"][0][
            "outcome"
        ]
        == "unknown"
    )
    found = problem(shelf.post(path, json={"decision": "x", "rewards": {"nobody": 1}}), 422)
    assert (found["field"], found["value"]) == ("rewards", "'nobody'")
    assert found["results"][0]["outcome"] == "invalid"
    found = problem(shelf.post(path, json={"decision": "x", "rewards": {arm: "much"}}), 422)
    assert (found["field"], found["value"]) == (f"rewards.{arm}", "much")


def test_feedback_on_an_arm_that_has_retired_is_ignored(shelf):
    ask(shelf, id="x", awake=["news", "arts"])
    shelf.delete("/v1/bandits/shelf/arms/news")
    shelf.put("/v1/bandits/shelf/arms/news", json={})
    [result] = tell(shelf, {"decision": "x", "rewards": {"news": 1, "arts": 1}})
    assert result == {
        "decision": "x", "outcome": "applied", "learned": ["arts"], "ignored": ["news"],
    }  # fmt: skip
    assert [
        result["outcome"] for result in tell(shelf, {"decision": "x", "rewards": {"news": 1}})
    ] == ["duplicate"]


# State and log


def test_the_state_says_how_every_arm_fares(shelf):
    for _ in range(40):
        made = ask(shelf)
        tell(shelf, {"decision": made["id"], "rewards": dict.fromkeys(made["chosen"], 1)})
    made = ask(shelf)
    state = shelf.get("/v1/bandits/shelf/state").json()
    assert (state["rounds"], state["plays"], state["policy"]) == (41, 2, "priced")
    assert sum(arm["played"] for arm in state["arms"]) == 82
    assert sum(arm["pending"] for arm in state["arms"]) == 2
    for arm in state["arms"]:
        assert arm["rate"] == pytest.approx(arm["played"] / 41)
        assert arm["low"] < arm["estimate"] < arm["high"]
        assert arm["awake_rate"] == 1.0
        assert arm["debt"] == pytest.approx(max(41 * arm["floor"] - arm["played"], 0))
    assert state["headroom"] == pytest.approx(1 / 0.3)
    assert state["warnings"] == []


def log_lines(shelf, limit):
    """Return the whole log, read page by page."""
    lines, after = [], 0
    while True:
        answer = shelf.get(f"/v1/bandits/shelf/log?after={after}&limit={limit}")
        assert answer.headers["content-type"] == "application/x-ndjson"
        page = [json.loads(line) for line in answer.text.splitlines()]
        if not page:
            return lines
        assert len(page) <= limit
        lines, after = lines + page, page[-1]["cursor"]


def test_the_log_is_enough_to_recount_everything(shelf):
    played = dict.fromkeys(("news", "arts", "sport"), 0)
    awake, rewards = dict(played), dict(played)
    for i in range(12):
        here = ["news", "arts", "sport"] if i % 3 else ["news"]
        made = ask(shelf, awake=here)
        tell(shelf, {"decision": made["id"], "rewards": dict.fromkeys(made["chosen"], 0.5)})
    lines = log_lines(shelf, 7)
    assert [line["cursor"] for line in lines] == list(range(1, 26))
    assert lines[0]["event"] == "edition"
    for line in lines:
        if line["event"] == "decision":
            for arm in line["chosen"]:
                played[arm] += 1
            for arm in line["awake"]:
                awake[arm] += 1
        elif line["event"] == "feedback":
            for arm, reward in line["rewards"].items():
                rewards[arm] += reward
    for arm in shelf.get("/v1/bandits/shelf/state").json()["arms"]:
        name = arm["name"]
        assert arm["played"] == played[name]
        assert arm["awake_rate"] == pytest.approx(awake[name] / 12)
        assert arm["estimate"] == pytest.approx((1 + rewards[name]) / (2 + arm["feedbacks"]))


def test_health_metrics_and_documentation_are_there(shelf):
    made = ask(shelf)
    ask(shelf, id="x")
    tell(
        shelf,
        {"decision": made["id"], "rewards": {made["chosen"][0]: 1}},
        {"decision": "?", "rewards": {"a": 1}},
    )
    assert shelf.get("/livez").json() == {"status": "alive"}
    assert shelf.get("/readyz").json() == {"status": "ready"}
    metrics = shelf.get("/metrics").text
    for line in (
        'evenhand_decisions_total{bandit="shelf",outcome="made"} 2.0',
        'evenhand_feedback_total{bandit="shelf",outcome="applied"} 1.0',
        'evenhand_feedback_total{bandit="shelf",outcome="unknown"} 1.0',
        'evenhand_pending{bandit="shelf"} 3.0',
        'evenhand_largest_debt{bandit="shelf"}',
        'evenhand_largest_shortfall{bandit="shelf"}',
        "evenhand_commit_batch_size_count",
        "evenhand_request_seconds_bucket",
    ):
        assert line in metrics
    document = shelf.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    page = shelf.get("/docs").text
    assert all(path in page for path in document["paths"])
    assert "//" not in page.replace("<!doctype", "").split("<body>")[0].replace("/openapi.json", "")


# Bad input

TIMEOUT = "feedback.timeout_seconds"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "field"),
    [
        ("PUT", "bandits/x", {"arms": [], "plays": 1}, 422, "arms"),
        ("PUT", "bandits/x", {"arms": [{"name": ""}], "plays": 1}, 422, "arms[0].name"),
        ("PUT", "bandits/x", {"arms": [{"name": "a"}, {"name": "a"}], "plays": 1}, 422, "arms"),
        ("PUT", "bandits/x", {"arms": [{"name": "a\n"}], "plays": 1}, 422, "name of arm number 1"),
        ("PUT", "bandits/x", {"arms": [{"name": "a", "floor": 2}]}, 422, "arms[0].floor"),
        ("PUT", "bandits/x", {"arms": [{"name": "a", "weight": -1}]}, 422, "arms[0].weight"),
        ("PUT", "bandits/x", {"arms": ARMS, "plays": 0}, 422, "plays"),
        ("PUT", "bandits/x", {"arms": ARMS, "plays": 1.5}, 422, "plays"),
        ("PUT", "bandits/x", {"arms": ARMS}, 422, "plays"),
        ("PUT", "bandits/x", {**BODY, "colour": "red"}, 422, "colour"),
        ("PATCH", "bandits/shelf", {"feedback": {"timeout_seconds": 0}}, 422, TIMEOUT),
        ("PUT", "bandits/x", [], 422, "body"),
        ("PUT", "bandits/.hidden", BODY, 422, "name"),
        ("PUT", "bandits/" + "x" * 101, BODY, 422, "name"),
        ("PATCH", "bandits/shelf", {"plays": None}, 422, "plays"),
        ("PATCH", "bandits/shelf/arms/news", {"floor": 2}, 422, "floor"),
        ("PUT", "bandits/shelf/arms/%00", {}, 422, "arm"),
        ("POST", "bandits/shelf/decisions", {"awake": "news"}, 422, "awake"),
        ("POST", "bandits/shelf/decisions", {"awake": ["news", "news"]}, 422, "awake arms"),
        ("POST", "bandits/shelf/decisions", {"awake": ["nobody"]}, 422, "awake arm"),
        ("POST", "bandits/shelf/decisions", {"awake": [1]}, 422, "awake[0]"),
        ("POST", "bandits/shelf/decisions", {"id": " "}, 422, "id"),
        ("POST", "bandits/shelf/decisions", {"id": "x" * 201}, 422, "id"),
        ("POST", "bandits/shelf/decisions?explain=maybe", {}, 422, "explain"),
        ("POST", "bandits/shelf/feedback", {"items": 3}, 422, "items"),
        ("POST", "bandits/shelf/feedback", {"items": [], "more": 1}, 422, "more"),
        ("POST", "bandits/shelf/feedback", {"items": [{}] * 1_001}, 422, "items"),
        ("GET", "bandits/shelf/log?after=-1", None, 422, "after"),
        ("GET", "bandits/shelf/log?limit=0", None, 422, "limit"),
        ("GET", "bandits/shelf/log?limit=x", None, 422, "limit"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_field_rule_and_value(shelf, method, path, body, status, field):
    before = counts(shelf), shelf.get("/v1/bandits/shelf").json()
    found = problem(shelf.request(method, f"/v1/{path}", json=body), status)
    assert found["field"] == field
    assert found["rule"]
    assert (counts(shelf), shelf.get("/v1/bandits/shelf").json()) == before
    assert shelf.get("/v1/bandits").json() == {"bandits": ["shelf"]}


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"\xff\xfe", b'{"decision": NaN}', b'{"decision": "\\ud800"}', b"[" * 50_000],
)
def test_what_is_no_json_is_refused(shelf, text):
    answer = shelf.post("/v1/bandits/shelf/feedback", content=text)
    assert problem(answer, 400)["type"] == "/docs#no-json"


def test_a_value_that_cannot_be_shown_is_described(shelf):
    for text in (
        b'{"awake": {"a": "\\ud800"}}',
        b'{"awake": 1e999}',
        b'{"awake": ' + b"9" * 400 + b"}",
    ):
        answer = shelf.post("/v1/bandits/shelf/decisions", content=text)
        assert answer.status_code in (400, 422)
        assert answer.json()["detail"]


def test_a_body_that_is_too_large_is_refused(shelf):
    assert (
        "100000 bytes"
        in problem(shelf.post("/v1/bandits/shelf/decisions", content=b" " * 100_001), 413)["detail"]
    )
    parts = (b" " * 1_000 for _ in range(200))
    problem(shelf.post("/v1/bandits/shelf/decisions", content=parts), 413)


def test_what_is_asked_for_without_its_body_has_none(shelf):
    answer = shelf.head("/livez")
    assert (answer.status_code, answer.content) == (200, b"")


def test_of_a_deleted_bandit_nothing_is_counted_any_more(shelf):
    ask(shelf)
    shelf.delete("/v1/bandits/shelf")
    assert "shelf" not in shelf.get("/metrics").text


def test_addresses_and_methods_that_there_are_not_are_refused(shelf):
    problem(shelf.get("/v2/bandits"), 404)
    problem(shelf.get("/v1/bandits/none/state"), 404)
    problem(shelf.post("/v1/bandits/none/decisions", json={}), 404)
    problem(
        shelf.post("/v1/bandits/none/feedback", json={"decision": "x", "rewards": {"a": 1}}), 404
    )
    answer = shelf.post("/v1/bandits/shelf", json={})
    assert "POST" in problem(answer, 405)["detail"]
    assert answer.headers["allow"] == "DELETE, GET, HEAD, PATCH, PUT"


@pytest.mark.parametrize("dots", [".", ".."])
def test_steps_of_an_address_are_no_names(shelf, dots):
    problem(shelf.post("/v1/bandits/shelf/decisions", json={"id": dots}), 422)
    arms = {"arms": [{"name": dots}], "plays": 1}
    problem(shelf.put("/v1/bandits/other", json=arms), 422)
    assert shelf.get("/v1/bandits").json() == {"bandits": ["shelf"]}


def test_an_unknown_field_with_any_name_is_refused(shelf):
    found = problem(shelf.post("/v1/bandits/shelf/decisions", json={"a\nb": 1}), 422)
    assert found["field"] == "a\nb"
    body = {"decision": "d", "rewards": {"items": 5}}
    assert (
        problem(shelf.post("/v1/bandits/shelf/feedback", json=body), 422)["field"]
        == "rewards.items"
    )


def test_too_many_arms_are_not_explained(app):
    arms = [{"name": str(i)} for i in range(2_001)]
    app.put("/v1/bandits/many", json={"arms": arms, "plays": 1, "policy": {"name": "uniform"}})
    found = problem(app.post("/v1/bandits/many/decisions?explain=true", json={}), 422)
    assert "at most 2000" in found["detail"]
    assert app.get("/v1/bandits/many/state").json()["rounds"] == 0


def test_names_that_nobody_can_have_are_not_found(shelf):
    made = ask(shelf)
    for path in ("shelf%00/decisions", "%F0%9F%98%80/decisions"):
        problem(shelf.post(f"/v1/bandits/{path}", json={}), 404)
    problem(shelf.get("/v1/bandits/shelf/decisions/x%00y"), 404)
    problem(shelf.delete("/v1/bandits/shelf/decisions/x%00y"), 404)
    problem(shelf.patch("/v1/bandits/shelf/arms/x%00y", json={}), 404)
    results = tell(
        shelf,
        {"decision": "x\0y", "rewards": {"news": 1}},
        {"decision": made["id"], "rewards": {made["chosen"][0]: 1}},
    )
    assert [result["outcome"] for result in results] == ["unknown", "applied"]


def test_no_request_is_led_to_another_address(shelf):
    answer = shelf.get("/v1/bandits/", headers={"host": "evil.example"}, follow_redirects=False)
    assert answer.status_code == 403
    problem(shelf.get("/v1/bandits/", follow_redirects=False), 404)


def test_one_item_that_cannot_be_read_spoils_no_other(shelf):
    made = ask(shelf)
    good = json.dumps({"decision": made["id"], "rewards": {made["chosen"][0]: 1}})
    body = f'{{"items": [{{"decision": "x", "rewards": {{"a": 1e999}}}}, {good}]}}'
    answer = shelf.post("/v1/bandits/shelf/feedback", content=body.encode())
    assert answer.status_code == 200
    assert [result["outcome"] for result in answer.json()["results"]] == ["invalid", "applied"]


def test_many_rewards_of_which_one_is_bad_are_refused_at_once(shelf):
    rewards = {str(i): 0.5 for i in range(5_000)}
    start = time.monotonic()
    answer = shelf.post(
        "/v1/bandits/shelf/feedback", json={"decision": "x", "rewards": {**rewards, "last": 2}}
    )
    assert problem(answer, 422)["field"] == "rewards.last"
    assert time.monotonic() - start < 1.0


def test_feedback_on_decisions_before_a_change_is_as_quick_as_after(app):
    arms = [{"name": f"arm-{i}"} for i in range(1_500)]
    app.put("/v1/bandits/shelf", json={"arms": arms, "plays": 2, "policy": {"name": "uniform"}})
    made = [ask(app, awake=["arm-1", "arm-2"]) for _ in range(50)]
    app.patch("/v1/bandits/shelf/arms/arm-0", json={"floor": 0.01})
    start = time.monotonic()
    results = tell(app, *({"decision": m["id"], "rewards": {"arm-1": 1}} for m in made))
    assert {result["outcome"] for result in results} == {"applied"}
    assert time.monotonic() - start < 0.5


def test_a_request_that_is_cut_off_decides_nothing(shelf):
    async def call():
        sent = []
        scope = {
            "type": "http", "method": "POST", "path": "/v1/bandits/shelf/decisions",
            "query_string": b"", "headers": [(b"host", b"localhost"), (b"content-length", b"9")],
        }  # fmt: skip

        async def receive():
            return {"type": "http.disconnect"}

        async def send(message):
            sent.append(message)

        await shelf.service(scope, receive, send)
        return sent

    assert shelf.portal.call(call)[0]["status"] == 400
    assert counts(shelf)[0] == 0


@pytest.mark.parametrize(
    ("policy", "shown"),
    [
        ({"name": "tscsf-b", "eta": "inf"}, {"eta": "inf", "surplus": "inf", "half_life": "inf"}),
        ({"name": "lfg", "eta": "inf"}, {"eta": "inf", "surplus": 0.0}),
        ({"name": "tscsf-b", "debt": "reflected"}, {"eta": 10.0, "surplus": 0.0}),
        ({"name": "priced", "half_life": None}, {"eta": "anytime", "half_life": "inf"}),
    ],
)
def test_every_parameter_is_served_as_it_was_given(app, policy, shown):
    made = app.put("/v1/bandits/x", json={**BODY, "policy": policy})
    assert made.status_code == 201
    found = app.get("/v1/bandits/x").json()["policy"]
    assert {name: found[name] for name in shown} == shown
    assert app.post("/v1/bandits/x/decisions", json={}).status_code == 201
    label = app.get("/v1/bandits/x/state").json()["policy"]
    assert ("eta=inf" in label) == (policy.get("eta") == "inf")


def test_feedback_rules_can_change_after_arms_have_left(app):
    body = {"arms": [{"name": "a"}, {"name": "b"}], "plays": 2}
    assert app.put("/v1/bandits/few", json=body).status_code == 201
    assert app.delete("/v1/bandits/few/arms/b").status_code == 204
    changed = app.patch("/v1/bandits/few", json={"feedback": {"timeout_seconds": 5}})
    assert (changed.status_code, changed.json()["plays"]) == (200, 2)
    assert app.patch("/v1/bandits/few", json={"plays": 3}).status_code == 422


def test_a_head_request_for_a_stream_ends(app):
    answer = app.head("/v1/live")
    assert (answer.status_code, answer.text) == (200, "")
    assert answer.headers["content-type"] == "text/event-stream"
    assert app.get("/livez").status_code == 200
