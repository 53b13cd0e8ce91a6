"""How bandits stood is kept: by the second at first, by the hour later, and never much of it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from evenhand.service import _samples
from evenhand.service._bodies import Arm, ArmValues, BanditBody, FeedbackItem
from evenhand.service._clerk import Clerk
from evenhand.service._commands import Ask, Delete, Join, Retire, TakeSample, Tell
from evenhand.service._refusals import Refusal
from evenhand.service._samples import (
    DAY,
    HOUR,
    MOST_OLD,
    POINTS,
    STEP_SECONDS,
    Sampling,
    history_of,
)
from evenhand.service._writer import Writer
from evenhand.service.stores import open_store
from evenhand.service.stores.protocol import Sample
from tests.service.bandits import create

BODY = BanditBody([Arm("news", floor=0.3), Arm("arts", weight=2.0), Arm("sport")], plays=2)


def history(clerk, span="hour", arms=None, now=None):
    with clerk.store.view() as view:
        return history_of(view, "shelf", span, arms, clerk._now() if now is None else now)


@pytest.fixture
def clerk(clerk):
    clerk.carry_out([create("shelf", BODY)])
    return clerk


def play(clerk, number, rewards=None):
    [answer] = clerk.carry_out([Ask("shelf", str(number), ["news", "arts"], False)])
    if rewards is not None:
        clerk.carry_out([Tell("shelf", [FeedbackItem(str(number), rewards)])])
    return answer


def test_a_sample_says_how_a_bandit_stands(clerk, clock):
    for number in range(3):
        play(clerk, number, {"news": 1.0, "arts": 0.25} if number else None)
    clock.now = 1_003.9
    clerk.carry_out([TakeSample("shelf", False)])
    found = history(clerk)
    assert (found.times, found.decisions, found.told, found.expired) == ([1_003.9], [3], [4], [0])
    assert (found.pending, found.reward, found.complete) == ([2], [3.0], True)
    assert [arm.name for arm in found.arms] == ["news", "arts", "sport"]
    assert [arm.rates for arm in found.arms] == [[1.0], [1.0], [0.0]]
    assert [arm.debts for arm in found.arms] == [[0.0], [0.0], [0.0]]


def test_debts_are_kept_too(clerk, clock):
    for number in range(10):
        clerk.carry_out([Ask("shelf", str(number), ["arts", "sport"], False)])
    clerk.carry_out([TakeSample("shelf", False)])
    assert history(clerk, arms=["news"]).arms[0].debts == [3.0]


def test_the_first_sample_of_a_moment_counts(clerk, clock):
    clerk.carry_out([TakeSample("shelf", False)])
    play(clerk, 1)
    clerk.carry_out([TakeSample("shelf", False)])
    assert history(clerk).decisions == [0]


def test_arms_that_came_or_went_have_gaps(clerk, clock):
    for number, change in enumerate(
        (Join("shelf", "late", ArmValues()), Retire("shelf", "sport"), None)
    ):
        clock.now = 1_000.0 + 10 * number
        play(clerk, number)
        clerk.carry_out([TakeSample("shelf", False)])
        if change is not None:
            clerk.carry_out([change])
    found = {arm.name: arm.rates for arm in history(clerk, arms=["sport", "late", "nobody"]).arms}
    assert [rate is None for rate in found["sport"]] == [False, False, True]
    assert [rate is None for rate in found["late"]] == [True, False, False]
    assert found["nobody"] == [None] * 3


def test_a_range_begins_with_the_last_sample_before_it(clerk, clock):
    for at in (1_000, 2_000, 9_000):
        clock.now = float(at)
        clerk.carry_out([TakeSample("shelf", False)])
    assert history(clerk, now=6_000).times == [2_400, 9_000]
    assert history(clerk, now=9_500).times == [5_900, 9_000]
    assert history(clerk, "all").times == [1_000, 2_000, 9_000]


def test_months_of_samples_stay_small_and_are_coarser_the_longer_ago(clerk, clock):
    """Two samples an hour, then the last two days in full: as if every one had been taken."""
    start = 1_000_000
    end = start + 120 * DAY
    moments = [*range(start, end - 2 * DAY, HOUR // 2), *range(end - 2 * DAY, end, 60)]
    with clerk.store.transaction() as transaction:
        head = transaction.find("shelf")
        body = _samples.body_of(clerk._bandits["shelf"], 0.0)
        for at in moments:
            transaction.add_sample(head.key, Sample(at, 1, body))
    clock.now = float(end)
    clerk.carry_out([TakeSample("shelf", True)])
    with clerk.store.view() as view:
        times = [sample.at for sample in view.samples(head.key, 0)]
    young = [at for at in times if at >= end - HOUR]
    middle = [at for at in times if end - DAY <= at < end - HOUR]
    old = [at for at in times if at < end - DAY]
    assert len(young) == 61
    assert 340 <= len(middle) <= 346
    assert MOST_OLD / 2 - 1 <= len(old) <= MOST_OLD + 1
    assert times[0] - start < 8 * HOUR
    assert max(b - a for a, b in pairwise(old)) <= 2 * _samples.old_step(end - start)


def test_an_hour_day_or_year_is_about_as_much_as_fills_a_screen(clerk, clock):
    with clerk.store.transaction() as transaction:
        key = transaction.find("shelf").key
        for at in range(1_000, 1_000 + 6 * POINTS, 2):
            body = _samples.body_of(clerk._bandits["shelf"], float(at))
            transaction.add_sample(key, Sample(at, 1, body))
    found = history(clerk, "all", arms=[])
    assert POINTS / 2 < len(found.times) <= POINTS + 2
    assert (found.times[0], found.times[-1]) == (1_000, 998 + 6 * POINTS)


def test_of_very_many_arms_only_totals_are_kept(clerk, monkeypatch):
    monkeypatch.setattr(_samples, "MOST_SAMPLED", 2)
    clerk.carry_out([TakeSample("shelf", False)])
    found = history(clerk)
    assert not found.complete
    assert found.arms[0].rates == [None]
    assert found.decisions == [0]


def test_samples_go_with_their_bandit(clerk):
    clerk.carry_out([TakeSample("shelf", False)])
    clerk.carry_out([Delete("shelf")])
    clerk.carry_out([create("shelf", BODY)])
    assert history(clerk).times == []
    with pytest.raises(Refusal, match="none"), clerk.store.view() as view:
        history_of(view, "none", "hour", None, 0.0)


def names(commands):
    return [command.bandit for command in commands]


def test_samples_are_taken_of_bandits_to_which_something_has_happened(clerk, monkeypatch):
    now = [1_000.0]
    monkeypatch.setattr(_samples.time, "time", lambda: now[0])
    sampling = Sampling(clerk.store)
    assert sampling.due() == []  # what was before the server is known
    clerk.carry_out([create("new", BODY)])
    assert sampling.due() == []
    now[0] += STEP_SECONDS
    assert names(sampling.due()) == ["new"]
    assert sampling.due() == []
    now[0] += STEP_SECONDS
    assert sampling.due() == []
    play(clerk, 1)
    now[0] += STEP_SECONDS
    assert names(sampling.due()) == ["shelf"]
    sampling.missed("shelf")
    now[0] += STEP_SECONDS
    assert names(sampling.due()) == ["shelf"]


def test_older_samples_are_thinned_out_every_four_minutes(clerk, monkeypatch):
    now = [1_000.0]
    monkeypatch.setattr(_samples.time, "time", lambda: now[0])
    sampling, thinned = Sampling(clerk.store), []
    sampling.due()
    for number in range(240):
        play(clerk, number)
        now[0] += STEP_SECONDS
        [command] = sampling.due()
        thinned += [now[0]] if command.thin else []
    assert [b - a for a, b in pairwise(thinned)] == [240.0] * (len(thinned) - 1)
    assert len(thinned) == 5


def test_a_bandit_whose_sample_fails_costs_the_others_nothing(url_of, monkeypatch):
    clerk = Clerk(open_store(url_of("sqlite")))
    writer = Writer(clerk)
    body_of = _samples.body_of

    def spoilt(bandit, now):
        if bandit.key == 2:
            raise ValueError("no")
        return body_of(bandit, now)

    monkeypatch.setattr(_samples, "body_of", spoilt)
    writer._take_samples()
    clerk.carry_out([create(f"b{i}", BODY) for i in range(3)])
    writer._sampling._slot = 0
    writer._take_samples()
    with clerk.store.view() as view:
        assert [len(view.samples(key, 0)) for key in (1, 2, 3)] == [1, 0, 1]
    writer._sampling._slot = 0
    assert names(writer._sampling.due()) == ["b1"]
    clerk.store.close()


def test_an_idle_month_before_the_range_does_not_make_it_coarse(clerk, clock):
    with clerk.store.transaction() as transaction:
        key = transaction.find("shelf").key
        for at in (1_000, *range(3_000_000, 3_003_600, 4)):
            body = _samples.body_of(clerk._bandits["shelf"], float(at))
            transaction.add_sample(key, Sample(at, 1, body))
    found = history(clerk, now=3_003_600.0)
    assert len(found.times) > 600
    assert found.times[0] == 3_000_000


def test_many_bandits_are_seen_to_a_few_at_a_time(monkeypatch):
    clerk = Clerk(open_store("memory:"))
    now = [1_000.0]
    monkeypatch.setattr(_samples.time, "time", lambda: now[0])
    sampling, sizes = Sampling(clerk.store), []
    sampling.due()
    clerk.carry_out([create(f"b{i}", BODY) for i in range(40)])
    now[0] += STEP_SECONDS
    while due := sampling.due():
        sizes.append(len(due))
    assert sizes == [16, 16, 8]
