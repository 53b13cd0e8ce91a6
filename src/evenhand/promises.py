"""Promises: at least, at most or exactly so much for some arms, in plays or in reward."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from evenhand.core.checks import (
    NAME_RULE,
    WEIGHT,
    brief,
    check_choice,
    check_different,
    check_known,
    check_names,
    check_number,
    fail,
    is_name,
    real,
)
from evenhand.core.toml import toml_string
from evenhand.errors import InputError

Unit: TypeAlias = Literal["plays", "reward"]
ALL = "all"
FEW_NAMES = 3
KEYS = ("name", "arms", "at_least", "at_most", "exactly", "of", "surplus")


@dataclass(frozen=True, init=False)
class Promise:
    """At least, at most or exactly so much a round for some arms together.

    Parameters
    ----------
    arms
        The names of the arms, or ``"all"`` for all of them, also those that join later.
    at_least, at_most
        Bounds a round: in plays, or in weighted reward. One of them, or both.
    exactly
        Both bounds at once.
    of
        ``"plays"``, or ``"reward"``: the rewards of the arms times their weights.
    name
        What it is called; made from the arms if left out.
    surplus
        How far ahead of the bound is remembered, in the unit of the bound: a small number keeps the
        promise in every stretch of time, infinity in the long run. Left out, the policy's surplus.

    Examples
    --------
    >>> Promise(["farm", "dairy"], at_least=0.2, name="local")
    Promise(arms=('farm', 'dairy'), at_least=0.2, at_most=None, of='plays', name='local')
    >>> Promise(["control"], exactly=0.1).at_most
    0.1
    """

    arms: tuple[str, ...] | str
    at_least: float | None
    at_most: float | None
    of: Unit
    name: str
    surplus: float | None

    def __init__(
        self,
        arms: Iterable[str] | str,
        at_least: float | None = None,
        at_most: float | None = None,
        exactly: float | None = None,
        of: Unit = "plays",
        name: str | None = None,
        surplus: float | None = None,
    ) -> None:
        members = _check_members(arms)
        if name is not None and not is_name(name):
            fail("name of a promise", NAME_RULE, name)
        unit: Any = check_choice("'of' of a promise", of, ("plays", "reward"))
        called = _default_name(members, unit) if name is None else name
        thing = f"promise {called!r}"
        if exactly is not None:
            if at_least is not None or at_most is not None:
                fail(thing, "given by exactly, or by at_least and at_most", "both")
            at_least = at_most = exactly
        low = None if at_least is None else check_number(f"at_least of {thing}", at_least, WEIGHT)
        high = None if at_most is None else check_number(f"at_most of {thing}", at_most, WEIGHT)
        if low is None and high is None:
            fail(thing, "one with at_least, at_most or exactly", "none of them")
        if low is not None and high is not None and low > high:
            fail(f"at_least of {thing}", f"at most its at_most, {high:g}", low)
        for key, value in (
            ("arms", members),
            ("at_least", low),
            ("at_most", high),
            ("of", unit),
            ("name", name or ""),
            ("surplus", _check_surplus(thing, surplus)),
        ):
            object.__setattr__(self, key, value)

    def __repr__(self) -> str:
        parts = [f"{key}={getattr(self, key)!r}" for key in ("arms", "at_least", "at_most", "of")]
        parts.append(f"name={self.label!r}")
        if self.surplus is not None:
            parts.append(f"surplus={self.surplus!r}")
        return f"Promise({', '.join(parts)})"

    @property
    def label(self) -> str:
        """The name, or one made from the arms.

        >>> Promise(["a", "b", "c", "d", "e"], at_most=0.5).label
        'a + b + 3 others'
        """
        return self.name or _default_name(self.arms, self.of)

    def names(self, arms: Sequence[str]) -> tuple[str, ...]:
        """Return its arms, of all those there are."""
        return tuple(arms) if isinstance(self.arms, str) else self.arms

    def with_arms(self, arms: Iterable[str]) -> Promise | None:
        """Return the promise for those of its arms that are left; None if none are."""
        if isinstance(self.arms, str):
            return self
        there = set(arms)
        left = tuple(arm for arm in self.arms if arm in there)
        return self._with(arms=left) if left else None

    def joined_by(self, arms: Iterable[str]) -> Promise:
        """Return the promise with more arms."""
        if isinstance(self.arms, str):
            return self
        return self._with(arms=(*self.arms, *(arm for arm in arms if arm not in self.arms)))

    def _with(self, **changes: Any) -> Promise:
        copy = object.__new__(Promise)
        for key in ("arms", "at_least", "at_most", "of", "name", "surplus"):
            object.__setattr__(copy, key, changes.get(key, getattr(self, key)))
        return copy

    def plain(self) -> dict[str, Any]:
        """Return the promise as a table of a file."""
        exact = self.at_least == self.at_most
        bounds = {"exactly": self.at_least} if exact else {
            "at_least": self.at_least, "at_most": self.at_most
        }  # fmt: skip
        found: dict[str, Any] = {
            "name": self.label,
            "arms": self.arms if isinstance(self.arms, str) else list(self.arms),
            **{key: value for key, value in bounds.items() if value is not None},
        }
        if self.of != "plays":
            found["of"] = self.of
        if self.surplus is not None:
            found["surplus"] = "inf" if self.surplus == math.inf else self.surplus
        return found

    def to_toml(self) -> list[str]:
        """Return the promise as the lines of a ``[[promises]]`` table."""
        lines = ["", "[[promises]]"]
        for key, value in self.plain().items():
            shown = repr(value)
            if isinstance(value, str):
                shown = toml_string(value)
            elif isinstance(value, list):
                shown = f"[{', '.join(map(toml_string, value))}]"
            lines.append(f"{key} = {shown}")
        return lines


def check_promises(arms: Sequence[str], given: object) -> tuple[Promise, ...]:
    """Return promises with different names, of known arms; tables of a file will do.

    >>> check_promises(("a", "b"), [{"arms": ["b"], "exactly": 0.1}])[0].name
    'b'
    """
    listed = [given] if isinstance(given, Promise | Mapping) else given
    if isinstance(listed, str) or not isinstance(listed, Iterable):
        fail("promises", "a list of promises", given)
    promises, there = [_promise(one) for one in listed], dict.fromkeys(arms)
    for promise in promises:
        check_known(f"arm of promise {promise.label!r}", promise.names(arms), there)
    check_different("promises", (promise.name for promise in promises if promise.name))
    taken = {promise.name for promise in promises}
    found = []
    for promise in promises:
        name, number = promise.label, 1
        while not promise.name and name in taken:
            number += 1
            name = f"{promise.label} ({number})"
        taken.add(name)
        found.append(promise._with(name=name))
    for promise in found:
        kind, _, arm = promise.name.partition(" of ")
        if kind in ("floor", "ceiling") and arm in there:
            fail("name of a promise", "not that of an arm's floor or ceiling", promise.name)
    return tuple(found)


def _promise(given: object) -> Promise:
    if isinstance(given, Promise):
        return given
    if not isinstance(given, Mapping):
        fail("promise", "a Promise, or a table of one", given)
    check_known("key of a promise", given, KEYS)
    if "arms" not in given:
        raise InputError(f"promise {brief(given.get('name', ''))} must have arms")
    return Promise(**given)


def _check_members(given: object) -> tuple[str, ...] | str:
    if isinstance(given, str):
        if given != ALL:
            fail("arms of a promise", "a list of names, or 'all'", given)
        return ALL
    members = check_names("arms of a promise", given)
    if not members:
        fail("arms of a promise", "at least one", "none")
    return members


def _check_surplus(thing: str, given: object) -> float | None:
    if given is None:
        return None
    found = math.inf if isinstance(given, str) and given == "inf" else real(given)
    if found is None or not found >= 0.0:
        fail(f"surplus of {thing}", "a number of at least 0, or inf", given)
    return found


def check_bounds(arms: Sequence[str], promises: Sequence[Promise]) -> None:
    """Refuse promises of the same arms that contradict each other."""
    sides: dict[object, tuple[float, str, float, str]] = {}
    for promise in promises:
        key = frozenset(promise.names(arms)), promise.of
        low, lower, high, higher = sides.get(key, (0.0, "", math.inf, ""))
        if promise.at_least is not None and promise.at_least > low:
            low, lower = promise.at_least, promise.name
        if promise.at_most is not None and promise.at_most < high:
            high, higher = promise.at_most, promise.name
        if low > high:
            rule = f"at most the at_most of promise {higher!r} of the same arms, {high:g}"
            fail(f"at_least of promise {lower!r}", rule, low)
        sides[key] = low, lower, high, higher


def _default_name(arms: Sequence[str] | str, of: Unit) -> str:
    if isinstance(arms, str):
        words = "all arms"
    else:
        shown = arms if len(arms) <= FEW_NAMES else arms[: FEW_NAMES - 1]
        others = [f"{len(arms) - len(shown)} others"] if len(shown) < len(arms) else []
        words = " + ".join([*shown, *others])
    return words if of == "plays" else f"reward of {words}"
