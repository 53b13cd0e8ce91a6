"""What a learner may know: the arms, how many may be played, their weights, and the promises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from evenhand.conflicts import check_possible
from evenhand.core.arrays import Floats, frozen
from evenhand.core.checks import (
    WEIGHT,
    Limits,
    check_known,
    check_names,
    check_number,
    check_per_arm,
    check_tables,
    check_whole,
    fail,
)
from evenhand.core.schema import new
from evenhand.core.state import ProblemArrays, State
from evenhand.core.toml import ARM_KEYS, arm_tables, parse_toml, toml_string
from evenhand.errors import InputError
from evenhand.features import Features
from evenhand.promise_rows import Rows, rows_of
from evenhand.promises import Promise, check_bounds, check_promises

__all__ = ["Problem", "Promise"]

_COUNT = Limits(0.0, 1e12)


@dataclass(frozen=True, eq=False)
class Problem:
    r"""Arms that can be played, at most ``plays`` a round, each with a weight and a floor.

    Parameters
    ----------
    arms
        The arms' names, all different; a whole number N stands for the names "1" to "N".
    plays
        At most how many arms are played in a round (m in the paper); at most the number of arms.
    weights
        Known value of one unit of an arm's reward (w_i), in [0, 1e100], so that no sum of squares
        overflows: one for each arm, a number for all, or a mapping from names (others have 1).
    floors
        Promised long-run fraction of rounds in which the arm is played (k_i), in [0, 1]: one for
        each arm, a number for all, or a mapping from names (others have 0).
    features
        What is known of a round before deciding, see :class:`~evenhand.Features`; every decision
        has a context then.
    priors
        What is known of rewards before the first one: a mapping from names to ``(mean, count)``,
        as if so many rewards of that mean had been seen.
    ceilings
        The most that an arm may be played, as a fraction of rounds in [0, 1]; 1 is no ceiling.
    promises
        What is promised beyond that: a list of :class:`~evenhand.Promise`.
    allow_impossible
        Whether promises may be made that do not fit even if all arms are always awake. What is
        missing is shared then; otherwise they are refused.

    Raises
    ------
    InfeasiblePromises
        If the promises do not fit even if all arms are always awake, with the certificate.

    Examples
    --------
    >>> problem = Problem(["news", "sport", "arts"], plays=2, floors=[0.5, 0.6, 0.4])
    >>> problem.weights
    array([1., 1., 1.])
    >>> Problem(["news", "sport", "arts"], plays=2, floors={"sport": 0.6}).floors
    array([0. , 0.6, 0. ])
    >>> Problem.from_toml(problem.to_toml()) == problem
    True
    >>> personal = Problem(["news", "arts"], plays=1, features={"age": (0, 100)})
    >>> personal.features.encode({"age": 75})
    array([1. , 0.5])
    >>> local = Promise(["farm", "dairy"], at_least=0.4, name="local")
    >>> Problem(["farm", "dairy", "mall"], plays=1, ceilings={"farm": 0.2, "dairy": 0.15},
    ...         promises=[local])
    Traceback (most recent call last):
    ...
    evenhand.errors.InfeasiblePromises: The promises cannot all be kept: 'local' needs 0.4 plays
    a round, but its arms may have at most 0.35: 'farm' at most 0.2, 'dairy' at most 0.15.
    """

    arms: tuple[str, ...]
    plays: int
    weights: Floats
    floors: Floats
    features: Features
    priors: dict[str, tuple[float, float]]
    ceilings: Floats
    promises: tuple[Promise, ...]
    allow_impossible: bool

    def __init__(
        self,
        arms: Iterable[str] | int,
        plays: int,
        weights: object = 1.0,
        floors: object = 0.0,
        features: object = (),
        priors: object = (),
        ceilings: object = 1.0,
        promises: object = (),
        *,
        allow_impossible: bool = False,
    ) -> None:
        if isinstance(arms, Integral):
            arms = [str(1 + i) for i in range(check_whole("arms", arms, least=1))]
        arms = check_names("arms", arms)
        if not arms:
            fail("arms", "at least one", "none")
        object.__setattr__(self, "arms", arms)
        plays = check_whole("plays", plays, least=1)
        if plays > len(arms):
            fail("plays", f"at most the number of arms, {len(arms)}", plays)
        object.__setattr__(self, "plays", plays)
        weights = check_per_arm("weight", arms, weights, WEIGHT, missing=1.0)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "floors", check_per_arm("floor", arms, floors, missing=0.0))
        declared = features if isinstance(features, Features) else Features(features)
        object.__setattr__(self, "features", declared)
        object.__setattr__(self, "priors", _check_priors(arms, priors))
        object.__setattr__(self, "ceilings", check_per_arm("ceiling", arms, ceilings, missing=1.0))
        object.__setattr__(self, "promises", check_promises(arms, promises))
        if not isinstance(allow_impossible, bool):
            fail("allow_impossible", "true or false", allow_impossible)
        object.__setattr__(self, "allow_impossible", allow_impossible)
        if not allow_impossible:
            self.check_possible()

    def check_possible(self) -> None:
        """Raise InfeasiblePromises if promises do not fit even if all arms are always awake.

        InputError if two of them contradict each other on the same arms.
        """
        for i in np.flatnonzero(self.ceilings < self.floors).tolist():
            rule = f"at least its floor, {self.floors[i]:g}"
            fail(f"ceiling of arm {self.arms[i]!r}", rule, float(self.ceilings[i]))
        check_bounds(self.arms, self.promises)
        check_possible(self.arms, self.plays, self.weights, self.floors, self.rows)

    @cached_property
    def rows(self) -> Rows:
        """Everything that is promised beyond the floors, one row for each side of a promise."""
        return rows_of(self.arms, self.ceilings, self.promises)

    @classmethod
    def of_arms_left(
        cls,
        arms: Sequence[str],
        plays: int,
        weights: object,
        floors: object,
        features: object = (),
        priors: object = (),
        ceilings: object = 1.0,
        promises: object = (),
        allow_impossible: bool = False,
    ) -> Problem:
        """Return the problem of the arms that take part now: as others retired, maybe fewer.

        Whether all promises can still be kept is not checked.

        >>> Problem.of_arms_left(("news",), 2, 1.0, 0.0).plays
        2
        """
        plays = check_whole("plays", plays, least=1)
        given = weights, floors, features, priors, ceilings, promises
        problem = cls(arms, min(plays, len(arms)), *given, allow_impossible=True)
        object.__setattr__(problem, "plays", plays)
        object.__setattr__(problem, "allow_impossible", allow_impossible)
        return problem

    def with_arms(self, arms: Sequence[str], **changes: Any) -> Problem:
        """Return the problem with other arms, and with other ``weights``, ``floors`` and so on.

        Those that stay keep their priors, and promises the arms that stay; ``priors`` are added.

        >>> Problem(["a", "b"], plays=1).with_arms(["b"], weights=2.0, floors=0.0).weights
        array([2.])
        """
        known = {**self.priors, **changes.pop("priors", {})}
        left = (promise.with_arms(arms) for promise in changes.pop("promises", self.promises))
        columns: dict[str, Any] = {
            "weights": self.weights,
            "floors": self.floors,
            "ceilings": self.ceilings,
        }
        if tuple(arms) != self.arms:
            there = set(arms)
            columns = {
                name: {arm: x for arm, x in self.by_arm(column).items() if arm in there}
                for name, column in columns.items()
            }
        given = {
            "plays": self.plays,
            **columns,
            "features": self.features,
            **changes,
            "priors": {arm: known[arm] for arm in arms if arm in known},
            "promises": [promise for promise in left if promise is not None],
            "allow_impossible": self.allow_impossible,
        }
        return self.of_arms_left(arms, **given)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Problem)
            and self.arms == other.arms
            and self.plays == other.plays
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.floors, other.floors)
            and self.features == other.features
            and self.priors == other.priors
            and np.array_equal(self.ceilings, other.ceilings)
            and self.promises == other.promises
            and self.allow_impossible == other.allow_impossible
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by construction: arrays that are unpickled would no longer be read-only."""
        given = self.arms, self.plays, self.weights, self.floors, self.features, self.priors
        beyond = self.ceilings, self.promises, self.allow_impossible
        return Problem.of_arms_left, (*given, *beyond)

    def first_state(self) -> State:
        """Return what happened before the first round: nothing, but what the priors stand for.

        >>> Problem(["a", "b"], plays=1, priors={"b": (0.25, 8)}).first_state().reward_sums
        array([0., 2.])
        """
        state = new(State, len(self.arms))
        for arm, (mean, count) in self.priors.items():
            state.feedbacks[self.arms.index(arm)] = count
            state.reward_sums[self.arms.index(arm)] = mean * count
        return state

    @staticmethod
    def check_prior(arm: str, given: object) -> tuple[float, float]:
        """Return the prior of one arm, or raise InputError."""
        return _check_prior(arm, given)

    @property
    def arrays(self) -> ProblemArrays:
        """The numbers alone, of arms that were there from the beginning."""
        none = frozen(np.zeros(len(self.arms)))
        paused = frozen(np.zeros(len(self.arms), dtype=np.bool_))
        return ProblemArrays(self.plays, self.weights, self.floors, none, none, none, paused)

    def by_arm(self, values: Floats) -> dict[str, float]:
        """Name one number per arm.

        >>> Problem(["a", "b"], plays=1).by_arm(np.array([0.25, 0.75]))
        {'a': 0.25, 'b': 0.75}
        """
        return dict(zip(self.arms, values.tolist(), strict=True))

    @classmethod
    def from_toml(cls, text: str) -> Problem:
        """Read ``plays``, ``[features]``, ``[[arms]]`` and ``[[promises]]`` of a TOML text.

        An arm has a name, and may have a floor, a ceiling, a weight and a prior.
        """
        table = parse_toml(text)
        return cls.from_arms(table, arm_tables(table, ARM_KEYS))

    @classmethod
    def from_arms(cls, table: Mapping[str, Any], arms: Sequence[Mapping[str, Any]]) -> Problem:
        """Read a parsed file, of which the arms' tables have been checked."""
        if "plays" not in table:
            raise InputError("the file must say plays, at most how many arms are played in a round")
        return cls(
            [arm["name"] for arm in arms],
            table["plays"],
            weights=[arm.get("weight", 1.0) for arm in arms],
            floors=[arm.get("floor", 0.0) for arm in arms],
            features=table.get("features", {}),
            priors={arm["name"]: arm["prior"] for arm in arms if "prior" in arm},
            ceilings=[arm.get("ceiling", 1.0) for arm in arms],
            promises=check_tables("promises", table.get("promises", [])),
            allow_impossible=table.get("allow_impossible", False),
        )

    def to_toml(self) -> str:
        """Write the problem so that :meth:`from_toml` gives it back exactly."""
        lines = [f"plays = {self.plays}"]
        if self.allow_impossible:
            lines.append("allow_impossible = true")
        lines += self.features.to_toml()
        columns = self.arms, self.weights, self.floors, self.ceilings
        for arm, weight, floor, ceiling in zip(*columns, strict=True):
            lines += [
                "",
                "[[arms]]",
                f"name = {toml_string(arm)}",
                f"floor = {float(floor)!r}",
                f"weight = {float(weight)!r}",
            ]
            if ceiling < 1.0:
                lines.append(f"ceiling = {float(ceiling)!r}")
            if arm in self.priors:
                lines.append(f"prior = {list(self.priors[arm])!r}")
        for promise in self.promises:
            lines += promise.to_toml()
        return "\n".join(lines) + "\n"


def _check_priors(arms: Sequence[str], given: object) -> dict[str, tuple[float, float]]:
    """Return what is known of arms before the first reward, or raise InputError.

    >>> _check_priors(("a", "b"), {"b": [0.3, 20]})
    {'b': (0.3, 20.0)}
    """
    given = {} if given == () else given
    if not isinstance(given, Mapping):
        fail("priors", "a mapping from arms to (mean, count)", given)
    check_known("arm with a prior", given, arms)
    return {arm: _check_prior(arm, given[arm]) for arm in arms if arm in given}


def _check_prior(arm: str, given: object) -> tuple[float, float]:
    """Return the prior of one arm, or raise InputError."""
    if not isinstance(given, list | tuple) or len(given) != 2:
        fail(f"prior of arm {arm!r}", "(mean, count)", given)
    mean = check_number(f"mean of the prior of arm {arm!r}", given[0])
    return mean, check_number(f"count of the prior of arm {arm!r}", given[1], _COUNT)
