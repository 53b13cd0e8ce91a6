"""What a learner may know: the arms, how many may be played, their weights and floors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from evenhand.core.arrays import Floats, frozen
from evenhand.core.checks import WEIGHT, check_names, check_per_arm, check_whole, fail
from evenhand.core.state import ProblemArrays
from evenhand.core.toml import ARM_KEYS, arm_tables, parse_toml, toml_string
from evenhand.errors import InputError

__all__ = ["Problem"]


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

    Examples
    --------
    >>> problem = Problem(["news", "sport", "arts"], plays=2, floors=[0.5, 0.6, 0.4])
    >>> problem.weights
    array([1., 1., 1.])
    >>> Problem(["news", "sport", "arts"], plays=2, floors={"sport": 0.6}).floors
    array([0. , 0.6, 0. ])
    >>> Problem.from_toml(problem.to_toml()) == problem
    True
    """

    arms: tuple[str, ...]
    plays: int
    weights: Floats
    floors: Floats

    def __init__(
        self, arms: Iterable[str] | int, plays: int, weights: object = 1.0, floors: object = 0.0
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

    @classmethod
    def of_arms_left(
        cls, arms: Sequence[str], plays: int, weights: object, floors: object
    ) -> Problem:
        """Return the problem of the arms that take part now: as others retired, maybe fewer.

        >>> Problem.of_arms_left(("news",), 2, 1.0, 0.0).plays
        2
        """
        plays = check_whole("plays", plays, least=1)
        problem = cls(arms, min(plays, len(arms)), weights, floors)
        object.__setattr__(problem, "plays", plays)
        return problem

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Problem)
            and self.arms == other.arms
            and self.plays == other.plays
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.floors, other.floors)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by construction: arrays that are unpickled would no longer be read-only."""
        return Problem.of_arms_left, (self.arms, self.plays, self.weights, self.floors)

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
        """Read ``plays`` and the ``[[arms]]`` tables (name, floor, weight) of a TOML text."""
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
        )

    def to_toml(self) -> str:
        """Write the problem so that :meth:`from_toml` gives it back exactly."""
        lines = [f"plays = {self.plays}"]
        for arm, weight, floor in zip(self.arms, self.weights, self.floors, strict=True):
            lines += [
                "",
                "[[arms]]",
                f"name = {toml_string(arm)}",
                f"floor = {float(floor)!r}",
                f"weight = {float(weight)!r}",
            ]
        return "\n".join(lines) + "\n"
