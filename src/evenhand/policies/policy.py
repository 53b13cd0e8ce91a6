"""The shape of a policy: a frozen dataclass of parameters around one plain scoring function."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import Field, dataclass, fields
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from evenhand.beliefs.belief import Belief
from evenhand.beliefs.beta import BETA
from evenhand.beliefs.regression import follow_epoch, location, refresh, spread
from evenhand.core.arrays import Floats, Random
from evenhand.core.checks import check_number, fail
from evenhand.core.jit import inlined, interpreted
from evenhand.core.nature import Awake
from evenhand.core.plain import format_value
from evenhand.core.promises import PromiseArrays, add_bonuses, mean_estimate
from evenhand.core.round import StepOptions, notice
from evenhand.core.schema import copied, new
from evenhand.core.state import DecisionView, ProblemArrays, State, faded, posterior
from evenhand.errors import InputError
from evenhand.policies.distributions import Betas, Distributions, LogisticNormals, Normals
from evenhand.policies.probabilities import Lines, best_of_lines, best_of_numbers
from evenhand.problem import Problem

# Metadata of a parameter that settings stored by an earlier release do not have. At its default it
# is left out of stored settings, so that those of before are still the same.
NEWER = MappingProxyType({"newer": True})
Randomness: TypeAlias = Literal["samples", "none", "own", "both"]
Score: TypeAlias = Callable[[Floats, DecisionView, Any, Any, Random], None]


class PolicySetup(NamedTuple):
    """What a policy's constants may depend on.

    ``horizon`` is None where there is no last decision; ``means`` and ``awake``, nature's secrets,
    are None wherever they are not known: only simulations know them.
    """

    problem: Problem
    horizon: int | None = None
    means: Floats | None = None
    awake: Awake | None = None


class NoConstants(NamedTuple):
    """For scoring functions that need nothing but the view; numba cannot type an empty tuple."""

    unused: float = 0.0


class NoMemory(NamedTuple):
    """For policies that remember nothing beyond the state."""

    unused: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Policy(ABC):
    """A way to choose arms; subclasses add their parameters, each with a default.

    ``score(scores, view, constants, memory, rng)`` writes one score for each awake arm
    (``scores[j]`` belongs to arm ``view.awake[j]``); the best ``plays`` of them are chosen. It must
    be plain Python on scalars and arrays: the very same function is interpreted and compiled, and
    both must give the same bits. ``evenhand.testing.check_policy`` checks that.

    ``memory`` declares arrays of the policy's own, which ``score`` may write to: a NamedTuple as
    :mod:`evenhand.core.schema` describes it. It starts at zero, and again when the arms change.

    Parameters
    ----------
    exploration
        The probability, in [0, 1], with which the plays are drawn uniformly from the awake arms
        instead.
    """

    name: ClassVar[str]
    knows_nature: ClassVar[bool] = False
    # What it keeps: nothing (it promises nothing, and may play any problem), floors alone (a
    # problem that promises more is refused), or all promises.
    keeps: ClassVar[Literal["nothing", "floors", "promises"]] = "floors"
    # Why it has no parameter ``belief``, if it has none.
    no_belief: ClassVar[str] = "its score has one estimate for each arm, whatever the context"
    memory: ClassVar[type[Any]] = NoMemory
    exploration: float = 0.0

    def __post_init__(self) -> None:
        chance = check_number(f"exploration of policy {self.name!r}", self.exploration)
        object.__setattr__(self, "exploration", chance)

    @staticmethod
    @abstractmethod
    def score(scores: Floats, view: DecisionView, constants: Any, memory: Any, rng: Random) -> None:
        """Write one score for each awake arm."""

    @property
    def randomness(self) -> Randomness:
        """Where the scores' chance comes from.

        ``"samples"``: one sample of every awake arm, of which its score is a linear function;
        ``"none"``; ``"own"``: drawn from ``rng``, which is None otherwise; ``"both"``: samples and
        ``rng``. A class attribute will do, too.
        """
        return "own"

    @property
    def summary(self) -> str:
        """The first line of the class's docstring."""
        return (type(self).__doc__ or "").partition("\n")[0].rstrip(".")

    @property
    def adds_up(self) -> bool:
        """Whether its state is a sum over decisions and feedback: not if debts forget plays."""
        return self.options.surplus == math.inf

    @property
    def options(self) -> StepOptions:
        """How the steps of a round are done for this policy."""
        return StepOptions(
            sampled=self.randomness in ("samples", "both"),
            exploration=check_number(f"exploration of policy {self.name!r}", self.exploration),
        )

    @property
    def known(self) -> Belief:
        """What it believes about the rewards; ``"auto"`` counts as for no features."""
        return BETA

    @property
    def scoring(self) -> Score:
        """The scoring function, if it depends on the parameters."""
        return self.score

    def bonus_rows(self) -> Callable[..., None]:
        """Return ``write(view, constants, memory)``, which writes the bonus of every promise."""
        raise NotImplementedError(f"policy {self.name!r} keeps no promises beyond floors")

    def scoring_with(self, *, promised: bool) -> Score:
        """Return the scoring function, with what promises beyond floors add if there are any."""
        if not promised or self.keeps != "promises":
            return self.scoring
        return score_with_promises(self.scoring, self.bonus_rows(), self.options.sampled)

    @property
    def writes_bonuses(self) -> bool:
        """Whether it has a bonus for every promise."""
        return type(self).bonus_rows is not Policy.bonus_rows

    @property
    def forbids(self) -> bool:
        """Whether a score below 0 says that an arm is not to be played."""
        return self.keeps == "promises"

    def check_keeps(self, problem: Problem) -> None:
        """Raise InputError if the policy cannot keep what the problem promises."""
        if problem.rows.size and self.keeps == "floors":
            rule = f"floors alone with policy {self.name!r}"
            fail("promises of the problem", rule, ", ".join(dict.fromkeys(problem.rows.names)))

    @property
    def noticing(self) -> Callable[..., None]:
        """``notice(awake, memory, belief)``, called in every round, scored or not."""
        return notice

    def resolved(self, problem: Problem) -> Self:
        """Return the policy with those parameters settled that depend on the problem."""
        return self

    def constants(self, setup: PolicySetup) -> tuple[Any, ...]:
        """Return what the scoring function needs beyond the view, as a NamedTuple."""
        return NoConstants()

    def new_memory(self, arms: int, features: int = 1, promises: int = 0) -> Any:
        """Return the policy's own arrays before the first round."""
        kind = self.memory_kind(promises)
        return NoMemory() if kind is NoMemory else new(kind, arms, features, promises)

    @property
    def pays_compiled(self) -> bool:
        """Whether machine code pays however few arms there are."""
        return False

    def memory_kind(self, promises: int = 0) -> type[Any]:
        """Return the type of its memory, with so many rows of promises beyond floors."""
        return self.memory

    def memory_used(self, before: Any, after: Any) -> Any:
        """Return the memory by which a decision was scored, of those before and after it."""
        return before

    def postpone(self, state: State, problem: ProblemArrays, memory: Any) -> bool:
        """Put off what the next decision would compute anew; say whether there is such a thing."""
        return False

    def lines(self, view: DecisionView, constants: Any, memory: Any) -> Lines:
        """Return the scores as lines of the samples, of a policy that scores those."""
        low, high = (
            self.score_with(view, constants, memory, np.full(view.awake.size, x))
            for x in (0.0, 1.0)
        )
        return Lines(np.zeros(low.size), low, high - low)

    def score_with(
        self, view: DecisionView, constants: Any, memory: Any, samples: Floats
    ) -> Floats:
        """Return the scores that samples would give; nothing is drawn, and nothing remembered."""
        scores = np.zeros(view.awake.size)
        supposed = view._replace(samples=samples)
        promised = isinstance(view.promises, PromiseArrays)
        score = self.scoring_with(promised=promised)
        score(scores, supposed, constants, copied(memory), np.random.default_rng(0))
        return scores

    def probabilities(self, view: DecisionView, constants: Any, memory: Any) -> Floats | None:
        """Return the probability with which each awake arm will be chosen, of more than plays.

        None where that is not known: the policy draws random numbers of its own.
        """
        plays = view.problem.plays
        # An arm that scores below 0 is not played: it comes behind plays that stay empty.
        empty = plays if isinstance(view.promises, PromiseArrays) else 0
        if self.randomness == "samples":
            lines = self.lines(view, constants, memory)
            return best_of_lines(lines, self.distributions(view), plays, empty)
        if self.randomness == "none":
            samples = np.ones(view.awake.size)
            given = samples, view.awake, view.state, view.belief, self.options
            self.known.given(*given, None)
            scores = self.score_with(view, constants, memory, samples)
            return best_of_numbers(scores, plays, empty)
        return None

    def distributions(self, view: DecisionView) -> Distributions:
        """Return how the samples of the awake arms are distributed."""
        if not self.known.regresses:
            return Betas(*posterior(view.state, view.awake, self.options.half_life))
        kind = LogisticNormals if self.known.name == "logistic" else Normals
        moments = [self.moments(view, arm) for arm in view.awake.tolist()]
        locations, deviations = np.array(moments).reshape(-1, 2).T
        narrower = np.sqrt(view.belief.dimensions[view.awake])
        return kind(locations, self.options.width * deviations / narrower)

    def moments(self, view: DecisionView, arm: int) -> tuple[float, float]:
        """Return mean and standard deviation of an arm's linear value in the present context."""
        belief, options, known = view.belief, self.options, self.known
        now = faded(view.state, options.half_life)
        if options.half_life < math.inf:
            follow_epoch(belief, int(view.state.epoch[0]))
            refresh(belief, arm, options, now)
        far = known.noise(view.state, arm, now) * spread(belief, arm, belief.context)
        return location(belief, arm, belief.context), far

    def secrets(self, setup: PolicySetup) -> tuple[Floats, Awake]:
        """Return nature's secrets, which only a simulation can tell."""
        if setup.means is None or setup.awake is None:
            raise InputError(
                f"policy {self.name!r} knows nature's secrets: it can only be simulated"
            )
        return setup.means, setup.awake

    def parameters(self) -> dict[str, Any]:
        """Return the parameters by name."""
        return {field.name: getattr(self, field.name) for field in parameter_fields(type(self))}

    def described(self) -> dict[str, Any]:
        """Return the parameters as settings are stored: newer ones only if they are changed."""
        return plain(
            {
                field.name: getattr(self, field.name)
                for field in parameter_fields(type(self))
                if not field.metadata.get("newer") or getattr(self, field.name) != field.default
            }
        )

    def label(self, also: Collection[str] = ()) -> str:
        """Return the name with the parameters not at their defaults, and those asked for.

        >>> from evenhand.policies import make_policy
        >>> make_policy("tscsf-b", eta=1000, surplus=0).label()
        'tscsf-b eta=1000 surplus=0'
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
        >>> make_policy("tscsf-b").format_parameters(["eta", "surplus"])
        ['eta=10', 'surplus=inf']
        """
        return [f"{name}={format_value(getattr(self, name))}" for name in names]


def promised_score(
    scores: Floats, view: DecisionView, constants: Any, memory: Any, rng: Random
) -> None:
    """Score as for floors alone, then add the bonuses of all other promises."""
    score(scores, view, constants, memory, rng)
    write_bonuses(view, constants, memory)
    add_bonuses(scores, view)


# Stand for the policy's own.
score: Score = promised_score
write_bonuses: Callable[..., None] = notice


@cache
def score_with_promises(own: Score, bonuses: Callable[..., None], sampled: bool) -> Score:
    """Return a scoring function that adds what promises beyond floors add."""
    given: dict[str, Any] = {"write_bonuses": bonuses}
    if not sampled:
        given["add_bonuses"] = interpreted(add_bonuses, estimate=mean_estimate)
    return interpreted(inlined(promised_score, "score", own), **given)


def parameter_fields(policy: type[Policy]) -> list[Field[Any]]:
    """Return the policy's parameters, eta before the others."""
    return sorted(fields(policy), key=lambda field: field.name != "eta")


def plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON knows them: infinity is the word ``"inf"``, which they accept.

    >>> plain({"eta": math.inf, "rewards": "binarised"})
    {'eta': 'inf', 'rewards': 'binarised'}
    """
    return {name: "inf" if value == math.inf else value for name, value in parameters.items()}
