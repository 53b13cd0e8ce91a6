"""The shared suite: every policy of ours passes it, and what breaks a rule does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
import pytest

from evenhand import InputError, Policy, make_policy
from evenhand.core.arrays import Floats
from evenhand.core.schema import Column
from evenhand.policies import registry
from evenhand.policies.registry import BUILT_IN
from evenhand.testing import check_policy

UNUSUAL = [
    make_policy("priced", surplus="inf", eta=3),
    make_policy("priced", half_life=40, exploration=0.2),
    make_policy("tscsf-b", surplus=0, eta="inf", rewards="binarised"),
    make_policy("lfg", surplus=2.5, eta="paper"),
    make_policy("pessimistic", base="ucb", half_life=30),
    make_policy("fair-learn", surplus=1, alpha=2),
]


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch):
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))


@pytest.mark.parametrize("policy", BUILT_IN, ids=lambda policy: policy.name)
def test_every_policy_of_ours_passes(policy):
    check_policy(policy)


@pytest.mark.parametrize("policy", UNUSUAL, ids=Policy.label)
def test_so_do_unusual_parameters(policy):
    check_policy(policy)


class Seen(NamedTuple):
    seen: Annotated[Floats, Column("arm")]


def by_turns(scores, view, constants, memory, rng):
    for j in range(view.awake.size):
        i = view.awake[j]
        scores[j] = -memory.seen[i]
        memory.seen[i] += 1.0 + 0.001 * i


def made(**changes):
    """A policy that passes, but for some changes."""
    body = {
        "__doc__": "Plays the arms that were awake least often.",
        "__module__": __name__,
        "name": "by turns",
        "memory": Seen,
        "randomness": "none",
        "score": staticmethod(by_turns),
        **changes,
    }
    return dataclass(frozen=True, kw_only=True)(type("ByTurns", (Policy,), body))


def test_a_policy_with_arrays_of_its_own_passes():
    check_policy(made())


def adds_up(scores, view, constants, memory, rng):
    for j in range(view.awake.size):
        scores[j] = view.state.played.sum()


def chooses_by_luck(scores, view, constants, memory, rng):
    for j in range(view.awake.size):
        scores[j] = np.random.random()  # noqa: NPY002  (not the given generator)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"__doc__": "No."}, "must begin with one line"),
        ({"score": staticmethod(adds_up)}, "score must not use"),
        ({"label": lambda self, also=(): "another"}, "its label must be its name"),
        ({"randomness": "dice"}, "'dice'"),
        (
            {"probabilities": lambda self, view, constants, memory: view.state.debts * 0.0 + 0.9},
            "must add up to the plays",
        ),
        ({"score": staticmethod(chooses_by_luck)}, "must go on as before|must be the same"),
    ],
)
def test_what_breaks_a_rule_is_found(changes, words):
    with pytest.raises(AssertionError, match=words):
        check_policy(made(**changes), compiled=False)


def test_what_cannot_be_registered_is_refused():
    with pytest.raises(InputError, match="must be not that of"):
        check_policy(made(name="priced"))
