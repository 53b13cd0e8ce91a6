"""Decisions become machine code by themselves, and nobody waits for it."""

from __future__ import annotations

import time

from evenhand.service._bodies import Arm, BanditBody
from evenhand.service._clerk import Clerk
from evenhand.service._commands import Ask
from evenhand.service._edition import first_edition
from evenhand.service._machine import Machine
from evenhand.service.stores import open_store
from tests.service.bandits import create

TEN = BanditBody([Arm(str(i), floor=0.05) for i in range(10)], 2, {"name": "tscsf-b"})


def test_a_bandit_is_compiled_beside_the_service():
    machine, asked = Machine(), 0
    clerk = Clerk(open_store("memory:"), machine)
    start = time.monotonic()
    clerk.carry_out([create("shelf", TEN)])
    clerk.carry_out([Ask("shelf", None, None, False)])
    assert not clerk._bandits["shelf"].compiled
    assert time.monotonic() - start < 1.0
    while not clerk._bandits["shelf"].compiled and time.monotonic() - start < 120:
        [answer] = clerk.carry_out([Ask("shelf", None, None, False)])
        asked = answer.body.round
        time.sleep(0.05)
    assert clerk._bandits["shelf"].compiled
    [answer] = clerk.carry_out([Ask("shelf", None, None, False)])
    assert answer.body.round == asked + 1
    machine.stop()


def test_few_arms_are_not_worth_a_compiler():
    machine = Machine()
    few = BanditBody([Arm(str(i)) for i in range(9)], 2)
    assert not machine.ready(first_edition(few))
    assert machine._known == {}


def test_a_compiler_is_stopped_with_the_service():
    machine = Machine()
    machine.ready(first_edition(TEN))
    end = time.monotonic() + 30
    while not machine._compilers and time.monotonic() < end:
        time.sleep(0.01)
    [compiler] = machine._compilers
    machine.stop()
    assert compiler.wait(10) != 0
