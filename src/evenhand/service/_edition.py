"""A bandit between two changes of its arms or its rules: what it was told to be."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from evenhand.core.checks import fail
from evenhand.core.plain import finite
from evenhand.learner.arm_table import Roster, first_roster
from evenhand.learner.columns import roster_columns, roster_from
from evenhand.optimum.solver import check_fitting
from evenhand.policies import Policy, make_policy
from evenhand.problem import Problem
from evenhand.service._bodies import ArmShown, BanditBody, BanditShown, FeedbackRule, Words
from evenhand.service._names import DOTS

DEFAULT_POLICY = "priced"


class Edition(Struct, frozen=True, kw_only=True):
    """The rules of a bandit and its arms, from one change to the next; never changed in place.

    Attributes
    ----------
    number
        Counts the editions of a bandit from 1.
    policy, feedback
        The policy with its parameters, and how long feedback is awaited.
    availability
        How often each arm is said to be awake; None where nobody said so.
    roster
        The arms, what they were promised, and from when it counts.
    """

    number: int
    policy: Words
    feedback: FeedbackRule
    availability: tuple[float | None, ...]
    roster: Roster

    def to_bytes(self) -> bytes:
        """Return the edition as compressed JSON."""
        document = {**self.plain(), "number": self.number}
        return zlib.compress(msgspec.json.encode(document), 1)

    def plain(self) -> dict[str, Any]:
        """Return the edition as plain data, but for its number."""
        return {
            "policy": self.policy,
            "feedback": self.feedback,
            "availability": self.availability,
            "roster": roster_columns(self.roster),
        }

    @classmethod
    def from_bytes(cls, body: bytes) -> Edition:
        """Return the edition that :meth:`to_bytes` wrote."""
        return cls.from_plain(msgspec.json.decode(zlib.decompress(body)))

    @classmethod
    def from_plain(cls, document: dict[str, Any]) -> Edition:
        """Return the edition of plain data, its number included."""
        return cls(
            number=document["number"],
            policy=document["policy"],
            feedback=msgspec.convert(document["feedback"], FeedbackRule),
            availability=tuple(document["availability"]),
            roster=roster_from(document["roster"]),
        )

    def shown(self, name: str) -> BanditShown:
        """Return the bandit as it answers to a reader."""
        problem, paused = self.roster.problem, self.roster.terms.paused.tolist()
        columns = problem.arms, problem.floors.tolist(), problem.weights.tolist()
        arms = list(map(ArmShown, *columns, self.availability, paused))
        return BanditShown(name, arms, problem.plays, self.policy, self.feedback)


def first_edition(body: BanditBody) -> Edition:
    """Return the first edition of a bandit, or complain.

    Raises
    ------
    InputError
        If a name, the policy or one of its parameters breaks a rule.
    InfeasibleFloors
        If availabilities are stated under which the floors cannot all be kept.
    """
    for arm in body.arms:
        if arm.name in DOTS:
            fail("name of an arm", "a name that is no step of an address", arm.name)
    problem = Problem(
        [arm.name for arm in body.arms],
        body.plays,
        [arm.weight for arm in body.arms],
        [arm.floor for arm in body.arms],
    )
    policy = serving_policy(body.policy or {"name": DEFAULT_POLICY})
    edition = Edition(
        number=1,
        policy={"name": policy.name, **finite(policy.parameters())},
        feedback=body.feedback or FeedbackRule(),
        availability=tuple(arm.availability for arm in body.arms),
        roster=first_roster(problem),
    )
    check_floors(edition.roster, edition.availability)
    return edition


def serving_policy(words: Words) -> Policy:
    """Return the policy that its name and parameters describe, one that can serve, or complain.

    >>> serving_policy({"name": "lfg"})
    Traceback (most recent call last):
    ...
    evenhand.errors.InputError: policy must be one whose state adds up, ...
    """
    parameters = {key: value for key, value in words.items() if value is not None}
    name = parameters.pop("name", None)
    if not isinstance(name, str):
        fail("policy.name", "the name of a policy", name)
    policy = make_policy(name, **parameters)
    if policy.knows_nature:
        fail("policy", "one that does without nature's secrets, the true means", name)
    if not policy.adds_up:
        rule = (
            "one whose state adds up, so that servers can share it: reflected debts depend on the "
            "order of events (debt='cumulative' where the policy has it)"
        )
        fail("policy", rule, policy.label())
    return policy


def check_floors(roster: Roster, availability: Sequence[float | None]) -> None:
    """Complain if floors cannot all be kept under the availabilities that were stated.

    An arm of which nothing was said is taken to be always awake: what is refused then could not be
    kept whatever the truth is, if arms wake independently. Without any statement nothing is
    refused.
    """
    if all(share is None for share in availability):
        return
    problem = roster.problem
    stated = np.array([1.0 if share is None else share for share in availability])
    plays = min(problem.plays, stated.size)
    check_fitting(roster.terms.floors, plays, stated, problem.arms)
