"""Families of policies, by the parameters they share: debts, eta, Thompson samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

from evenhand.core.checks import check_choice, fail, real
from evenhand.errors import InputError
from evenhand.optimum.bounds import paper_eta
from evenhand.policies.policy import Policy, Randomness, Situation

DebtForm: TypeAlias = Literal["cumulative", "reflected"]
RewardForm: TypeAlias = Literal["fractional", "binarised"]
Eta: TypeAlias = float | Literal["paper"]
SHORTEST_HALF_LIFE = 0.001


class EtaOnly(NamedTuple):
    """For scoring functions whose one constant is eta."""

    eta: float


@dataclass(frozen=True, kw_only=True)
class WithDebts(Policy):
    """Base of the policies that look at debts."""

    debt: DebtForm = "cumulative"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(f"debt of policy {self.name!r}", self.debt, ("cumulative", "reflected"))

    @property
    def reflected(self) -> bool:
        """Whether debts forget a surplus."""
        return self.debt == "reflected"


@dataclass(frozen=True, kw_only=True)
class WithEta(WithDebts):
    """Base of the policies that score ``Q_i / eta + w_i estimate_i``."""

    eta: Eta = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        given: object = self.eta
        if isinstance(given, str) and given == "paper":
            return
        eta = math.inf if isinstance(given, str) and given == "inf" else given
        found = real(eta)
        if found is None or not found > 0.0:
            fail(f"eta of policy {self.name!r}", "a number above 0, inf or 'paper'", given)
        object.__setattr__(self, "eta", found)

    def constants(self, situation: Situation) -> tuple[Any, ...]:
        """Return eta as a number."""
        return EtaOnly(self.eta_for(situation))

    def eta_for(self, situation: Situation) -> float:
        """Return eta as a number; ``"paper"`` is Corollary 1's for the run's horizon."""
        if self.eta != "paper":
            return self.eta
        if situation.horizon is None:
            raise InputError(f"eta = 'paper' of policy {self.name!r} needs a horizon, got none")
        arms = len(situation.problem.arms)
        return paper_eta(arms, min(situation.problem.plays, arms), situation.horizon)


@dataclass(frozen=True, kw_only=True)
class WithSamples(Policy):
    """Base of the policies that score Thompson samples; they may forget.

    Parameters
    ----------
    rewards
        Real rewards are learned as they are (``"fractional"``, Eq. 4) or as coin flips
        (``"binarised"``).
    half_life
        In how many rounds feedback and awake counts lose half their weight, by the round of the
        decision; infinity: never.
    """

    randomness: ClassVar[Randomness] = "samples"
    rewards: RewardForm = "fractional"
    half_life: float = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(f"rewards of policy {self.name!r}", self.rewards, ("fractional", "binarised"))
        object.__setattr__(self, "half_life", check_half_life(self.name, self.half_life))

    @property
    def binarised(self) -> bool:
        """Whether a real reward is learned as a coin flip."""
        return self.rewards == "binarised"

    @property
    def memory_half_life(self) -> float:
        """In how many rounds what was learned loses half its weight; infinity: never."""
        return self.half_life


def check_half_life(name: str, given: object) -> float:
    """Return a half-life in rounds; None and "inf" are words for infinity.

    >>> check_half_life("priced", None), check_half_life("priced", 500)
    (inf, 500.0)
    """
    found = (
        math.inf if given is None or (isinstance(given, str) and given == "inf") else real(given)
    )
    if found is None or not found >= SHORTEST_HALF_LIFE:
        rule = f"a number of rounds of at least {SHORTEST_HALF_LIFE}, or infinity"
        fail(f"half_life of policy {name!r}", rule, given)
    return found
