"""Verify, compact, export and import: a database that is looked after stays true."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
import pytest

from evenhand import InputError, Policy, register_policy
from evenhand.core.arrays import Floats
from evenhand.core.schema import Column
from evenhand.policies import registry
from evenhand.service.engine.bandit import TABLES
from evenhand.service.engine.commands import (
    CancelDecision,
    ChangeArm,
    Decide,
    JoinArm,
    RetireArm,
    Tell,
)
from evenhand.service.engine.config_version import ConfigVersion
from evenhand.service.engine.counters import from_plain, packed, to_plain, unpacked
from evenhand.service.engine.events import histories
from evenhand.service.engine.executor import CommandExecutor
from evenhand.service.schemas import ArmBody, ArmChange, ArmValues, BanditBody, FeedbackItem
from evenhand.service.stores import open_store
from evenhand.service.stores.protocol import BanditHead
from evenhand.service.upkeep.compaction import compact
from evenhand.service.upkeep.export import export_lines, import_lines
from evenhand.service.upkeep.verification import verify
from evenhand.service.views.lookup import find_bandit
from evenhand.service.views.state import state_of
from tests.service.bandits import create

POLICIES = {
    "priced": None,
    "forgetful": {"name": "priced", "half_life": 20},
    "binarised": {"name": "tscsf-b", "rewards": "binarised"},
    "reflected": {"name": "tscsf-b", "debt": "reflected"},
    "lfg": {"name": "lfg"},
    "pessimistic": {"name": "pessimistic", "half_life": 50},
    "short surplus": {"name": "floor-first", "surplus": 0.4},
}


def lived(store, clock, policy=None):
    """Give a store a bandit that has seen a bit of everything."""
    executor, rng = CommandExecutor(store, now=clock), np.random.default_rng(3)
    arms = [ArmBody("a", floor=0.3), ArmBody("b", floor=0.1), ArmBody("c"), ArmBody("d")]
    executor.execute([create("shelf", BanditBody(arms, 2, policy))])
    for number in range(120):
        clock.now += 1.0
        names = [arm for arm in executor._bandits["shelf"].arms if rng.random() < 0.8]
        [answer] = executor.execute(
            [Decide("shelf", str(number), names if number % 3 else None, False)]
        )
        if number % 4:
            rewards = {arm: float(rng.random()) for arm in answer.body.chosen}
            some = dict(list(rewards.items())[: 1 + number % 2])
            if some:
                executor.execute([Tell("shelf", [FeedbackItem(str(number), some)])])
        elif number % 8 == 0:
            executor.execute([CancelDecision("shelf", str(number))])
        changes = {
            30: JoinArm("shelf", "e", ArmValues(0.1)),
            50: ChangeArm("shelf", "a", ArmChange(paused=True)),
            60: RetireArm("shelf", "b"),
            70: ChangeArm("shelf", "a", ArmChange(paused=False, floor=0.2)),
            80: JoinArm("shelf", "b", ArmValues(0.05)),
            90: CancelDecision("shelf", "44"),
        }
        if number in changes:
            executor.execute([changes[number]])
    return executor


def counted(store):
    with store.view() as view:
        found = find_bandit(view, "shelf")
        assert verify(view, "shelf")[1] == []
        return to_plain(found.counters)


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_counters_are_what_the_log_adds_up_to(store, clock, policy):
    lived(store, clock, policy)
    assert counted(store)["latest"] == [120]


@pytest.mark.parametrize(
    "what", ["played", "awake_counts", "feedbacks", "reward_sums", "pending", "rounds", "debts"]
)
def test_any_counter_that_is_wrong_is_found(store, clock, what):
    lived(store, clock)
    with store.transaction() as transaction:
        head = transaction.lock({"shelf": 0})["shelf"].head
        numbers = to_plain(unpacked(transaction.counters(head.key)))
        numbers[what][-1] += 1
        transaction.apply(
            head.key,
            BanditHead(head.key, 999, head.config_version),
            [],
            packed(from_plain(numbers)),
        )
    with store.view() as view:
        [difference] = verify(view, "shelf")[1]
    assert difference.what.startswith(what)
    assert difference.stored == pytest.approx(difference.counted + 1)


def test_a_missing_event_is_found(store, clock, request):
    lived(store, clock)
    with store.transaction() as transaction:
        key = transaction.find("shelf").key
        if hasattr(store, "_bandits"):
            del store._bandits[key].log[17]
        else:
            transaction._run("DELETE FROM log WHERE bandit = ? AND seq = 17", key)
    with store.view() as view, pytest.raises(ValueError, match="event 17 is missing"):
        verify(view, "shelf")


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_a_compacted_log_still_adds_up_and_can_grow(store, clock, policy, monkeypatch):
    lived(store, clock, policy)
    before = counted(store)
    with store.view() as view:
        events = len(view.events(view.find("shelf").key, 0, 10_000))
    start = clock.now
    monkeypatch.setattr(store, "now", clock)
    assert compact(store, "shelf", 60.0, chunk=20) > 10
    assert counted(store) == before
    with store.view() as view:
        left = view.events(view.find("shelf").key, 0, 10_000)
    assert len(left) < events
    assert all(event.body for event in left if event.at > start - 60.0)
    executor = CommandExecutor(store, now=clock)
    old = [e for e in left if e.kind == "decision" and e.body and e.at < start - 60]
    history = histories(left)[old[0].decision]
    with store.view() as view:
        arms = ConfigVersion.from_bytes(
            view.config(view.find("shelf").key, history.made.config_version)
        )
    unheard = set(history.made.names(arms.table.problem.arms)) - set(history.told)
    item = FeedbackItem(history.id, dict.fromkeys(unheard, 1.0))
    [told] = executor.execute([Tell("shelf", [item])])
    assert told.body.results[0].outcome == "applied"
    executor.execute([Decide("shelf", f"later-{i}", None, False) for i in range(10)])
    assert compact(store, "shelf", -1e9) > 0
    assert counted(store)["latest"] == [130]


def test_the_id_of_a_compacted_decision_is_never_used_again(store, clock):
    executor = CommandExecutor(store, now=clock)
    executor.execute([create("shelf", BanditBody([ArmBody("a")], 1))])
    executor.execute([Decide("shelf", "old", None, False)])
    executor.execute([Tell("shelf", [FeedbackItem("old", {"a": 1.0})])])
    executor.execute([Decide("shelf", "open", None, False)])
    assert compact(store, "shelf", -1e12) == 1
    [asked, told, cancelled] = executor.execute(
        [
            Decide("shelf", "old", None, False),
            Tell("shelf", [FeedbackItem("old", {"a": 1.0})]),
            CancelDecision("shelf", "old"),
        ]
    )
    assert asked.status == 410
    assert told.body.results[0].outcome == "expired"
    assert cancelled.status == 409
    [late] = executor.execute([Tell("shelf", [FeedbackItem("open", {"a": 1.0})])])
    assert late.body.results[0].outcome == "applied"
    assert counted(store)["rounds"] == [2]


@pytest.mark.parametrize(
    ("source", "target"), [("sqlite", "postgres"), ("postgres", "sqlite"), ("memory", "memory")]
)
@pytest.mark.parametrize("compacted", [False, True], ids=["whole", "compacted"])
def test_a_bandit_moves_from_one_store_to_another(source, target, compacted, url_of, clock):
    first, second = open_store(url_of(source)), open_store(url_of(target))
    lived(first, clock)
    if compacted:
        compact(first, "shelf", -1e12, chunk=50)
    with first.view() as view:
        lines = list(export_lines(view))
        state = state_of("shelf", find_bandit(view, "shelf"), 1_000.0)
    assert list(import_lines(second, lines)) == ["shelf"]
    assert counted(second) == counted(first)
    with second.view() as view:
        assert list(export_lines(view, ["shelf"])) == lines
        assert state_of("shelf", find_bandit(view, "shelf"), 1_000.0) == state
    CommandExecutor(second, now=clock).execute([Decide("shelf", "new", None, False)])
    assert counted(second)["latest"] == [121]
    for store in (first, second):
        store.close()


def changed(lines, number, change):
    document = json.loads(lines[number])
    change(document)
    return [*lines[:number], json.dumps(document), *lines[number + 1 :]]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda lines: lines[:-1], "cut off"),
        (lambda lines: lines[:40], "cut off"),
        (lambda lines: [], "cut off"),
        (lambda lines: ["hello", *lines[1:]], "line 1 must be JSON"),
        (lambda lines: changed(lines, 0, lambda d: d.update(version=9)), "version 9"),
        (lambda lines: changed(lines, 1, lambda d: d["counters"].update(rounds=[5])), "rounds"),
        (lambda lines: changed(lines, 1, lambda d: d["counters"].pop("played")), "undamaged"),
        (lambda lines: [*lines[:-5], *lines[-4:]], "end of a bandit after"),
        (lambda lines: [*lines, "more"], "all bandits have been read"),
        (lambda lines: [*lines[:40], lines[40], *lines[40:]], "undamaged"),
        (lambda lines: changed(lines, 0, lambda d: d.update(bandits="x")), "bandits of line 1"),
        (lambda lines: changed(lines, 1, lambda d: d.update(bandit="../etc")), "name of a bandit"),
        (lambda lines: changed(lines, 1, lambda d: d.update(original="boo")), "undamaged"),
        (lambda lines: changed(lines, 40, lambda d: d["event"].insert(1, "now")), "undamaged"),
        (lambda lines: [*lines[:40], lines[40].replace('"', "'"), *lines[41:]], "line 41"),
    ],
)  # fmt: skip
def test_a_damaged_file_adds_nothing(spoil, words, url_of, clock):
    first, second = open_store("memory:"), open_store(url_of("sqlite"))
    lived(first, clock)
    with first.view() as view:
        lines = list(export_lines(view))
    with pytest.raises(InputError, match=words):
        import_lines(second, spoil(lines))
    with second.view() as view:
        assert view.names() == []
    second.close()


def test_a_bandit_that_is_there_is_not_overwritten(store, clock):
    lived(store, clock)
    before = counted(store)
    with store.view() as view:
        lines = list(export_lines(view))
    with pytest.raises(InputError, match="does not exist yet"):
        import_lines(store, lines)
    assert counted(store) == before
    with store.view() as view, pytest.raises(InputError, match="unknown bandit"):
        list(export_lines(view, ["none"]))


def test_a_bandit_whose_arms_change_for_ever_does_not_grow(clock):
    executor = CommandExecutor(open_store("memory:"), now=clock)
    executor.execute([create("shelf", BanditBody([ArmBody("a"), ArmBody("b")], 1))])
    executor.execute([Decide("shelf", "old", None, False)])
    for number in range(40):
        executor.execute([ChangeArm("shelf", "a", ArmChange(weight=1.0 + number % 2 / 2))])
    assert len(executor._bandits["shelf"]._tables) == TABLES
    chosen = executor.execute([Decide("shelf", "old", None, False)])[0].body.chosen
    [told] = executor.execute([Tell("shelf", [FeedbackItem("old", {chosen[0]: 1.0})])])
    assert told.body.results[0].outcome == "applied"
    assert counted(executor.store)["rounds"] == [1]


class Waited(NamedTuple):
    waited: Annotated[Floats, Column("arm")]
    guess: Annotated[Floats, Column("arm", derived=True)]


def by_turns(scores, view, constants, memory, rng):
    for j in range(view.awake.size):
        i = view.awake[j]
        scores[j] = memory.waited[i]
        memory.waited[i] += 1.0 + 0.01 * i
        memory.guess[i] = 7.0


@dataclass(frozen=True, kw_only=True)
class ByTurns(Policy):
    """Plays the arm that has waited longest, by a count of its own."""

    name = "by turns, served"
    memory = Waited
    randomness = "none"
    score = staticmethod(by_turns)


def test_arrays_of_a_policys_own_outlive_the_server(store, clock, monkeypatch):
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    register_policy(ByTurns)
    first = lived(store, clock, {"name": "by turns, served"})
    before = first._bandits["shelf"].learner.engine.memory
    assert before.waited.any()
    second = CommandExecutor(store, now=clock)
    second.execute([Tell("shelf", [])])
    after = second._bandits["shelf"].learner.engine.memory
    assert after.waited.tolist() == before.waited.tolist()
    assert not after.guess.any(), "what can be worked out anew is not stored"
    [one] = second.execute([Decide("shelf", "next", None, False)])
    [other] = first._bandits["shelf"].learner.decide(
        first._bandits["shelf"].learner.table.everyone
    )[:1]
    assert one.body.chosen == [first._bandits["shelf"].arms[i] for i in other]
