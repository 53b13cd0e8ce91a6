"""The configuration of a bandit: policy, rules and arms, numbered from 1."""

from __future__ import annotations

import json
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
from evenhand.policies.sampled_prices import SampledMemory
from evenhand.problem import Problem
from evenhand.service.engine.digests import digest_of
from evenhand.service.schemas import (
    DOTS,
    ArmResponse,
    BanditBody,
    BanditResponse,
    FeedbackRule,
    Fraction,
    PolicySpec,
)
from evenhand.service.stores.protocol import View

DEFAULT_POLICY = "priced"
FORM = Form("evenhand bandit", 1)


class ConfigVersion(Struct, frozen=True, kw_only=True):
    """One version of a bandit's configuration; a change makes another version.

    Attributes
    ----------
    number
        Counts the versions of a bandit from 1.
    policy, feedback
        The policy with its parameters, and the timeout of feedback.
    availability
        The stated availability of each arm; None where there is none.
    table
        The arms, their floors and weights, and since when these count.
    """

    number: int
    policy: PolicySpec
    feedback: FeedbackRule
    availability: tuple[float | None, ...]
    table: ArmTable

    def to_bytes(self) -> bytes:
        """Return the configuration as compressed JSON."""
        return zlib.compress(self._json(), 1)

    def digest(self) -> str:
        """Return the digest of the configuration."""
        return digest_of(self._json())

    def _json(self) -> bytes:
        return msgspec.json.encode(FORM.write({**self.plain(), "number": self.number}))

    def plain(self) -> dict[str, Any]:
        """Return the configuration without its number as plain data."""
        return {
            "policy": self.policy,
            "feedback": self.feedback,
            "availability": self.availability,
            "table": table_columns(self.table),
        }

    @classmethod
    def from_bytes(cls, body: bytes) -> ConfigVersion:
        """Return the configuration that :meth:`to_bytes` wrote."""
        # msgspec takes twenty times as long to read a number such as -1e300.
        return cls.from_plain(FORM.read(json.loads(zlib.decompress(body))))

    @classmethod
    def from_plain(cls, document: dict[str, Any]) -> ConfigVersion:
        """Return the configuration of plain data with its number."""
        table = table_from(document["table"])
        availability = msgspec.convert(document["availability"], tuple[Fraction | None, ...])
        if len(availability) != len(table.problem.arms):
            fail("availability", f"of {len(table.problem.arms)} arms", len(availability))
        return cls(
            number=document["number"],
            policy=msgspec.convert(document["policy"], PolicySpec),
            feedback=msgspec.convert(document["feedback"], FeedbackRule),
            availability=availability,
            table=table,
        )

    def response(self, name: str) -> BanditResponse:
        """Return the bandit as the API shows it."""
        return BanditResponse(
            name, self.arms(), self.table.problem.plays, self.policy, self.feedback
        )

    def arms(self) -> list[ArmResponse]:
        """Return the arms as the API shows them."""
        problem, paused = self.table.problem, self.table.arrays.paused.tolist()
        columns = problem.arms, problem.floors.tolist(), problem.weights.tolist()
        return list(map(ArmResponse, *columns, self.availability, paused))


class ConfigVersions:
    """The configurations of one bandit, each read from the store once."""

    def __init__(self, view: View, key: int) -> None:
        self._view, self._key = view, key
        self._known: dict[int, ConfigVersion] = {}

    def __getitem__(self, number: int) -> ConfigVersion:
        if number not in self._known:
            body = self._view.config(self._key, number)
            self._known[number] = ConfigVersion.from_bytes(body)
        return self._known[number]


def first_config(body: BanditBody) -> ConfigVersion:
    """Return the first configuration of a bandit, or raise what is wrong with its body."""
    for arm in body.arms:
        if arm.name in DOTS:
            fail("name of an arm", "a name other than '.' and '..'", arm.name)
    names = [arm.name for arm in body.arms]
    if body.plays > len(names):
        fail("plays", f"at most the number of arms, {len(names)}", body.plays)
    # Floors that do not fit are warned of while the bandit is served.
    problem = Problem.of_arms_left(
        names,
        body.plays,
        [arm.weight for arm in body.arms],
        [arm.floor for arm in body.arms],
    )
    policy = serving_policy(body.policy or {"name": DEFAULT_POLICY})
    config = ConfigVersion(
        number=1,
        policy={"name": policy.name, **policy.described()},
        feedback=body.feedback or FeedbackRule(),
        availability=tuple(arm.availability for arm in body.arms),
        table=first_table(problem),
    )
    check_floors(config.table, config.availability)
    return config


def serving_policy(spec: PolicySpec) -> Policy:
    """Return the policy of a name and parameters; it must not need nature's secrets.

    >>> serving_policy({"name": "lfg", "eta": "inf"}).label()
    'lfg eta=inf'
    """
    parameters = dict(spec)
    name = parameters.pop("name", None)
    if not isinstance(name, str):
        fail("policy.name", "the name of a policy", name)
    policy = make_policy(name, **parameters)
    if policy.knows_nature:
        fail("policy", "one that does without nature's secrets, the true means", name)
    if policy.known.regresses:
        fail("belief", "'auto' or 'beta': the service has no contexts", policy.known.name)
    if policy.memory_kind() is SampledMemory:
        fail("prices", "'auto' or 'exact': the service does not keep the latest rounds", "sample")
    return policy


def check_floors(table: ArmTable, availability: Sequence[float | None]) -> None:
    """Raise InfeasibleFloors if the floors do not fit the stated availabilities.

    An arm without a stated availability counts as always awake. So what is refused is infeasible
    in any case, if arms wake independently. Without any statement nothing is checked.
    """
    if all(share is None for share in availability):
        return
    problem = table.problem
    stated = np.array([1.0 if share is None else share for share in availability])
    plays = min(problem.plays, stated.size)
    check_fitting(table.arrays.floors, plays, stated, problem.arms)
