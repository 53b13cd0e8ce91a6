"""Requests that come together share a commit; too many are turned away; mistakes are contained."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from evenhand.service.engine import writer as writer_module
from evenhand.service.engine.commands import ChangeArm, Decide, Tell
from evenhand.service.engine.executor import CommandExecutor
from evenhand.service.engine.writer import Writer
from evenhand.service.problems import ProblemError
from evenhand.service.schemas import ArmBody, ArmChange, BanditBody, FeedbackItem, FeedbackRule
from evenhand.service.stores import StoreFull, StoreUnavailable, open_store
from evenhand.service.upkeep.background import Background
from tests.service.bandits import create
from tests.service.proxy import Proxy

BODY = BanditBody([ArmBody("a", floor=0.2), ArmBody("b")], plays=1)


def with_writer(url, test, **options):
    """Run a test in an event loop, beside a writer."""

    async def run():
        sizes = []
        executor = CommandExecutor(open_store(url))
        work = Background(executor).run
        writer = Writer(executor, on_commit=sizes.append, background=work, **options)
        writer.start()
        try:
            return await test(writer, executor, sizes)
        finally:
            await writer.stop()
            executor.store.close()

    return asyncio.run(run())


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_commands_that_come_together_share_a_commit(kind, url_of):
    async def test(writer, executor, sizes):
        await writer.submit(create("shelf", BODY))
        replies = [writer.submit(Decide("shelf", None, None, False)) for _ in range(40)]
        answers = await asyncio.gather(*replies)
        assert sorted(answer.body.round for answer in answers) == list(range(1, 41))
        assert sum(sizes) == 41
        assert len(sizes) <= 5

    with_writer(url_of(kind), test)


def test_what_was_handed_in_is_finished_before_the_end(url_of):
    url = url_of("sqlite")

    async def test(writer, executor, sizes):
        writer.submit(create("shelf", BODY))
        for i in range(300):
            writer.submit(Decide("shelf", str(i), None, False))

    with_writer(url, test)
    store = open_store(url)
    with store.view() as view:
        key = view.find("shelf").key
        assert len(view.events(key, 0, 1_000)) == 301
    store.close()


def test_too_many_that_wait_are_turned_away(url_of):
    async def test(writer, executor, sizes):
        replies = [writer.submit(create("shelf", BODY)) for _ in range(5)]
        with pytest.raises(ProblemError) as refused:
            writer.submit(create("shelf", BODY))
        assert (refused.value.status, refused.value.retry_after) == (429, 1)
        assert [answer.status for answer in await asyncio.gather(*replies)] == [
            201,
            200,
            200,
            200,
            200,
        ]
        assert (await writer.submit(create("shelf", BODY))).status == 200

    with_writer(url_of("sqlite"), test, waiting=5)


@pytest.mark.parametrize(
    ("error", "status"), [(StoreFull("no room"), 507), (StoreUnavailable("gone"), 503)]
)
def test_a_store_that_fails_is_answered_for_and_comes_back(error, status, url_of, monkeypatch):
    async def test(writer, executor, sizes):
        await writer.submit(create("shelf", BODY))

        def fail(*given, **more):
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(executor.store, "transaction", fail)
            answer = await writer.submit(Decide("shelf", "d", None, False))
            assert (answer.status, answer.retry_after) == (status, 1)
            assert not writer.works
        assert (await writer.submit(Decide("shelf", "d", None, False))).body.round == 1
        assert writer.works

    with_writer(url_of("sqlite"), test)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_mistake_in_one_command_spoils_no_other(kind, url_of, monkeypatch, caplog):
    async def test(writer, executor, sizes):
        await writer.submit(create("shelf", BODY))
        decide = type(executor._bandits["shelf"]).decide

        def faulty(bandit, awake, explain):
            if awake == ["b"]:
                raise ZeroDivisionError
            return decide(bandit, awake, explain)

        monkeypatch.setattr(type(executor._bandits["shelf"]), "decide", faulty)
        asked = [Decide("shelf", "x", ["a"], False), Decide("shelf", "y", ["b"], False)]
        asked.append(Decide("shelf", "z", ["a"], False))
        answers = await asyncio.gather(*map(writer.submit, asked))
        assert [answer.status for answer in answers] == [201, 500, 201]
        assert sorted(a.body.round for a in answers if a.status == 201) == [1, 2]

    with_writer(url_of(kind), test)
    assert "Decide command failed" in caplog.text


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_feedback_that_is_overdue_is_awaited_no_more_by_itself(kind, url_of, monkeypatch):
    monkeypatch.setattr(writer_module, "BACKGROUND_SECONDS", 0.02)
    rule = FeedbackRule(0.05, 0.25)

    async def test(writer, executor, sizes):
        await writer.submit(
            create("shelf", BanditBody([ArmBody("a"), ArmBody("b")], 2, feedback=rule))
        )
        await writer.submit(Decide("shelf", "told", None, False))
        told = {"a": 1.0, "b": 1.0}
        await writer.submit(Tell("shelf", [FeedbackItem("told", told)]))
        await writer.submit(Decide("shelf", "half", None, False))
        await writer.submit(Tell("shelf", [FeedbackItem("half", {"a": 0.5})]))
        await asyncio.sleep(0.5)
        late = await writer.submit(Tell("shelf", [FeedbackItem("half", {"b": 0.5})]))
        assert late.body.results[0].outcome == "expired"
        with executor.store.view() as view:
            events = view.events(view.find("shelf").key, 0, 100)
        assert [e.kind for e in events].count("expired") == 1
        state = executor._bandits["shelf"].counters
        assert state.state.reward_sums.tolist() == [1.5, 1.25]
        assert state.totals.pending.tolist() == [0, 0]

    with_writer(url_of(kind), test)


def test_two_servers_let_feedback_expire_once(url_of, monkeypatch):
    monkeypatch.setattr(writer_module, "BACKGROUND_SECONDS", 0.02)
    url, rule = url_of("postgres"), FeedbackRule(0.05, 0.25)

    async def run():
        executors = [CommandExecutor(open_store(url)) for _ in range(2)]
        writers = [Writer(one, background=Background(one).run) for one in executors]
        for writer in writers:
            writer.start()
        await writers[0].submit(create("shelf", BanditBody([ArmBody("a")], 1, feedback=rule)))
        for i in range(50):
            await writers[i % 2].submit(Decide("shelf", str(i), None, False))
        await asyncio.sleep(0.6)
        with writers[0]._executor.store.view() as view:
            events = view.events(view.find("shelf").key, 0, 1_000)
        for writer in writers:
            await writer.stop()
            writer._executor.store.close()
        return [event.decision for event in events if event.kind == "expired"]

    assert sorted(asyncio.run(run())) == sorted(map(str, range(50)))


def test_a_disk_that_is_slow_is_waited_for_in_a_thread(url_of, monkeypatch):
    now, takes, in_loop = [0.0], [0.0], []

    async def test(writer, executor, sizes):
        writer._commits = writer_module._CommitTimer(clock=lambda: now[0])
        begin = executor.begin

        def watched(*given, **more):
            pending = begin(*given, **more)

            def commit():
                in_loop.append(threading.current_thread() is threading.main_thread())
                now[0] += takes[0]
                pending.commit()

            return pending._replace(commit=commit)

        monkeypatch.setattr(executor, "begin", watched)
        await writer.submit(create("shelf", BODY))
        for takes[0], times in ((0.1, 3), (0.0, 60)):
            for _ in range(times):
                await writer.submit(Decide("shelf", None, None, False))
        assert in_loop[:4] == [True, True, False, False]
        assert in_loop[-1]

    with_writer(url_of("sqlite"), test)


def test_a_database_that_does_not_answer_is_given_up_after_a_deadline(url_of, monkeypatch):
    monkeypatch.setattr(writer_module, "DEADLINE_SECONDS", 0.5)
    monkeypatch.setattr(writer_module, "STUCK_SECONDS", 0.2)
    proxy = Proxy(url_of("postgres"))

    async def test(writer, executor, sizes):
        await writer.submit(create("shelf", BODY))
        await writer.submit(Decide("shelf", "before", None, False))
        proxy.stall()
        asked = writer.submit(Decide("shelf", "d", None, False))
        await asyncio.sleep(0.3)
        assert not writer.works
        answer = await asyncio.wait_for(asked, 2.0)
        assert (answer.status, answer.retry_after) == (503, 1)
        assert "did not answer" in str(answer)
        proxy.flow()
        for _ in range(20):
            answer = await writer.submit(Decide("shelf", "d", None, False))
            if answer.status != 503:
                break
            await asyncio.sleep(0.1)
        assert answer.body.round == 2
        assert writer.works

    with_writer(proxy.url, test)
    proxy.close()


def test_work_that_is_given_up_takes_no_later_request_with_it(url_of, monkeypatch):
    monkeypatch.setattr(writer_module, "DEADLINE_SECONDS", 0.2)

    async def test(writer, executor, sizes):
        await writer.submit(create("shelf", BODY))
        begin, stalls = executor.begin, [0.8]

        def slow(*given, **more):
            pending = begin(*given, **more)

            def commit():
                if stalls:
                    time.sleep(stalls.pop())
                pending.commit()

            return pending._replace(commit=commit)

        monkeypatch.setattr(executor, "begin", slow)
        monkeypatch.setattr(type(executor), "is_quick", lambda *given: False)
        asked = []
        for _ in range(60):
            asked.append(writer.submit(Decide("shelf", None, None, False)))
            await asyncio.sleep(0.02)
        answers = await asyncio.wait_for(asyncio.gather(*asked), 5.0)
        assert {answer.status for answer in answers} == {201, 503}
        assert answers[-1].status == 201

    with_writer(url_of("sqlite"), test)


def test_a_bandit_that_another_server_keeps_locked_holds_up_no_other(url_of, monkeypatch):
    import psycopg

    monkeypatch.setattr(writer_module, "LOCKED_SECONDS", 1.0)
    url = url_of("postgres")

    async def test(writer, executor, sizes):
        await asyncio.gather(*(writer.submit(create(name, BODY)) for name in ("one", "two")))
        with psycopg.connect(url) as stopped:
            stopped.execute("SET search_path TO evenhand")
            stopped.execute(
                "SELECT 1 FROM counters c JOIN bandits b ON c.bandit = b.key "
                "WHERE b.name = 'one' FOR UPDATE OF c"
            )
            waiting = [writer.submit(Decide("one", f"w-{i}", None, False)) for i in range(3)]
            waits = []
            for i in range(8):
                start = time.monotonic()
                answer = await writer.submit(Decide("two", str(i), None, False))
                waits.append(time.monotonic() - start)
                assert answer.status == 201
            assert max(waits) < 0.6
            refused = await asyncio.gather(*waiting)
            assert [answer.status for answer in refused] == [503] * 3
            assert "another server is writing to bandit 'one'" in str(refused[0])
            assert writer.works
            patient = writer.submit(Decide("one", "patient", None, False))
            await asyncio.sleep(0.3)
        assert (await patient).status == 201

    with_writer(url, test)


def test_slow_commands_run_in_a_thread(url_of, monkeypatch):
    in_loop = []
    many = BanditBody([ArmBody(str(i)) for i in range(2_000)], plays=1)

    async def test(writer, executor, sizes):
        begin = executor.begin

        def watched(*given, **more):
            in_loop.append(threading.current_thread() is threading.main_thread())
            return begin(*given, **more)

        monkeypatch.setattr(executor, "begin", watched)
        await writer.submit(create("shelf", BODY))
        await writer.submit(create("many", many))
        await writer.submit(Decide("shelf", "a", None, False))
        await asyncio.gather(
            *(writer.submit(Decide("many", f"m-{i}", None, False)) for i in range(20))
        )
        await writer.submit(ChangeArm("many", "7", ArmChange(floor=0.1)))
        item = FeedbackItem("m-0", {str(i): 1.0 for i in range(2_000)})
        await writer.submit(Tell("many", [item]))
        await writer.submit(Decide("shelf", "b", None, False))

    with_writer(url_of("sqlite"), test)
    assert in_loop == [True, False, True, False, False, False, True]
