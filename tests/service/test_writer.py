"""Requests that come together share a commit; too many are turned away; mistakes are contained."""

from __future__ import annotations

import asyncio
import threading

import pytest

from evenhand.service import _writer
from evenhand.service._bodies import Arm, BanditBody, FeedbackItem, FeedbackRule
from evenhand.service._clerk import Clerk
from evenhand.service._commands import Ask, Tell
from evenhand.service._refusals import Refusal
from evenhand.service._writer import Writer
from evenhand.service.stores import Full, Unavailable, open_store
from tests.service.bandits import create

BODY = BanditBody([Arm("a", floor=0.2), Arm("b")], plays=1)


def with_writer(url, test, **options):
    """Run a test in an event loop, beside a writer."""

    async def run():
        sizes = []
        clerk = Clerk(open_store(url))
        writer = Writer(clerk, watch=sizes.append, **options)
        writer.start()
        try:
            return await test(writer, clerk, sizes)
        finally:
            await writer.stop()
            clerk.store.close()

    return asyncio.run(run())


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_commands_that_come_together_share_a_commit(kind, url_of):
    async def test(writer, clerk, sizes):
        await writer.hand_in(create("shelf", BODY))
        replies = [writer.hand_in(Ask("shelf", None, None, False)) for _ in range(40)]
        answers = await asyncio.gather(*replies)
        assert sorted(answer.body.round for answer in answers) == list(range(1, 41))
        assert sum(sizes) == 41
        assert len(sizes) <= 5

    with_writer(url_of(kind), test)


def test_what_was_handed_in_is_finished_before_the_end(url_of):
    url = url_of("sqlite")

    async def test(writer, clerk, sizes):
        writer.hand_in(create("shelf", BODY))
        for i in range(300):
            writer.hand_in(Ask("shelf", str(i), None, False))

    with_writer(url, test)
    store = open_store(url)
    with store.view() as view:
        key = view.find("shelf").key
        assert len(view.events(key, 0, 1_000)) == 301
    store.close()


def test_too_many_that_wait_are_turned_away(url_of):
    async def test(writer, clerk, sizes):
        replies = [writer.hand_in(create("shelf", BODY)) for _ in range(5)]
        with pytest.raises(Refusal) as refused:
            writer.hand_in(create("shelf", BODY))
        assert (refused.value.status, refused.value.retry) == (429, 1)
        assert [answer.status for answer in await asyncio.gather(*replies)] == [
            201,
            200,
            200,
            200,
            200,
        ]
        assert (await writer.hand_in(create("shelf", BODY))).status == 200

    with_writer(url_of("sqlite"), test, waiting=5)


@pytest.mark.parametrize(("error", "status"), [(Full("no room"), 507), (Unavailable("gone"), 503)])
def test_a_store_that_fails_is_answered_for_and_comes_back(error, status, url_of, monkeypatch):
    async def test(writer, clerk, sizes):
        await writer.hand_in(create("shelf", BODY))

        def fail(*given, **more):
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(clerk.store, "transaction", fail)
            answer = await writer.hand_in(Ask("shelf", "d", None, False))
            assert (answer.status, answer.retry) == (status, 1)
            assert not writer.works
        assert (await writer.hand_in(Ask("shelf", "d", None, False))).body.round == 1
        assert writer.works

    with_writer(url_of("sqlite"), test)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_mistake_in_one_command_spoils_no_other(kind, url_of, monkeypatch, caplog):
    async def test(writer, clerk, sizes):
        await writer.hand_in(create("shelf", BODY))
        decide = type(clerk._bandits["shelf"]).decide

        def faulty(bandit, awake, explain):
            if awake == ["b"]:
                raise ZeroDivisionError
            return decide(bandit, awake, explain)

        monkeypatch.setattr(type(clerk._bandits["shelf"]), "decide", faulty)
        asked = [Ask("shelf", "x", ["a"], False), Ask("shelf", "y", ["b"], False)]
        asked.append(Ask("shelf", "z", ["a"], False))
        answers = await asyncio.gather(*map(writer.hand_in, asked))
        assert [answer.status for answer in answers] == [201, 500, 201]
        assert sorted(a.body.round for a in answers if a.status == 201) == [1, 2]

    with_writer(url_of(kind), test)
    assert "Ask command failed" in caplog.text


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_feedback_that_is_overdue_is_awaited_no_more_by_itself(kind, url_of, monkeypatch):
    monkeypatch.setattr(_writer, "TICK_SECONDS", 0.02)
    rule = FeedbackRule(0.05, 0.25)

    async def test(writer, clerk, sizes):
        await writer.hand_in(create("shelf", BanditBody([Arm("a"), Arm("b")], 2, feedback=rule)))
        await writer.hand_in(Ask("shelf", "told", None, False))
        told = {"a": 1.0, "b": 1.0}
        await writer.hand_in(Tell("shelf", [FeedbackItem("told", told)]))
        await writer.hand_in(Ask("shelf", "half", None, False))
        await writer.hand_in(Tell("shelf", [FeedbackItem("half", {"a": 0.5})]))
        await asyncio.sleep(0.5)
        late = await writer.hand_in(Tell("shelf", [FeedbackItem("half", {"b": 0.5})]))
        assert late.body.results[0].outcome == "expired"
        with clerk.store.view() as view:
            events = view.events(view.find("shelf").key, 0, 100)
        assert [e.kind for e in events].count("expired") == 1
        state = clerk._bandits["shelf"].counters
        assert state.state.reward_sums.tolist() == [1.5, 1.25]
        assert state.totals.pending.tolist() == [0, 0]

    with_writer(url_of(kind), test)


def test_two_servers_let_feedback_expire_once(url_of, monkeypatch):
    monkeypatch.setattr(_writer, "TICK_SECONDS", 0.02)
    url, rule = url_of("postgres"), FeedbackRule(0.05, 0.25)

    async def run():
        writers = [Writer(Clerk(open_store(url))) for _ in range(2)]
        for writer in writers:
            writer.start()
        await writers[0].hand_in(create("shelf", BanditBody([Arm("a")], 1, feedback=rule)))
        for i in range(50):
            await writers[i % 2].hand_in(Ask("shelf", str(i), None, False))
        await asyncio.sleep(0.6)
        with writers[0]._clerk.store.view() as view:
            events = view.events(view.find("shelf").key, 0, 1_000)
        for writer in writers:
            await writer.stop()
            writer._clerk.store.close()
        return [event.decision for event in events if event.kind == "expired"]

    assert sorted(asyncio.run(run())) == sorted(map(str, range(50)))


def test_a_disk_that_is_slow_is_waited_for_in_a_thread(url_of, monkeypatch):
    now, takes, in_loop = [0.0], [0.0], []

    async def test(writer, clerk, sizes):
        writer._commits = _writer._Commits(clock=lambda: now[0])
        begin = clerk.begin

        def watched(*given, **more):
            pending = begin(*given, **more)

            def commit():
                in_loop.append(threading.current_thread() is threading.main_thread())
                now[0] += takes[0]
                pending.commit()

            return pending._replace(commit=commit)

        monkeypatch.setattr(clerk, "begin", watched)
        await writer.hand_in(create("shelf", BODY))
        for takes[0], times in ((0.1, 3), (0.0, 60)):
            for _ in range(times):
                await writer.hand_in(Ask("shelf", None, None, False))
        assert in_loop[:4] == [True, True, False, False]
        assert in_loop[-1]

    with_writer(url_of("sqlite"), test)
