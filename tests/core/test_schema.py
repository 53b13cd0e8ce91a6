"""A state is declared once: copies, other arms, lists, bytes and blocks follow."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import pytest

from evenhand.core import schema
from evenhand.core.arrays import Floats, Integers
from evenhand.core.schema import Column
from evenhand.core.state import State


def twice(arms):
    return 2 * arms


class Memory(NamedTuple):
    clock: Annotated[Integers, Column("one", adds_up=True)]
    seen: Annotated[Floats, Column("arm", adds_up=True, fades=True)]
    owed: Annotated[Floats, Column("arm")]
    pairs: Annotated[Integers, Column(twice, derived=True)]


@pytest.fixture
def memory():
    made = schema.new(Memory, 3)
    for number, array in enumerate(made):
        array[:] = np.arange(array.size) + 10 * number + 1
    return made


def test_names_can_be_asked_for_by_what_is_declared():
    assert schema.names_of(Memory) == Memory._fields
    assert schema.names_of(Memory, adds_up=True) == ("clock", "seen")
    assert schema.names_of(State, fades=True) == ("awake_counts", "feedbacks", "reward_sums")
    assert schema.names_of(State, adds_up=False) == ("epoch", "debts")


def test_a_copy_shares_nothing(memory):
    twin = schema.copied(memory)
    for one, other in zip(memory, twin, strict=True):
        assert one.tolist() == other.tolist()
        other[:] = 0
        assert one.any()


def test_other_arms_take_what_is_theirs_along(memory):
    moved = schema.carried(memory, np.array([2, -1, 0, 1]))
    assert moved.clock.tolist() == [1]
    assert moved.seen.tolist() == [13.0, 0.0, 11.0, 12.0]
    assert moved.owed.tolist() == [23.0, 0.0, 21.0, 22.0]
    assert moved.pairs.tolist() == [0] * 8


def test_lists_come_back_exactly_and_damage_is_found(memory):
    lists = schema.to_lists(memory)
    again = schema.from_lists(Memory, lists, 3)
    assert [array.tolist() for array in again] == [array.tolist() for array in memory]
    for wrong, words in (
        ({"seen": [1.0, 2.0]}, r"seen is of shape \(2,\), not \(3,\)"),
        ({"seen": [1.0, 2.0, np.inf]}, "finite numbers"),
        ({"clock": [1.5]}, "of its type"),
    ):
        with pytest.raises(ValueError, match=words):
            schema.from_lists(Memory, {**lists, **wrong}, 3)
    with pytest.raises(KeyError):
        schema.from_lists(Memory, {}, 3)


def test_bytes_hold_what_cannot_be_worked_out_anew(memory):
    body = schema.to_bytes(memory)
    again = schema.from_bytes(Memory, body, 3)
    assert again.pairs.tolist() == [0] * 6
    for name in ("clock", "seen", "owed"):
        assert getattr(again, name).tolist() == getattr(memory, name).tolist()
    for wrong in (body[:-1], body + b"x"):
        with pytest.raises(ValueError, match=r"bytes|buffer"):
            schema.from_bytes(Memory, wrong, 3)


def test_blocks_are_few_and_lead_back(memory):
    laid, blocks = schema.in_blocks(memory)
    assert len(blocks) == schema.block_count(Memory) == 3
    read = schema.block_reader(Memory)(*blocks)
    for name in Memory._fields:
        assert getattr(read, name).tolist() == getattr(memory, name).tolist()
    read.owed[1] = 7.0
    assert laid.owed[1] == 7.0


def test_what_fades_is_scaled_and_nothing_else(memory):
    schema.fading_scaler(Memory)(memory, 0.5)
    assert memory.seen.tolist() == [5.5, 6.0, 6.5]
    assert memory.owed.tolist() == [21.0, 22.0, 23.0]
