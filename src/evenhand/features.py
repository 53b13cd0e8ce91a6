"""Features: what is known of a round before deciding, declared once and checked every time."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.core.arrays import Floats, frozen
from evenhand.core.checks import (
    NAME_RULE,
    brief,
    check_different,
    check_known,
    check_names,
    fail,
    is_name,
    real,
)
from evenhand.core.toml import toml_string
from evenhand.errors import InputError

INTERCEPT = "intercept"
YES_NO = "yes/no"
CLIP = "clip"
RULE = "(low, high), (low, high, 'clip'), bool or 'yes/no', or a list of categories"


@dataclass(frozen=True)
class Feature(ABC):
    """One declared feature: how a value is checked, and which numbers it becomes."""

    name: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its numbers in an encoded context."""
        return (self.name,)

    @abstractmethod
    def encode(self, value: object) -> tuple[float, ...]:
        """Return the numbers that a value becomes, or raise InputError."""

    @abstractmethod
    def plain(self) -> object:
        """Return the declaration as JSON and TOML know it."""

    def fail(self, rule: str, value: object) -> Any:
        """Raise that a value does not fit."""
        plain = value.item() if isinstance(value, np.generic) else value
        fail(f"feature {self.name!r} of the context", rule, plain)


@dataclass(frozen=True)
class Number(Feature):
    """A number within a range, scaled to [-1, 1]; beyond it is an error, unless it is clipped.

    >>> Number("age", 0.0, 100.0).encode(75)
    (0.5,)
    """

    low: float
    high: float
    clipped: bool = False

    def encode(self, value: object) -> tuple[float, ...]:
        found = value if type(value) is float else real(value)
        if found is None or not math.isfinite(found):
            self.fail("a finite number", value)
        assert found is not None
        if not self.low <= found <= self.high:
            if not self.clipped:
                self.fail(f"in [{self.low:g}, {self.high:g}]", value)
            found = min(max(found, self.low), self.high)
        return (2.0 * ((found - self.low) / (self.high - self.low)) - 1.0,)

    def plain(self) -> object:
        return [self.low, self.high, CLIP] if self.clipped else [self.low, self.high]


@dataclass(frozen=True)
class YesNo(Feature):
    """Yes or no: 1 or -1.

    >>> YesNo("evening").encode(True), YesNo("evening").encode(0)
    ((1.0,), (-1.0,))
    """

    def encode(self, value: object) -> tuple[float, ...]:
        found = float(value) if isinstance(value, bool | np.bool_) else real(value)
        if found not in (0.0, 1.0):
            self.fail("True or False", value)
        return (1.0,) if found == 1.0 else (-1.0,)

    def plain(self) -> object:
        return YES_NO


@dataclass(frozen=True)
class Category(Feature):
    """One of some named categories: a 1 in its column, 0 in the others.

    An array gives the index of the category in the order of declaration.

    >>> Category("country", ("de", "fr", "it")).encode("fr")
    (0.0, 1.0, 0.0)
    """

    categories: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(f"{self.name}={category}" for category in self.categories)

    def encode(self, value: object) -> tuple[float, ...]:
        if not isinstance(value, str) or value not in self.categories:
            self.fail(f"one of {', '.join(map(repr, self.categories))}", value)
        return tuple(float(value == category) for category in self.categories)

    def at(self, index: object) -> str:
        """Return the category of an index."""
        found = real(index)
        if found is None or found not in range(len(self.categories)):
            self.fail(f"the index of a category, 0 to {len(self.categories) - 1}", index)
        assert found is not None
        return self.categories[int(found)]

    def plain(self) -> object:
        return list(self.categories)


class Features(Mapping[str, Feature]):
    """The declared features of a problem, by name, in their order.

    An encoded context has an intercept, which is always 1, and the numbers of every feature.

    Parameters
    ----------
    declared
        A mapping from names to ``(low, high)``, a number scaled to [-1, 1], where a value beyond
        the range is an error; ``(low, high, "clip")``, where it counts as the nearest one in the
        range; ``bool`` or ``"yes/no"``; or a list of two or more categories.

    Examples
    --------
    >>> features = Features({"age": (0, 100), "evening": bool, "country": ["de", "fr"]})
    >>> features.columns
    ('intercept', 'age', 'evening', 'country=de', 'country=fr')
    >>> features.encode({"age": 25, "evening": True, "country": "fr"})
    array([ 1. , -0.5,  1. ,  0. ,  1. ])
    >>> features.encode([25, 1, 1])
    array([ 1. , -0.5,  1. ,  0. ,  1. ])
    """

    def __init__(self, declared: object = ()) -> None:
        given = {} if declared == () else declared
        if not isinstance(given, Mapping):
            fail("features", "a mapping from names to declarations", declared)
        self._features = {name: _declared(name, how) for name, how in given.items()}
        self._in_order = tuple(self._features.values())
        numbers = [one for one in self._in_order if isinstance(one, Number)]
        self._only_numbers = len(numbers) == len(self._in_order)
        self._lows = np.array([one.low for one in numbers])
        self._highs = np.array([one.high for one in numbers])
        self.columns = (INTERCEPT, *(c for feature in self.values() for c in feature.columns))
        check_different("columns of features", self.columns)
        owned = (name for name, feature in self.items() for _ in feature.columns)
        self.owners = (INTERCEPT, *owned)

    def __getitem__(self, name: str) -> Feature:
        return self._features[name]

    def __iter__(self) -> Any:
        return iter(self._features)

    def __len__(self) -> int:
        return len(self._features)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Features) and [*self.values()] == [*other.values()]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Features({self.plain()})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Features, (self.plain(),)

    def encode(self, context: object) -> Floats:
        """Return a context as numbers, or raise InputError.

        A context is a mapping from the names of all features to values, or a list or array of
        numbers in the declared order: 0 or 1 for yes/no, its index for a category.
        """
        if not self._in_order:
            if context is None:
                return ONLY_INTERCEPT
            fail("context", "left out: the problem has no features", context)
        if context is None:
            fail("context", f"given: the problem has the features {', '.join(self)}", context)
        if type(context) is np.ndarray and self._only_numbers and self._all_in_range(context):
            parts = (context - self._lows) / (self._highs - self._lows)
            return np.concatenate([ONLY_INTERCEPT, 2.0 * parts - 1.0])
        values = self._named(context) if isinstance(context, Mapping) else self._listed(context)
        numbers = [1.0]
        for feature, value in zip(self._in_order, values, strict=True):
            numbers += feature.encode(value)
        return np.array(numbers)

    def _all_in_range(self, context: Floats) -> bool:
        """Say whether an array has a number for each feature, and all are in their ranges."""
        if context.shape != self._lows.shape or context.dtype != np.float64:
            return False
        return bool(((context >= self._lows) & (context <= self._highs)).all())

    def _named(self, context: Mapping[Any, Any]) -> list[Any]:
        """Return the values of a mapping in the declared order."""
        if context.keys() == self._features.keys():
            return [context[name] for name in self._features]
        check_known("feature of the context", context, self._features)
        for name in self:
            if name not in context:
                raise InputError(
                    f"feature {name!r} of the context must be given, got none",
                    thing=f"feature {name!r} of the context",
                    rule="given",
                    value="none",
                )
        return [context[name] for name in self]

    def _listed(self, context: object) -> list[Any]:
        """Return the values of a list or an array, with categories by name."""
        if isinstance(context, str | bytes) or not isinstance(context, Sequence | np.ndarray):
            fail("context", "a mapping from features to values, or an array", context)
        values = context.tolist() if isinstance(context, np.ndarray) else list(context)
        if not isinstance(values, list) or len(values) != len(self):
            size = len(values) if isinstance(values, list) else "one"
            fail("context", f"one number for each of {len(self)} features", f"{size} numbers")
        pairs = zip(self._in_order, values, strict=True)
        return [
            feature.at(value) if type(feature) is Category else value for feature, value in pairs
        ]

    def plain_context(self, context: object) -> dict[str, Any]:
        """Return a context as JSON and TOML know it, without what is no feature.

        >>> Features({"age": (0, 100), "country": ["de", "fr"]}).plain_context(np.array([30, 1]))
        {'age': 30.0, 'country': 'fr'}
        """
        if isinstance(context, Mapping):
            values = [context[name] for name in self]
        else:
            values = self._listed(context)
        pairs = zip(self._in_order, values, strict=True)
        return {one.name: PLAIN[type(one)](value) for one, value in pairs}

    def plain(self) -> dict[str, Any]:
        """Return the declarations as JSON and TOML know them."""
        return {name: feature.plain() for name, feature in self.items()}

    def to_toml(self) -> list[str]:
        """Return the lines of a ``[features]`` table; none without features."""
        if not self:
            return []
        return ["", "[features]", *(f"{toml_string(n)} = {_toml(f)}" for n, f in self.items())]


ONLY_INTERCEPT = frozen(np.ones(1))
PLAIN: dict[type[Feature], Any] = {Number: float, YesNo: bool, Category: str}


def _declared(name: object, how: object) -> Feature:
    """Return a feature as declared, or raise InputError."""
    if not is_name(name) or name == INTERCEPT:
        fail("name of a feature", f"{NAME_RULE}, but not {INTERCEPT!r}", name)
    thing = f"feature {name!r}"
    if how is bool or how == YES_NO:
        return YesNo(str(name))
    if isinstance(how, np.ndarray):
        how = how.tolist()
    if not isinstance(how, list | tuple) or not how:
        fail(thing, RULE, how)
    if isinstance(how[0], str):
        categories = check_names(f"categories of {thing}", how)
        if len(categories) < 2:
            fail(f"categories of {thing}", "at least two", categories)
        return Category(str(name), categories)
    numbers = [real(end) for end in how[:2]]
    if len(how) not in (2, 3) or (len(how) == 3 and how[2] != CLIP) or None in numbers:
        fail(thing, RULE, how)
    low, high = numbers
    assert low is not None
    assert high is not None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        fail(f"range of {thing}", "two finite numbers, the lower one first", how)
    if not math.isfinite(high - low):
        fail(f"range of {thing}", "narrower than the largest number", brief(how))
    return Number(str(name), low, high, len(how) == 3)


def _toml(feature: Feature) -> str:
    """Return a declaration as TOML writes it."""
    plain = feature.plain()
    parts = plain if isinstance(plain, list) else [plain]
    words = [toml_string(part) if isinstance(part, str) else repr(part) for part in parts]
    return f"[{', '.join(words)}]" if isinstance(plain, list) else words[0]
