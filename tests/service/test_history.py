"""The history of a bandit: fine at first, coarser later, and always small."""

from __future__ import annotations

from itertools import pairwise

import pytest

from evenhand.service.engine import history as engine_history
from evenhand.service.engine.commands import (
    Decide,
    DeleteBandit,
    JoinArm,
    RecordHistory,
    RetireArm,
    Tell,
)
from evenhand.service.engine.executor import CommandExecutor
from evenhand.service.engine.history import DAY, HOUR, MOST_OLD, STEP_SECONDS, old_step, point_body
from evenhand.service.problems import ProblemError
from evenhand.service.schemas import ArmBody, ArmValues, BanditBody, FeedbackItem
from evenhand.service.stores import open_store
from evenhand.service.stores.protocol import HistoryPoint
from evenhand.service.upkeep import background
from evenhand.service.upkeep.background import HistorySchedule
from evenhand.service.views.history import POINTS, history_of
from tests.service.bandits import create

BODY = BanditBody(
    [ArmBody("news", floor=0.3), ArmBody("arts", weight=2.0), ArmBody("sport")], plays=2
)


def history(executor, span="hour", arms=None, now=None):
    with executor.store.view() as view:
        return history_of(view, "shelf", span, arms, executor._now() if now is None else now)


@pytest.fixture
def executor(executor):
    executor.execute([create("shelf", BODY)])
    return executor


def play(executor, number, rewards=None):
    [answer] = executor.execute([Decide("shelf", str(number), ["news", "arts"], False)])
    if rewards is not None:
        executor.execute([Tell("shelf", [FeedbackItem(str(number), rewards)])])
    return answer


def test_a_point_has_the_state_of_a_bandit(executor, clock):
    for number in range(3):
        play(executor, number, {"news": 1.0, "arts": 0.25} if number else None)
    clock.now = 1_003.9
    executor.execute([RecordHistory("shelf", False)])
    found = history(executor)
    assert (found.times, found.decisions, found.told, found.expired) == ([1_003.9], [3], [4], [0])
    assert (found.pending, found.reward, found.complete) == ([2], [3.0], True)
    assert [arm.name for arm in found.arms] == ["news", "arts", "sport"]
    assert [arm.rates for arm in found.arms] == [[1.0], [1.0], [0.0]]
    assert [arm.debts for arm in found.arms] == [[0.0], [0.0], [0.0]]


def test_debts_are_kept_too(executor, clock):
    for number in range(10):
        executor.execute([Decide("shelf", str(number), ["arts", "sport"], False)])
    executor.execute([RecordHistory("shelf", False)])
    assert history(executor, arms=["news"]).arms[0].debts == [3.0]


def test_the_first_sample_of_a_moment_counts(executor, clock):
    executor.execute([RecordHistory("shelf", False)])
    play(executor, 1)
    executor.execute([RecordHistory("shelf", False)])
    assert history(executor).decisions == [0]


def test_arms_that_came_or_went_have_gaps(executor, clock):
    for number, change in enumerate(
        (JoinArm("shelf", "late", ArmValues()), RetireArm("shelf", "sport"), None)
    ):
        clock.now = 1_000.0 + 10 * number
        play(executor, number)
        executor.execute([RecordHistory("shelf", False)])
        if change is not None:
            executor.execute([change])
    found = {
        arm.name: arm.rates for arm in history(executor, arms=["sport", "late", "nobody"]).arms
    }
    assert [rate is None for rate in found["sport"]] == [False, False, True]
    assert [rate is None for rate in found["late"]] == [True, False, False]
    assert found["nobody"] == [None] * 3


def test_a_range_begins_with_the_last_sample_before_it(executor, clock):
    for at in (1_000, 2_000, 9_000):
        clock.now = float(at)
        executor.execute([RecordHistory("shelf", False)])
    assert history(executor, now=6_000).times == [2_400, 9_000]
    assert history(executor, now=9_500).times == [5_900, 9_000]
    assert history(executor, "all").times == [1_000, 2_000, 9_000]


def test_months_of_history_stay_small_and_are_coarser_the_longer_ago(executor, clock):
    """Two samples an hour, then the last two days in full: as if every one had been taken."""
    start = 1_000_000
    end = start + 120 * DAY
    moments = [*range(start, end - 2 * DAY, HOUR // 2), *range(end - 2 * DAY, end, 60)]
    with executor.store.transaction() as transaction:
        head = transaction.find("shelf")
        body = point_body(executor._bandits["shelf"], 0.0)
        for at in moments:
            transaction.add_history(head.key, HistoryPoint(at, 1, body))
    clock.now = float(end)
    executor.execute([RecordHistory("shelf", True)])
    with executor.store.view() as view:
        times = [sample.at for sample in view.history(head.key, 0)]
    young = [at for at in times if at >= end - HOUR]
    middle = [at for at in times if end - DAY <= at < end - HOUR]
    old = [at for at in times if at < end - DAY]
    assert len(young) == 61
    assert 340 <= len(middle) <= 346
    assert MOST_OLD / 2 - 1 <= len(old) <= MOST_OLD + 1
    assert times[0] - start < 8 * HOUR
    assert max(b - a for a, b in pairwise(old)) <= 2 * old_step(end - start)


def test_an_hour_day_or_year_is_about_as_much_as_fills_a_screen(executor, clock):
    with executor.store.transaction() as transaction:
        key = transaction.find("shelf").key
        for at in range(1_000, 1_000 + 6 * POINTS, 2):
            body = point_body(executor._bandits["shelf"], float(at))
            transaction.add_history(key, HistoryPoint(at, 1, body))
    found = history(executor, "all", arms=[])
    assert POINTS / 2 < len(found.times) <= POINTS + 2
    assert (found.times[0], found.times[-1]) == (1_000, 998 + 6 * POINTS)


def test_of_very_many_arms_only_totals_are_kept(executor, monkeypatch):
    monkeypatch.setattr(engine_history, "MOST_RECORDED", 2)
    executor.execute([RecordHistory("shelf", False)])
    found = history(executor)
    assert not found.complete
    assert found.arms[0].rates == [None]
    assert found.decisions == [0]


def test_the_history_is_deleted_with_its_bandit(executor):
    executor.execute([RecordHistory("shelf", False)])
    executor.execute([DeleteBandit("shelf")])
    executor.execute([create("shelf", BODY)])
    assert history(executor).times == []
    with pytest.raises(ProblemError, match="none"), executor.store.view() as view:
        history_of(view, "none", "hour", None, 0.0)


def names(commands):
    return [command.bandit for command in commands]


def test_points_are_recorded_of_bandits_that_have_changed(executor, monkeypatch):
    now = [1_000.0]
    monkeypatch.setattr(executor.store, "now", lambda: now[0])
    schedule = HistorySchedule(executor.store)
    assert schedule.due() == []  # what was before the server is known
    executor.execute([create("new", BODY)])
    assert schedule.due() == []
    now[0] += STEP_SECONDS
    assert names(schedule.due()) == ["new"]
    assert schedule.due() == []
    now[0] += STEP_SECONDS
    assert schedule.due() == []
    play(executor, 1)
    now[0] += STEP_SECONDS
    assert names(schedule.due()) == ["shelf"]
    schedule.missed("shelf")
    now[0] += STEP_SECONDS
    assert names(schedule.due()) == ["shelf"]


def test_older_points_are_thinned_every_four_minutes(executor, monkeypatch):
    now = [1_000.0]
    monkeypatch.setattr(executor.store, "now", lambda: now[0])
    schedule, thinned = HistorySchedule(executor.store), []
    schedule.due()
    for number in range(240):
        play(executor, number)
        now[0] += STEP_SECONDS
        [command] = schedule.due()
        thinned += [now[0]] if command.thin else []
    assert [b - a for a, b in pairwise(thinned)] == [240.0] * (len(thinned) - 1)
    assert len(thinned) == 5


def test_a_point_that_fails_does_not_affect_other_bandits(url_of, monkeypatch):
    executor = CommandExecutor(open_store(url_of("sqlite")))
    work = background.Background(executor)

    def spoilt(bandit, now):
        if bandit.key == 2:
            raise ValueError("no")
        return point_body(bandit, now)

    monkeypatch.setattr(engine_history, "point_body", spoilt)
    work.run(works=True)
    executor.execute([create(f"b{i}", BODY) for i in range(3)])
    work._history._slot = 0
    work.run(works=True)
    with executor.store.view() as view:
        assert [len(view.history(key, 0)) for key in (1, 2, 3)] == [1, 0, 1]
    work._history._slot = 0
    assert names(work._history.due()) == ["b1"]
    executor.store.close()


def test_an_idle_month_before_the_range_does_not_make_it_coarse(executor, clock):
    with executor.store.transaction() as transaction:
        key = transaction.find("shelf").key
        for at in (1_000, *range(3_000_000, 3_003_600, 4)):
            body = point_body(executor._bandits["shelf"], float(at))
            transaction.add_history(key, HistoryPoint(at, 1, body))
    found = history(executor, now=3_003_600.0)
    assert len(found.times) > 600
    assert found.times[0] == 3_000_000


def test_many_bandits_are_recorded_a_few_at_a_time(monkeypatch):
    executor = CommandExecutor(open_store("memory:"))
    now = [1_000.0]
    monkeypatch.setattr(executor.store, "now", lambda: now[0])
    schedule, sizes = HistorySchedule(executor.store), []
    schedule.due()
    executor.execute([create(f"b{i}", BODY) for i in range(40)])
    now[0] += STEP_SECONDS
    while due := schedule.due():
        sizes.append(len(due))
    assert sizes == [16, 16, 8]
