"""What becomes of feedback: told once, however often it comes; and what is overdue."""

from __future__ import annotations

import math
import time

from evenhand.core.checks import brief
from evenhand.learner.decision import DecisionRecord, awaited
from evenhand.learner.feedback import Known, Ruling, rule_on
from evenhand.service._bodies import FeedbackItem, FeedbackResult, FeedbackResults
from evenhand.service._commands import ExpireOverdue, Tell
from evenhand.service._counters import unpacked
from evenhand.service._edition import Edition
from evenhand.service._events import Expired, History
from evenhand.service._refusals import FOLDED
from evenhand.service._work import Answer, Work
from evenhand.service.stores import Store
from evenhand.service.stores.protocol import Head, View

PAGE = 500


def tell(work: Work, command: Tell) -> Answer:
    """Learn from feedback, item by item."""
    results = [
        take_in(work, item) if isinstance(item, FeedbackItem) else item for item in command.items
    ]
    return Answer(200, FeedbackResults(results))


def take_in(work: Work, item: FeedbackItem) -> FeedbackResult:
    """Learn what is news, all of an item or nothing, and say what became of it."""
    history = work.history(item.decision)
    record = None if history is None or history.made is None else work.record(history.made)
    known = None
    if history is not None:
        chosen = () if record is None else record.chosen
        known = Known(chosen, history.told, history.end, "" if record else FOLDED)
    ruling = rule_on(item.decision, known, item.rewards)
    repeated = list(ruling.repeated)
    if ruling.outcome != "applied":
        return unused(item.decision, ruling, known)
    assert record is not None
    told = work.bandit.learn(record, ruling.news)
    work.note("feedback", item.decision, told)
    return FeedbackResult(item.decision, "applied", list(told.counted), repeated, told.ignored)


def unused(decision: str, ruling: Ruling, known: Known | None) -> FeedbackResult:
    """Return the result of feedback of which nothing is learned."""
    result = FeedbackResult(decision, ruling.outcome, repeated=list(ruling.repeated))
    result.detail = ruling.detail
    if ruling.outcome == "invalid":
        result.field, result.rule, result.value = "rewards", ruling.rule, ruling.value
    elif ruling.outcome == "expired" and known is not None:
        why = f"the decision is gone: {known.gone}" if known.gone else ""
        result.detail = why or "feedback is no longer awaited"
    return result


def invalid(decision: str, field: str, rule: str, value: object) -> FeedbackResult:
    """Return the result of an item that breaks a rule."""
    detail = f"{field} must be {rule}, got {brief(value)}"
    return FeedbackResult(
        decision, "invalid", detail=detail, field=field, rule=rule, value=brief(value)
    )


def expire_overdue(work: Work, command: ExpireOverdue) -> Answer:
    """Await no more feedback on some decisions that are overdue; answer how many there were."""
    bandit, found = work.bandit, 0
    limit = bandit.edition.feedback.timeout_seconds
    if limit is None:
        return Answer(200, 0)
    checked = int(bandit.totals.checked[0])
    page = work.transaction.events(bandit.key, checked, PAGE)
    young = (e.seq for e in page if e.kind == "decision" and e.at > work.now - limit)
    end = next(young, page[-1].seq + 1 if page else checked + 1)
    due = [e.decision for e in page if e.kind == "decision" and e.seq < end]
    work.look_up(due)
    for decision in due:
        history = work.history(decision)
        if history is not None and history.made is not None and history.state == "awaiting":
            expire(work, history, work.record(history.made))
            found += 1
    work.note_checked(end - 1)
    return Answer(200, found)


def expire(work: Work, history: History, record: DecisionRecord) -> None:
    """Await no more feedback on a decision; the rule says what counts for what never came."""
    unheard = awaited(record.chosen, history.told)
    default = work.bandit.edition.feedback.default_reward
    work.bandit.totals.expired[0] += len(unheard)
    told = None
    if default is None:
        work.bandit.await_no_more(record, unheard)
    else:
        told = work.bandit.learn(record, dict.fromkeys(unheard, default))
    work.note("expired", history.id, Expired(list(unheard), told))


class Overdue:
    """Looks for bandits whose oldest decision that has not been looked at has waited too long.

    A bandit is not looked at before its next decision can be due.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._due: dict[tuple[int, int], float] = {}

    def names(self) -> list[str]:
        """Return the names of such bandits."""
        now = time.time()
        with self._store.view() as view:
            heads = view.heads()
            known = {(head.key, head.edition) for head in heads.values()}
            self._due = {key: due for key, due in self._due.items() if key in known}
            return [name for name, head in heads.items() if self._is_due(view, head, now)]

    def _is_due(self, view: View, head: Head, now: float) -> bool:
        """Say whether the next event to be looked at, decision or not, is old enough."""
        known = (head.key, head.edition)
        if now < self._due.get(known, 0.0):
            return False
        limit = Edition.from_bytes(view.edition(*known)).feedback.timeout_seconds
        if limit is None:
            self._due[known] = math.inf
            return False
        totals = unpacked(view.counters(head.key)).totals
        following = view.events(head.key, int(totals.checked[0]), 1)
        self._due[known] = min((event.at for event in following), default=now) + limit
        return self._due[known] <= now
