"""The shape of a policy: a frozen dataclass of parameters around one plain scoring function."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import Field, dataclass, fields
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.checks import check_number
from evenhand.core.nature import Awake
from evenhand.core.plain import format_value
from evenhand.core.round import Forms
from evenhand.core.state import State, copied, posterior
from evenhand.core.terms import Terms
from evenhand.errors import InputError
from evenhand.policies.probabilities import Lines, best_of_lines, best_of_numbers
from evenhand.problem import Problem

Randomness: TypeAlias = Literal["samples", "none", "own", "both"]
Score: TypeAlias = Callable[
    [Floats, Integers, Floats, State, Terms, Any, Any, np.random.Generator],
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


class Moment(NamedTuple):
    """All that a scoring function sees when arms are to be chosen."""

    awake: Integers
    state: State
    terms: Terms
    constants: Any
    memory: Any


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


@dataclass(frozen=True, kw_only=True)
class Policy(ABC):
    """A way to choose arms; subclasses add their parameters, each with a default.

    ``score(scores, awake, samples, state, terms, constants, memory, rng)`` writes one score for
    each awake arm (``scores[j]`` belongs to arm ``awake[j]``); the best ``plays`` of them are
    chosen. It must be plain Python on scalars and arrays: the very same function is interpreted
    and compiled, and both must give the same bits.

    ``randomness`` says where its chance comes from: ``"samples"``, one drawn from every awake
    arm's Beta posterior, of which its score is a linear function; ``"none"``; ``"own"``, drawn
    from ``rng``, which is not to be had otherwise; or ``"both"``, samples and ``rng``.

    Parameters
    ----------
    exploration
        With what chance, in [0, 1], the plays are drawn uniformly from the awake arms instead.
    """

    name: ClassVar[str]
    knows_nature: ClassVar[bool] = False
    randomness: ClassVar[Randomness] = "own"
    exploration: float = 0.0

    def __post_init__(self) -> None:
        chance = check_number(f"exploration of policy {self.name!r}", self.exploration)
        object.__setattr__(self, "exploration", chance)

    @staticmethod
    @abstractmethod
    def score(
        scores: Floats,
        awake: Integers,
        samples: Floats,
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
    def drawing(self) -> Randomness:
        """Where its chance comes from, which may depend on its parameters."""
        return self.randomness

    @property
    def debt_tightening(self) -> float:
        """By what part of its floor, over the root of the round, a reflected debt grows faster."""
        return 0.0

    @property
    def reflected(self) -> bool:
        """Whether debts forget a surplus."""
        return False

    @property
    def binarised(self) -> bool:
        """Whether a real reward is learned as a coin flip."""
        return False

    @property
    def memory_half_life(self) -> float:
        """In how many rounds what was learned loses half its weight; infinity: never."""
        return math.inf

    @property
    def adds_up(self) -> bool:
        """Whether its state is a sum over decisions and feedback: not if debts are reflected."""
        return not self.reflected

    @property
    def forms(self) -> Forms:
        """How the steps that all policies share are done for this one."""
        return Forms(
            self.reflected,
            self.binarised,
            self.drawing in ("samples", "both"),
            self.memory_half_life,
            check_number(f"exploration of policy {self.name!r}", self.exploration),
            self.debt_tightening,
        )

    def constants(self, situation: Situation) -> tuple[Any, ...]:
        """Return what the scoring function needs beyond state and terms, as a NamedTuple."""
        return NoConstants()

    def new_memory(self, arms: int) -> tuple[Any, ...]:
        """Return what the policy remembers for itself, as a NamedTuple of arrays it may write to.

        It starts anew whenever the arms change.
        """
        return NoMemory()

    def lines(self, moment: Moment) -> Lines:
        """Return the scores as lines of the samples, of a policy that scores those."""
        low, high = (self.score_with(moment, np.full(moment.awake.size, x)) for x in (0.0, 1.0))
        return Lines(np.zeros(low.size), low, high - low)

    def score_with(self, moment: Moment, samples: Floats) -> Floats:
        """Return the scores that samples would give; nothing is drawn, and nothing remembered."""
        scores = np.zeros(moment.awake.size)
        given = moment.state, moment.terms, moment.constants
        memory = copied(moment.memory)
        self.score(scores, moment.awake, samples, *given, memory, np.random.default_rng(0))
        return scores

    def chances(self, moment: Moment) -> Floats | None:
        """Return with what chance each awake arm will be chosen, of more than can be played.

        None where that is not known: the policy draws random numbers of its own.
        """
        plays = moment.terms.plays
        if self.drawing == "samples":
            alphas, betas = posterior(moment.state, moment.awake, self.memory_half_life)
            return best_of_lines(self.lines(moment), alphas, betas, plays)
        if self.drawing == "none":
            return best_of_numbers(self.score_with(moment, np.zeros(moment.awake.size)), plays)
        return None

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


def plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON knows them: infinity is the string that ``eta`` accepts for it.

    >>> plain({"eta": math.inf, "debt": "reflected"})
    {'eta': 'inf', 'debt': 'reflected'}
    """
    return {name: "inf" if value == math.inf else value for name, value in parameters.items()}
