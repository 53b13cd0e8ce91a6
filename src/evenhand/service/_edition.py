"""A bandit between two changes of its arms or its rules: what it was told to be."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from evenhand.core.checks import fail
from evenhand.core.forms import Form
from evenhand.learner.arm_table import ArmTable, first_table
from evenhand.learner.stored import table_columns, table_from
from evenhand.optimum.solver import check_fitting
from evenhand.policies import Policy, make_policy
from evenhand.policies.policy import plain
from evenhand.problem import Problem
from evenhand.service._bodies import DOTS, ArmShown, BanditBody, BanditShown, FeedbackRule, Words

DEFAULT_POLICY = "priced"
FORM = Form("evenhand bandit", 1)


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
    table
        The arms, what they were promised, and from when it counts.
    """

    number: int
    policy: Words
    feedback: FeedbackRule
    availability: tuple[float | None, ...]
    table: ArmTable

    def to_bytes(self) -> bytes:
        """Return the edition as compressed JSON."""
        document = {**self.plain(), "number": self.number}
        return zlib.compress(msgspec.json.encode(FORM.write(document)), 1)

    def plain(self) -> dict[str, Any]:
        """Return the edition as plain data, but for its number."""
        return {
            "policy": self.policy,
            "feedback": self.feedback,
            "availability": self.availability,
            "table": table_columns(self.table),
        }

    @classmethod
    def from_bytes(cls, body: bytes) -> Edition:
        """Return the edition that :meth:`to_bytes` wrote."""
        return cls.from_plain(FORM.read(msgspec.json.decode(zlib.decompress(body))))

    @classmethod
    def from_plain(cls, document: dict[str, Any]) -> Edition:
        """Return the edition of plain data, its number included."""
        return cls(
            number=document["number"],
            policy=document["policy"],
            feedback=msgspec.convert(document["feedback"], FeedbackRule),
            availability=tuple(document["availability"]),
            table=table_from(document["table"]),
        )

    def shown(self, name: str) -> BanditShown:
        """Return the bandit as it answers to a reader."""
        problem, paused = self.table.problem, self.table.arrays.paused.tolist()
        columns = problem.arms, problem.floors.tolist(), problem.weights.tolist()
        arms = list(map(ArmShown, *columns, self.availability, paused))
        return BanditShown(name, arms, problem.plays, self.policy, self.feedback)


def first_edition(body: BanditBody) -> Edition:
    """Return the first edition of a bandit, or complain."""
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
        policy={"name": policy.name, **plain(policy.parameters())},
        feedback=body.feedback or FeedbackRule(),
        availability=tuple(arm.availability for arm in body.arms),
        table=first_table(problem),
    )
    check_floors(edition.table, edition.availability)
    return edition


def serving_policy(words: Words) -> Policy:
    """Return the policy that its name and parameters describe, one that can serve, or complain.

    >>> serving_policy({"name": "lfg", "eta": "inf"}).label()
    'lfg eta=inf'
    """
    parameters = dict(words)
    name = parameters.pop("name", None)
    if not isinstance(name, str):
        fail("policy.name", "the name of a policy", name)
    policy = make_policy(name, **parameters)
    if policy.knows_nature:
        fail("policy", "one that does without nature's secrets, the true means", name)
    return policy


def check_floors(table: ArmTable, availability: Sequence[float | None]) -> None:
    """Complain if floors cannot all be kept under the availabilities that were stated.

    An arm of which nothing was said is taken to be always awake: what is refused then could not be
    kept whatever the truth is, if arms wake independently. Without any statement nothing is
    refused.
    """
    if all(share is None for share in availability):
        return
    problem = table.problem
    stated = np.array([1.0 if share is None else share for share in availability])
    plays = min(problem.plays, stated.size)
    check_fitting(table.arrays.floors, plays, stated, problem.arms)
