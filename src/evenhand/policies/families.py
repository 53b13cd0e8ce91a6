"""Families of policies, by the parameters they share: surplus, eta, Thompson samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Self, TypeAlias

from evenhand.beliefs.belief import Belief
from evenhand.beliefs.registry import BeliefName, belief_names, belief_of
from evenhand.core.checks import POSITIVE, Limits, check_choice, check_number, fail, real
from evenhand.core.round import StepOptions
from evenhand.core.state import DecisionView
from evenhand.errors import InputError
from evenhand.optimum.bounds import paper_eta
from evenhand.policies.policy import NEWER, Policy, PolicySetup, Randomness
from evenhand.problem import Problem

RewardForm: TypeAlias = Literal["fractional", "binarised"]
Eta: TypeAlias = float | Literal["paper"]
Width: TypeAlias = float | Literal["auto"]
SHORTEST_HALF_LIFE = 0.001
# No sample of a regression that has seen some rewards comes near it.
FAR = 1e6
# The two forms that the literature has names for.
SURPLUS_WORDS = {"cumulative": math.inf, "reflected": 0.0}


def eta_bonuses(view: DecisionView, constants: Any, memory: Any) -> None:
    """Write ``sign_j max(Q_j, 0) / eta`` as the bonus of every promise."""
    promises = view.promises
    for j in range(promises.debts.size):
        owed = max(promises.debts[j], 0.0)
        promises.bonuses[j] = promises.sign[j] * owed / constants.eta


class EtaOnly(NamedTuple):
    """For scoring functions whose one constant is eta."""

    eta: float


@dataclass(frozen=True, kw_only=True)
class WithSurplus(Policy):
    r"""Base of the policies that look at debts.

    .. math:: Q_i \leftarrow \max(Q_i + k_i - d_i, -\text{surplus})

    Parameters
    ----------
    surplus
        How many plays ahead a debt remembers, at least 0: infinity for Eq. (5) of the TSCSF-B paper
        (also ``"cumulative"``), 0 for Li et al. (also ``"reflected"``), or anything between.
    """

    surplus: float = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "surplus", check_surplus(self.name, self.surplus))

    @property
    def options(self) -> StepOptions:
        return super().options._replace(surplus=self.surplus)


@dataclass(frozen=True, kw_only=True)
class WithEta(WithSurplus):
    """Base of the policies that score ``max(Q_i, 0) / eta + w_i estimate_i``.

    Parameters
    ----------
    eta
        How much reward outweighs debt: a number above 0, infinity, or ``"paper"`` for
        sqrt(N T / (m ln T)), Corollary 1.
    surplus
        See :class:`WithSurplus`.
    """

    keeps = "promises"
    eta: Eta = 10.0

    def bonus_rows(self) -> Callable[..., None]:
        return eta_bonuses

    def __post_init__(self) -> None:
        super().__post_init__()
        given: object = self.eta
        if isinstance(given, str) and given == "paper":
            return
        found = number_or_inf(given)
        if found is None or not found > 0.0:
            fail(f"eta of policy {self.name!r}", "a number above 0, inf or 'paper'", given)
        object.__setattr__(self, "eta", found)

    def constants(self, setup: PolicySetup) -> tuple[Any, ...]:
        return EtaOnly(self.eta_for(setup))

    def eta_for(self, setup: PolicySetup) -> float:
        """Return eta as a number; ``"paper"`` is Corollary 1's for the run's horizon."""
        if self.eta != "paper":
            return self.eta
        if setup.horizon is None:
            raise InputError(f"eta = 'paper' of policy {self.name!r} needs a horizon, got none")
        arms = len(setup.problem.arms)
        return paper_eta(arms, min(setup.problem.plays, arms), setup.horizon)


@dataclass(frozen=True, kw_only=True)
class WithBelief(Policy):
    """Base of the policies that work with any belief about the rewards.

    Parameters
    ----------
    belief
        What is known of the rewards: ``"beta"``, ``"linear"`` or ``"logistic"``; ``"auto"`` is beta
        for a problem without features, and linear with them.
    width
        Scales the spread of samples of a regression; at 1 they are as wide as Beta samples, on
        average over contexts. For upper bounds it is the factor of ``sqrt(x' A^-1 x)``. ``"auto"``
        is what the belief proposes.
    ridge
        The precision that each coefficient of a regression begins with, above 0.
    """

    belief: BeliefName = field(default="auto", metadata=NEWER)
    width: Width = field(default="auto", metadata=NEWER)
    ridge: float = field(default=1.0, metadata=NEWER)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(f"belief of policy {self.name!r}", self.belief, belief_names())
        if self.width != "auto":
            thing, limits = f"width of policy {self.name!r}", Limits(0.0)
            object.__setattr__(self, "width", check_number(thing, self.width, limits))
        ridge = check_number(f"ridge of policy {self.name!r}", self.ridge, POSITIVE)
        object.__setattr__(self, "ridge", ridge)

    def resolved(self, problem: Problem) -> Self:
        name: Any = belief_of(self.belief, len(problem.features)).name
        return self if name == self.belief else replace(self, belief=name)

    @property
    def known(self) -> Belief:
        return belief_of(self.belief, 0)

    @property
    def adds_up(self) -> bool:
        return super().adds_up and self.known.adds_up

    @property
    def options(self) -> StepOptions:
        width = self.known.width if self.width == "auto" else self.width
        return super().options._replace(width=width, ridge=self.ridge)


@dataclass(frozen=True, kw_only=True)
class WithSamples(WithBelief):
    """Base of the policies that score Thompson samples; they may forget.

    Parameters
    ----------
    belief, width, ridge
        See :class:`WithBelief`.
    rewards
        Real rewards are learned as they are (``"fractional"``, Eq. 4) or as coin flips
        (``"binarised"``).
    half_life
        In how many rounds feedback and awake counts lose half their weight, by the round of the
        decision; infinity: never.
    """

    rewards: RewardForm = "fractional"
    half_life: float = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(f"rewards of policy {self.name!r}", self.rewards, ("fractional", "binarised"))
        object.__setattr__(self, "half_life", check_half_life(self.name, self.half_life))

    def above_all(self, problem: Problem) -> float:
        """Return a score above every weighted sample; samples of a regression have no bound."""
        largest = FAR if self.known.regresses else 1.0
        return 1.0 + largest * float(problem.weights.max())

    @property
    def randomness(self) -> Randomness:
        return "samples"

    @property
    def options(self) -> StepOptions:
        binarised = self.rewards == "binarised"
        return super().options._replace(binarised=binarised, half_life=self.half_life)


def number_or_inf(given: object) -> float | None:
    """Return a number, which may be the word ``"inf"``; None for anything else.

    >>> number_or_inf("inf"), number_or_inf(10), number_or_inf("ten")
    (inf, 10.0, None)
    """
    return math.inf if isinstance(given, str) and given == "inf" else real(given)


def check_surplus(name: str, given: object) -> float:
    """Return a surplus in plays, of at least 0; words stand for the usual ones.

    >>> check_surplus("lfg", "reflected"), check_surplus("lfg", "inf"), check_surplus("lfg", 10)
    (0.0, inf, 10.0)
    """
    word = SURPLUS_WORDS.get(given) if isinstance(given, str) else None
    found = number_or_inf(given) if word is None else word
    if found is None or not found >= 0.0:
        rule = "a number of plays of at least 0, inf, 'cumulative' or 'reflected'"
        fail(f"surplus of policy {name!r}", rule, given)
    return found


def check_half_life(name: str, given: object) -> float:
    """Return a half-life in rounds; None and "inf" are words for infinity.

    >>> check_half_life("priced", None), check_half_life("priced", 500)
    (inf, 500.0)
    """
    found = math.inf if given is None else number_or_inf(given)
    if found is None or not found >= SHORTEST_HALF_LIFE:
        rule = f"a number of rounds of at least {SHORTEST_HALF_LIFE}, or infinity"
        fail(f"half_life of policy {name!r}", rule, given)
    return found
