"""The shape of a policy: a frozen dataclass of parameters around one plain scoring function."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import Field, dataclass, fields
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from evenhand._base.arrays import Floats, Integers
from evenhand._base.checks import check_choice, fail, real
from evenhand._base.nature import Awake
from evenhand._base.plain import format_value
from evenhand._base.terms import Terms
from evenhand.errors import InputError
from evenhand.optimum._bounds import paper_eta
from evenhand.policies._state import State
from evenhand.problem import Problem

DebtForm: TypeAlias = Literal["cumulative", "reflected"]
RewardForm: TypeAlias = Literal["fractional", "binarised"]
Eta: TypeAlias = float | Literal["paper"]
Score: TypeAlias = Callable[
    [Floats, Integers, State, Terms, Any, Any, np.random.Generator],
    None,
]


class Situation(NamedTuple):
    """What a policy's constants may depend on.

    ``horizon`` is None where decisions go on for ever; ``means`` and ``awake``, nature's secrets,
    are None wherever they are not to be had: only simulations know them.
    """

    problem: Problem
    horizon: int | None = None
    means: Floats | None = None
    awake: Awake | None = None


class Secrets(NamedTuple):
    """Nature's secrets, for policies that may know them."""

    means: Floats
    awake: Awake


class NoConstants(NamedTuple):
    """For scoring functions that need nothing but the state; numba cannot type an empty tuple."""

    unused: float = 0.0


class NoMemory(NamedTuple):
    """For policies that remember nothing beyond the state."""

    unused: float = 0.0


class EtaOnly(NamedTuple):
    """For scoring functions whose one constant is eta."""

    eta: float


@dataclass(frozen=True, kw_only=True)
class Policy(ABC):
    """A way to choose arms; subclasses add their parameters, each with a default.

    ``score(scores, awake, state, terms, constants, memory, rng)`` writes one score for each awake
    arm (``scores[j]`` belongs to arm ``awake[j]``); the best ``plays`` of them are chosen. It must
    be plain Python on scalars and arrays: the very same function is interpreted by the agent and
    compiled by the simulator, and both must give the same bits.
    """

    name: ClassVar[str]
    knows_nature: ClassVar[bool] = False

    @staticmethod
    @abstractmethod
    def score(
        scores: Floats,
        awake: Integers,
        state: State,
        terms: Terms,
        constants: Any,
        memory: Any,
        rng: np.random.Generator,
    ) -> None:
        """Write one score for each awake arm."""

    @property
    def summary(self) -> str:
        """The first line of the class's docstring."""
        return (type(self).__doc__ or "").partition("\n")[0].rstrip(".")

    @property
    def reflected(self) -> bool:
        """Whether debts forget a surplus."""
        return False

    @property
    def binarised(self) -> bool:
        """Whether a real reward is learned as a coin flip."""
        return False

    def constants(self, situation: Situation) -> tuple[Any, ...]:
        """Return what the scoring function needs beyond state and terms, as a NamedTuple."""
        return NoConstants()

    def new_memory(self, arms: int) -> tuple[Any, ...]:
        """Return what the policy remembers for itself, as a NamedTuple of arrays it may write to.

        It starts anew whenever the arms change.
        """
        return NoMemory()

    def secrets(self, situation: Situation) -> Secrets:
        """Return nature's secrets, which only a simulation can tell."""
        if situation.means is None or situation.awake is None:
            raise InputError(
                f"policy {self.name!r} knows nature's secrets: it can only be simulated"
            )
        return Secrets(situation.means, situation.awake)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters by name."""
        return {field.name: getattr(self, field.name) for field in parameter_fields(type(self))}

    def label(self, also: Collection[str] = ()) -> str:
        """Return the name with the parameters not at their defaults, and those asked for.

        >>> from evenhand.policies import make_policy
        >>> make_policy("tscsf-b", eta=1000, debt="reflected").label()
        'tscsf-b eta=1000 debt=reflected'
        >>> make_policy("tscsf-b").label(also=["eta"])
        'tscsf-b eta=10'
        """
        shown = [
            field.name
            for field in parameter_fields(type(self))
            if field.name in also or getattr(self, field.name) != field.default
        ]
        return " ".join([self.name, *self.format_parameters(shown)])

    def format_parameters(self, names: Iterable[str]) -> list[str]:
        """Return parameters as a reader would write them.

        >>> from evenhand.policies import make_policy
        >>> make_policy("tscsf-b").format_parameters(["eta", "debt"])
        ['eta=10', 'debt=cumulative']
        """
        return [f"{name}={format_value(getattr(self, name))}" for name in names]


def parameter_fields(policy: type[Policy]) -> list[Field[Any]]:
    """Return the policy's parameters, eta before the others."""
    return sorted(fields(policy), key=lambda field: field.name != "eta")


@dataclass(frozen=True, kw_only=True)
class WithDebts(Policy):
    """Base of the policies that look at debts."""

    debt: DebtForm = "cumulative"

    def __post_init__(self) -> None:
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


def binarises(name: str, form: RewardForm) -> bool:
    """Check the parameter ``rewards`` and say whether it asks for coin flips."""
    return (
        check_choice(f"rewards of policy {name!r}", form, ("fractional", "binarised"))
        == "binarised"
    )


def plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON knows them: infinity is the string that ``eta`` accepts for it.

    >>> plain({"eta": math.inf, "debt": "reflected"})
    {'eta': 'inf', 'debt': 'reflected'}
    """
    return {name: "inf" if value == math.inf else value for name, value in parameters.items()}
