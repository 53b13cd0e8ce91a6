r"""Promises: at least, at most or exactly so much for some arms, in plays or in reward.

A promise is one or two *rows*, one for each side. Row j has a sign (1: at least, -1: at most), a
bound b_j and members; with c_ji = 1 for a member of a promise of plays, and its weighted mean
w_i u_i for a promise of reward, it asks for

.. math:: \text{sign}_j \sum_i c_{ji} x_i \ge \text{sign}_j b_j

of the rates x. A floor is such a row, too; the arrays of floors stand apart, since most problems
have nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evenhand.core.arrays import Floats, Integers, Masks, frozen
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
from evenhand.core.promises import PromiseArrays
from evenhand.core.state import NoPromises
from evenhand.core.toml import toml_string
from evenhand.errors import InputError

Unit: TypeAlias = Literal["plays", "reward"]
ALL = "all"
FEW_NAMES = 3
KEYS = ("name", "arms", "at_least", "at_most", "exactly", "of", "surplus")
AT_LEAST, AT_MOST = 1.0, -1.0


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
    _check_bounds(arms, found)
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


def _check_bounds(arms: Sequence[str], promises: Sequence[Promise]) -> None:
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


class Row(NamedTuple):
    """One side of a promise, as it stands among the rows of a problem.

    ``promise`` is its name, and ``words`` what messages call it.
    """

    promise: str
    words: str
    members: Integers
    sign: float
    bound: float
    reward: bool
    surplus: float | None


class Rows(NamedTuple):
    """All rows of a problem beyond its floors, as arrays; ``members`` has a line a row.

    ``surplus`` is not a number where that of the policy counts.
    """

    names: tuple[str, ...]
    words: tuple[str, ...]
    members: Masks
    sign: Floats
    bound: Floats
    reward: Masks
    surplus: Floats

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.names)

    def entries(self, number: int, values: Floats) -> tuple[NDArray[np.int32], Floats]:
        """Return the arms of a row, and its coefficients where plays earn these values."""
        arms = np.flatnonzero(self.members[number]).astype(np.int32)
        return arms, values[arms] if self.reward[number] else np.ones(arms.size)

    def take(self, where: Any) -> Rows:
        """Return some of the rows."""
        chosen = np.arange(self.size)[where]
        names, words = (tuple(part[i] for i in chosen) for part in (self.names, self.words))
        return Rows(names, words, *(array[chosen] for array in self[2:]))


def rows_of(arms: Sequence[str], ceilings: Floats, promises: Sequence[Promise]) -> Rows:
    """Return the rows of ceilings below 1, then of promises: what is at least first.

    >>> rows = rows_of(("a", "b"), np.array([1.0, 0.4]), [Promise("all", exactly=0.5)])
    >>> rows.words, rows.sign.tolist()
    (("'b'", "'all arms'", "'all arms'"), [-1.0, 1.0, -1.0])
    """
    position = {arm: index for index, arm in enumerate(arms)}
    rows = [
        Row(
            f"ceiling of {arms[i]}", repr(arms[i]), np.array([i]), AT_MOST, float(ceilings[i]),
            False, None,
        )
        for i in np.flatnonzero(ceilings < 1.0).tolist()
    ]  # fmt: skip
    for promise in promises:
        members = np.array([position[arm] for arm in promise.names(arms)], dtype=np.int64)
        for sign, bound in ((AT_LEAST, promise.at_least), (AT_MOST, promise.at_most)):
            if bound is not None:
                reward, name = promise.of == "reward", promise.label
                row = Row(name, repr(name), members, sign, bound, reward, promise.surplus)
                rows.append(row)
    return stacked(rows, len(arms))


def floor_rows(arms: Sequence[str], floors: Floats) -> Rows:
    """Return the rows of floors above 0."""
    rows = [
        Row(f"floor of {arms[i]}", f"the floor of {arms[i]!r}", np.array([i]), AT_LEAST,
            float(floors[i]), False, None)
        for i in np.flatnonzero(floors > 0.0).tolist()
    ]  # fmt: skip
    return stacked(rows, len(arms))


def stacked(rows: Sequence[Row], arms: int) -> Rows:
    """Return rows as arrays."""
    members = np.zeros((len(rows), arms), dtype=np.bool_)
    for number, row in enumerate(rows):
        members[number, row.members] = True
    surplus = [math.nan if row.surplus is None else row.surplus for row in rows]
    return Rows(
        tuple(row.promise for row in rows),
        tuple(row.words for row in rows),
        frozen(members),
        frozen(np.array([row.sign for row in rows])),
        frozen(np.array([row.bound for row in rows])),
        frozen(np.array([row.reward for row in rows], dtype=np.bool_)),
        frozen(np.array(surplus)),
    )


def joined(first: Rows, second: Rows) -> Rows:
    """Return the rows of both."""
    arrays = (np.concatenate(pair) for pair in zip(first[2:], second[2:], strict=True))
    return Rows(first.names + second.names, first.words + second.words, *arrays)


def arrays_of(rows: Rows, weights: Floats, surplus: float) -> PromiseArrays | NoPromises:
    """Return rows as a round knows them, before the first one; ``surplus`` is the policy's.

    That is in plays; for a promise of reward, as many times the largest weight of its arms.
    """
    count = rows.size
    if not count:
        return NoPromises()
    units = np.where(rows.reward, np.max(np.where(rows.members, weights, 0.0), axis=1), 1.0)
    own = np.where(units > 0.0, surplus * np.where(units > 0.0, units, 1.0), surplus)
    arms, where = np.nonzero(rows.members.T)
    first = np.searchsorted(arms, np.arange(weights.size + 1))
    since, promised, begun, debts, delivered, had, bonuses = np.zeros((7, count))
    return PromiseArrays(
        rows.sign,
        rows.bound,
        rows.reward,
        frozen(np.where(np.isnan(rows.surplus), own, rows.surplus)),
        frozen(since),
        frozen(promised),
        frozen(begun),
        frozen(first.astype(np.int64)),
        frozen(where.astype(np.int64)),
        weights,
        debts,
        delivered,
        had,
        bonuses,
    )
