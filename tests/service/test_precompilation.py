"""Decisions become machine code by themselves, and nobody waits for it."""

from __future__ import annotations

import time

from evenhand.service.engine.commands import Decide
from evenhand.service.engine.config_version import first_config
from evenhand.service.engine.executor import CommandExecutor
from evenhand.service.schemas import ArmBody, BanditBody
from evenhand.service.stores import open_store
from evenhand.service.upkeep.precompilation import Precompiler
from tests.service.bandits import create

TEN = BanditBody([ArmBody(str(i), floor=0.05) for i in range(10)], 2, {"name": "tscsf-b"})


def test_a_bandit_is_compiled_beside_the_service():
    precompiler, asked = Precompiler(), 0
    executor = CommandExecutor(open_store("memory:"), precompiler.decides)
    start = time.monotonic()
    executor.execute([create("shelf", TEN)])
    executor.execute([Decide("shelf", None, None, False)])
    assert not executor._bandits["shelf"].compiled
    assert time.monotonic() - start < 1.0
    while not executor._bandits["shelf"].compiled and time.monotonic() - start < 120:
        [answer] = executor.execute([Decide("shelf", None, None, False)])
        asked = answer.body.round
        time.sleep(0.05)
    assert executor._bandits["shelf"].compiled
    [answer] = executor.execute([Decide("shelf", None, None, False)])
    assert answer.body.round == asked + 1
    precompiler.stop()


def test_few_arms_are_not_worth_a_compiler():
    precompiler = Precompiler()
    few = BanditBody([ArmBody(str(i)) for i in range(9)], 2)
    assert precompiler.decides(first_config(few)) == "interpreted"
    assert precompiler._known == {}


def test_a_compiler_is_stopped_with_the_service():
    precompiler = Precompiler()
    precompiler.decides(first_config(TEN))
    end = time.monotonic() + 30
    while not precompiler._compilers and time.monotonic() < end:
        time.sleep(0.01)
    [compiler] = precompiler._compilers
    precompiler.stop()
    assert compiler.wait(10) != 0
