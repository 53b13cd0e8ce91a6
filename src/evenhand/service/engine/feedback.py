"""Commands about feedback: learn from it once, and expire decisions that wait too long."""

from __future__ import annotations

from evenhand.learner.decision import DecisionRecord, awaited
from evenhand.learner.feedback import Known, Ruling, rule_on
from evenhand.service.engine.commands import ExpireOverdue, Tell
from evenhand.service.engine.events import DecisionHistory, ExpiryEvent, times_of
from evenhand.service.engine.unit_of_work import CommandResult, UnitOfWork, handles
from evenhand.service.problems import COMPACTED
from evenhand.service.schemas import FeedbackItem, FeedbackResult, FeedbackResults

PAGE = 500
MOST_BYTES = 4_000_000


@handles(Tell)
def tell(unit: UnitOfWork, command: Tell) -> CommandResult:
    """Learn from feedback, item by item."""
    results = [
        learn(unit, item) if isinstance(item, FeedbackItem) else item for item in command.items
    ]
    return CommandResult(200, FeedbackResults(results))


def learn(unit: UnitOfWork, item: FeedbackItem) -> FeedbackResult:
    """Learn the new rewards of an item, all or none, and return what was done."""
    history = unit.history(item.decision)
    record = None if history is None or history.made is None else unit.record(history.made)
    known = None
    if history is not None:
        chosen = () if record is None else record.chosen
        known = Known(chosen, history.told, history.end, "" if record else COMPACTED)
    ruling = rule_on(item.decision, known, item.rewards)
    repeated = list(ruling.repeated)
    if ruling.outcome != "applied":
        return not_learned(item.decision, ruling, known)
    assert record is not None
    told = unit.bandit.learn(record, ruling.news)
    unit.add_event("feedback", item.decision, told)
    return FeedbackResult(item.decision, "applied", list(told.counted), repeated, told.ignored)


def not_learned(decision: str, ruling: Ruling, known: Known | None) -> FeedbackResult:
    """Return the result of feedback from which nothing is learned."""
    result = FeedbackResult(decision, ruling.outcome, repeated=list(ruling.repeated))
    result.detail = ruling.detail
    if ruling.outcome == "invalid":
        result.field, result.rule, result.value = "rewards", ruling.rule, ruling.value
    elif ruling.outcome == "expired" and known is not None:
        why = f"the decision is gone: {known.gone}" if known.gone else ""
        result.detail = why or "feedback is no longer awaited"
    return result


@handles(ExpireOverdue)
def expire_overdue(unit: UnitOfWork, command: ExpireOverdue) -> CommandResult:
    """Expire the next overdue decisions, in the order of the log; return how many."""
    bandit, found = unit.bandit, 0
    limit = bandit.config.feedback.timeout_seconds
    if limit is None:
        return CommandResult(200, 0)
    checked = int(bandit.totals.checked[0])
    page = unit.transaction.events(bandit.key, checked, PAGE, MOST_BYTES)
    times = times_of(page, unit.now)
    young = (
        event.seq
        for event, at in zip(page, times, strict=True)
        if event.kind == "decision"
        and (command.seen if event.seq == command.seq else at) > unit.now - limit
    )
    end = next(young, page[-1].seq + 1 if page else checked + 1)
    due = [e.decision for e in page if e.kind == "decision" and e.seq < end]
    unit.load_histories(due)
    for decision in due:
        history = unit.history(decision)
        if history is not None and history.made is not None and history.state == "awaiting":
            expire(unit, history, unit.record(history.made))
            found += 1
    unit.set_checked(end - 1)
    return CommandResult(200, found)


def expire(unit: UnitOfWork, history: DecisionHistory, record: DecisionRecord) -> None:
    """Stop waiting for feedback on a decision; learn the default reward, if there is one."""
    unheard = awaited(record.chosen, history.told)
    default = unit.bandit.config.feedback.default_reward
    unit.bandit.totals.expired[0] += len(unheard)
    told = None
    if default is None:
        unit.bandit.stop_waiting(record, unheard)
    else:
        told = unit.bandit.learn(record, dict.fromkeys(unheard, default))
    unit.add_event("expired", history.id, ExpiryEvent(list(unheard), told))
