"""What becomes of feedback: told once, however often it comes."""

from __future__ import annotations

from evenhand.core.checks import brief
from evenhand.service._bodies import FeedbackItem, FeedbackResult, FeedbackResults
from evenhand.service._commands import ExpireOverdue, Tell
from evenhand.service._events import Expired, History, Made
from evenhand.service._refusals import FOLDED
from evenhand.service._work import Answer, Work

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
    bad = _refused(work, history, item)
    if bad is not None:
        return bad
    assert history is not None
    assert history.made is not None
    news = {arm: reward for arm, reward in item.rewards.items() if arm not in history.told}
    repeated = [arm for arm in item.rewards if arm in history.told]
    if not news:
        return FeedbackResult(item.decision, "duplicate", repeated=repeated)
    if history.end == "expired":
        detail = "feedback is no longer awaited"
        return FeedbackResult(item.decision, "expired", repeated=repeated, detail=detail)
    told = work.bandit.learn(history.made, news)
    work.note("feedback", item.decision, told)
    return FeedbackResult(
        item.decision,
        "applied",
        learned=list(told.counted),
        repeated=repeated,
        ignored=told.ignored,
    )


def _refused(work: Work, history: History | None, item: FeedbackItem) -> FeedbackResult | None:
    """Return the result of feedback that cannot belong to its decision, or contradicts earlier."""
    if history is None:
        detail = f"there is no decision {brief(item.decision)}"
        return FeedbackResult(item.decision, "unknown", detail=detail)
    if history.end == "cancelled":
        return FeedbackResult(item.decision, "conflict", detail="the decision was cancelled")
    if history.made is None:
        return FeedbackResult(item.decision, "expired", detail=f"the decision is gone: {FOLDED}")
    chosen = chosen_names(work, history.made)
    strange = next((arm for arm in item.rewards if arm not in chosen), None)
    if strange is not None:
        rule = f"an arm that the decision chose: {', '.join(chosen) or 'none'}"
        return invalid(item.decision, "rewards", rule, strange)
    for arm, reward in item.rewards.items():
        if history.told.get(arm, reward) != reward:
            before = history.told[arm]
            detail = f"{arm!r} was told before to have returned {before!r}, not {reward!r}"
            return FeedbackResult(item.decision, "conflict", detail=detail)
    return None


def invalid(decision: str, field: str, rule: str, value: object) -> FeedbackResult:
    """Return the result of an item that breaks a rule."""
    detail = f"{field} must be {rule}, got {brief(value)}"
    return FeedbackResult(
        decision, "invalid", detail=detail, field=field, rule=rule, value=brief(value)
    )


def chosen_names(work: Work, made: Made) -> list[str]:
    """Return the names of the arms that a decision chose."""
    return made.names(work.roster(made.edition).problem.arms)


def expire_overdue(work: Work, command: ExpireOverdue) -> Answer:
    """Await no more feedback on some decisions that are overdue; answer how many there were."""
    bandit, found = work.bandit, 0
    limit = bandit.edition.feedback.timeout_seconds
    if limit is None:
        return Answer(200, 0)
    page = work.transaction.events(bandit.key, bandit.checked, PAGE)
    young = (e.seq for e in page if e.kind == "decision" and e.at > work.now - limit)
    end = next(young, page[-1].seq + 1 if page else bandit.checked + 1)
    due = [e.decision for e in page if e.kind == "decision" and e.seq < end]
    work.look_up(due)
    for decision in due:
        history = work.history(decision)
        if history is not None and history.made is not None and history.state == "awaiting":
            expire(work, history, history.made)
            found += 1
    work.note_checked(end - 1)
    return Answer(200, found)


def expire(work: Work, history: History, made: Made) -> None:
    """Await no more feedback on a decision; the rule says what counts for what never came."""
    unheard = [arm for arm in chosen_names(work, made) if arm not in history.told]
    default = work.bandit.edition.feedback.default_reward
    work.bandit.expired += len(unheard)
    told = None
    if default is None:
        work.bandit.await_no_more(made, unheard)
    else:
        told = work.bandit.learn(made, dict.fromkeys(unheard, default))
    work.note("expired", history.id, Expired(unheard, told))
