"""The clients: they ask once, tell once, and wait while the service is away."""

from __future__ import annotations

import asyncio
import threading
import time

import numpy as np
import pytest

from evenhand import AsyncClient, Client, Decision, InputError, ServiceError
from evenhand.client._calls import FeedbackBuffer, Retries
from evenhand.client._delivery import Delivery

ARMS = [{"name": "news", "floor": 0.3}, "arts", "sport"]


@pytest.fixture
def server(servers):
    return servers()


@pytest.fixture
def name(request):
    """A bandit of the test's own."""
    return request.node.name.replace("[", "-").replace("]", "")[:90]


def test_ask_and_tell(server, name):
    with Client(server.url) as client:
        client.create(name, ARMS, plays=2)
        client.create(name, ARMS, plays=2)
        assert name in client.bandits()
        choices = [client.ask(name) for _ in range(20)]
        for choice in choices:
            client.tell(name, choice, dict.fromkeys(choice.chosen, 1.0))
        client.flush(10)
        state = client.state(name)
        assert (state["rounds"], client.outcomes["applied"]) == (20, 20)
        assert sum(arm["feedbacks"] for arm in state["arms"]) == 40
        explained = client.ask(name, ["news", "arts", "sport"], explain=True)
        assert {reason.arm for reason in explained.reasons} == {"news", "arts", "sport"}
        client.cancel(name, explained)
        client.cancel(name, explained)
        assert client.ask(name, id="mine") == client.ask(name, id="mine")
        result = client.tell_now(name, "mine", {client.ask(name, id="mine").chosen[0]: 0.5})
        assert result["outcome"] == "applied"
        lines = client.call("GET", f"/v1/bandits/{name}/log?limit=2")
        assert [line["cursor"] for line in lines] == [1, 2]
        assert client.call("PATCH", f"/v1/bandits/{name}", {"plays": 1})["plays"] == 1


def test_the_same_from_an_event_loop(server, name):
    async def run():
        async with AsyncClient(server.url) as client:
            await client.create(
                name, ARMS, plays=2, policy="tscsf-b", feedback={"timeout_seconds": 60}
            )
            choices = await asyncio.gather(*(client.ask(name) for _ in range(20)))
            for choice in choices:
                await client.tell(name, choice, dict.fromkeys(choice.chosen, 1.0))
            await client.flush(10)
            assert client.outcomes["applied"] == 20
            assert sorted(choice.round for choice in choices) == list(range(1, 21))
            explained = await client.ask(name, explain=True)
            assert len(explained.reasons) == 3
            await client.cancel(name, explained)
            told = await client.tell_now(name, choices[0], {choices[0].chosen[0]: 1.0})
            assert told["outcome"] == "duplicate"
            assert name in await client.bandits()
            assert (await client.call("GET", f"/v1/bandits/{name}"))["policy"]["name"] == "tscsf-b"
            return await client.state(name)

    assert asyncio.run(run())["rounds"] == 20


def test_a_retry_never_plays_twice(server, name, breaking):
    proxy = breaking(server.port, [False, True, True, False, True, False, True, True, True])
    with Client(proxy.url) as client:
        client.create(name, ARMS, plays=1)
        choices = [client.ask(name) for _ in range(5)]
        for choice in choices:
            assert client.tell_now(name, choice, {choice.chosen[0]: 1.0})["outcome"] in (
                "applied", "duplicate",
            )  # fmt: skip
        state = client.state(name)
    assert proxy.lost == 6
    assert state["rounds"] == len({choice.round for choice in choices}) == 5
    assert sum(arm["feedbacks"] for arm in state["arms"]) == 5


def test_a_deletion_whose_answer_was_lost_has_happened(server, name, breaking):
    proxy = breaking(server.port, [False, True])
    with Client(proxy.url) as client:
        client.create(name, ARMS, plays=1)
        client.call("DELETE", f"/v1/bandits/{name}")
        with pytest.raises(ServiceError) as gone:
            client.call("DELETE", f"/v1/bandits/{name}")
    assert gone.value.status == 404


def test_feedback_survives_a_restart_of_the_server(servers, name):
    server = servers()
    with Client(server.url, patience=20) as client:
        client.create(name, ARMS, plays=1)
        choices = [client.ask(name) for _ in range(50)]
        server.kill()
        for choice in choices:
            client.tell(name, choice, {choice.chosen[0]: 0.5})
        with pytest.raises(ServiceError, match="50 items of feedback have not been delivered"):
            client.flush(0.3)
        asked = []
        waiting = threading.Thread(target=lambda: asked.append(client.ask(name)))
        waiting.start()
        servers(port=server.port)
        client.flush(20)
        waiting.join()
        assert client.outcomes == {"applied": 50}
        assert asked[0].round == 51
        assert sum(arm["feedbacks"] for arm in client.state(name)["arms"]) == 50


def test_feedback_survives_a_restart_for_an_event_loop(servers, name):
    async def run():
        server = servers()
        async with AsyncClient(server.url, patience=20) as client:
            await client.create(name, ARMS, plays=1)
            choices = [await client.ask(name) for _ in range(20)]
            server.kill()
            for choice in choices:
                await client.tell(name, choice, {choice.chosen[0]: 0.5})
            with pytest.raises(ServiceError, match="20 items"):
                await client.flush(0.3)
            await asyncio.to_thread(servers, port=server.port)
            await client.flush(20)
            return client.outcomes

    assert asyncio.run(run()) == {"applied": 20}


def test_a_full_buffer_holds_up_and_then_complains():
    client = Client("http://127.0.0.1:1", patience=0.3, buffer=3)
    for number in range(3):
        client.tell("shelf", str(number), {"a": 1.0})
    with pytest.raises(ServiceError, match="buffer is full"):
        client.tell("shelf", "4", {"a": 1.0})
    client.close()
    with pytest.raises(ServiceError, match="closed"):
        client.tell("shelf", "5", {"a": 1.0})


def test_what_the_service_cannot_use_is_kept_for_a_look(server, name, caplog):
    with Client(server.url) as client:
        client.create(name, ARMS, plays=1)
        client.tell(name, "never", {"news": 1.0})
        client.tell("no-such-bandit", "never", {"news": 1.0})
        choice = client.ask(name)
        client.tell(name, choice, {choice.chosen[0]: 7.0})
        client.tell(name, choice, {choice.chosen[0]: 1.0})
        client.flush(10)
        assert client.outcomes == {"unknown": 1, "refused": 1, "invalid": 1, "applied": 1}
        assert len(client.refused) == 3
    assert "feedback was not used" in caplog.text


def test_refusals_are_errors_that_say_why(server, name):
    with Client(server.url) as client:
        client.create(name, ARMS, plays=1)
        with pytest.raises(ServiceError, match="another body") as refused:
            client.create(name, ARMS, plays=2)
        assert refused.value.status == 409
        assert refused.value.problem["type"] == "/docs#conflict"
        assert not refused.value.passing
        with pytest.raises(ServiceError, match="unknown awake arm"):
            client.ask(name, ["nobody"])


def test_a_service_that_is_away_for_too_long_is_an_error():
    client = Client("http://127.0.0.1:1", patience=0.2)
    start = time.monotonic()
    with pytest.raises(ServiceError, match="cannot be reached") as away:
        client.ask("shelf")
    assert away.value.passing
    assert time.monotonic() - start < 5
    client.close()


def test_a_key_is_sent(servers, name, database, tmp_path):
    from evenhand.service.keys import new_key, store_key
    from evenhand.service.stores import open_store
    from tests.service.servers import Server

    own = f"sqlite:///{tmp_path}/keys.db"
    store = open_store(own)
    secret, key = new_key("test", ["admin"])
    store_key(store, key)
    store.close()
    server = Server("--database", own)
    with Client(server.url, key=secret) as client:
        client.create(name, ARMS, plays=1)
        assert client.bandits() == [name]
    with Client(server.url) as client, pytest.raises(ServiceError) as refused:
        client.bandits()
    assert refused.value.status == 401
    server.kill()


def test_pauses_grow_are_not_all_alike_and_follow_the_server():
    attempts = Retries(patience=1_000)
    pauses = [attempts.after_failure(OSError()) for _ in range(8)]
    assert 0.05 <= pauses[0] <= 0.075
    assert 2.0 <= pauses[-1] <= 3.0
    assert attempts.after_answer(503, {"retry-after": "7"}) >= 7.0
    assert attempts.after_answer(200, {}) is None
    assert Retries(patience=0.0).after_answer(503, {"retry-after": "7"}) is None


def test_feedback_that_is_too_large_is_sent_in_parts():
    delivery = Delivery(100)
    for number in range(8):
        delivery.buffer.add("shelf", str(number), {"a": 1.0})
    _, items = delivery.next_call()
    assert delivery.settled(items, None, ServiceError("too large", 413))
    assert len(delivery.next_call()[1]) == 4
    assert len(delivery.buffer) == 8


def test_the_buffer_keeps_bandits_apart_and_order():
    buffer = FeedbackBuffer(10)
    for bandit, id_ in (("x", "1"), ("y", "2"), ("x", "3")):
        buffer.add(bandit, Decision(id_, 1, ("a",)), {"a": 1.0})
    bandit, items = buffer.first(10)
    assert (bandit, [item["decision"] for item in items]) == ("x", ["1", "3"])
    buffer.remove(items)
    assert buffer.first(10)[0] == "y"


def test_rewards_that_are_no_numbers_are_refused_before_they_wait(server, name):
    with Client(server.url) as client:
        client.create(name, ARMS, plays=1)
        choice = client.ask(name)
        for wrong in ("much", float("nan"), None, [1]):
            with pytest.raises(InputError, match="reward of arm"):
                client.tell(name, choice, {choice.chosen[0]: wrong})
        with pytest.raises(InputError, match="a Decision of the service, or its id"):
            client.tell(name, 7, {"a": 1.0})
        client.tell(name, choice, {choice.chosen[0]: np.float32(0.5)})
        client.flush(10)
        assert client.outcomes == {"applied": 1}


def test_no_name_leads_to_another_address(server, name):
    with Client(server.url) as client:
        client.create(name, ARMS, plays=1)
        for dots in (".", ".."):
            with pytest.raises(InputError, match="no step of it"):
                client.cancel(name, dots)
        assert name in client.bandits()
        with pytest.raises(ServiceError):
            client.call("GET", "/v1/bandits/")


def test_the_sender_outlives_what_it_cannot_deliver():
    delivery = Delivery(10)
    delivery.buffer.add("shelf", "1", {"a": 1.0})
    _, items = delivery.next_call()
    assert not delivery.settled(items, None, ServiceError("away"))
    assert not delivery.settled(items, None, ServiceError("no key", 401))
    assert len(delivery.buffer) == 1
    assert delivery.settled(items, "<html>", None)
    assert (len(delivery.buffer), delivery.outcomes) == (0, {"refused": 1})
    delivery.buffer.add("shelf", "2", {"a": 1.0})
    assert delivery.settled(delivery.next_call()[1], None, TypeError("what?"))
    assert len(delivery.refused) == 2


def filled(count):
    delivery = Delivery(100)
    for number in range(count):
        delivery.buffer.add("shelf", str(number), {"a": 1.0})
    return delivery


@pytest.mark.parametrize("status", [400, 422, 500])
def test_an_item_that_spoils_a_batch_is_separated_from_the_others(status):
    delivery, sent = filled(8), []
    for _ in range(40):
        if not len(delivery.buffer):
            break
        _, items = delivery.next_call()
        if any(item["decision"] == "5" for item in items):
            delivery.settled(items, None, ServiceError("no", status))
        else:
            sent += [item["decision"] for item in items]
            results = [{"outcome": "applied"} for _ in items]
            delivery.settled(items, {"results": results}, None)
    assert sorted(sent) == ["0", "1", "2", "3", "4", "6", "7"]
    left = [item["decision"] for item in delivery.buffer.items]
    assert left == (["5"] if status == 500 else [])
    assert len(delivery.refused) == (0 if status == 500 else 1)


@pytest.mark.parametrize("error", [UnicodeEncodeError("utf-8", "x", 0, 1, "no"), None])
def test_an_item_that_cannot_be_sent_is_separated_from_the_others(error):
    delivery, sent = filled(8), []
    for _ in range(40):
        if not len(delivery.buffer):
            break
        _, items = delivery.next_call()
        if any(item["decision"] == "5" for item in items):
            delivery.settled(items, None, error or ServiceError("late", 408))
            if error is None:
                break
        else:
            sent += [item["decision"] for item in items]
            delivery.settled(items, {"results": [{"outcome": "applied"} for _ in items]}, None)
    if error is None:
        assert len(delivery.buffer) == 8
        return
    assert sorted(sent) == ["0", "1", "2", "3", "4", "6", "7"]
    assert [one["decision"] for one in delivery.refused] == ["5"]


def test_feedback_is_kept_while_the_server_has_errors():
    delivery = filled(1)
    _, items = delivery.next_call()
    for _ in range(3):
        assert not delivery.settled(items, None, ServiceError("mistake", 500))
    assert delivery.buffer.items == [{"bandit": "shelf", "decision": "0", "rewards": {"a": 1.0}}]


def test_what_was_not_delivered_can_be_read():
    client = Client("http://127.0.0.1:1", patience=0.1)
    client.tell("shelf", "d", {"a": 1.0})
    client.close()
    assert client.undelivered == [{"bandit": "shelf", "decision": "d", "rewards": {"a": 1.0}}]
