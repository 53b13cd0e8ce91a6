"""What an arm returns as a function of the context: linear, logistic, or by category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from evenhand.core.arrays import Floats, Masks, frozen
from evenhand.core.checks import check_known, check_number, fail, located, real
from evenhand.core.contexts import ContextArrays
from evenhand.features import INTERCEPT, Category, Features, Number, YesNo

YES, NO = "yes", "no"
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class LinearMean:
    """A mean reward that is linear in the encoded context, and in [0, 1] for every context.

    Parameters
    ----------
    coefficients
        A mapping from ``"intercept"`` and the columns of features to numbers (0 for the others), or
        a number for every column in their order. The columns of a category are ``country=de`` and
        so on.

    Examples
    --------
    >>> LinearMean({"intercept": 0.5, "age": -0.2}).row(Features({"age": (0, 100)}))
    array([ 0.5, -0.2])
    """

    coefficients: Any

    def row(self, features: Features) -> Floats:
        """Return a coefficient for every column, or raise InputError."""
        given, columns = self.coefficients, features.columns
        if isinstance(given, Mapping):
            check_known("column with a coefficient", given, columns)
            given = [given.get(column, 0.0) for column in columns]
        if isinstance(given, np.ndarray):
            given = given.tolist()
        if not isinstance(given, list | tuple) or len(given) != len(columns):
            rule = f"a mapping from columns, or one for each of {', '.join(columns)}"
            fail("coefficients", rule, given)
        numbers = [real(value) for value in given]
        for column, value, number in zip(columns, given, numbers, strict=True):
            if number is None or not np.isfinite(number):
                fail(f"coefficient of {column!r}", "a finite number", value)
        return np.array(numbers, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class LogisticMean(LinearMean):
    """A mean reward whose log-odds are linear in the encoded context, with any coefficients.

    >>> LogisticMean({"intercept": -1.0, "age": 2.0}).row(Features({"age": (0, 100)}))
    array([-1.,  2.])
    """


@dataclass(frozen=True, eq=False)
class ByCategory:
    """A number for each value of one feature: a category, or yes/no.

    Parameters
    ----------
    feature
        The name of the feature.
    values
        A mapping from all its categories, or from ``"yes"`` and ``"no"``, to numbers in [0, 1];
        or to one for each arm.

    Examples
    --------
    >>> ByCategory("country", {"de": 0.2, "fr": 0.5}).row(Features({"country": ["de", "fr"]}))
    array([0. , 0.2, 0.5])
    """

    feature: str
    values: Mapping[Any, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.values, Mapping):
            fail(f"values by {self.feature!r}", "a mapping from categories to numbers", self.values)
        object.__setattr__(self, "values", {_word(key): one for key, one in self.values.items()})

    def row(self, features: Features, arms: Sequence[str] = ("1",), index: int = 0) -> Floats:
        """Return the coefficients that give an arm its numbers, or raise InputError."""
        found = list(self.numbers(features, arms, index).values())
        row, start = np.zeros(len(features.columns)), features.owners.index(self.feature)
        if isinstance(features[self.feature], YesNo):
            row[0], row[start] = (found[0] + found[1]) / 2, (found[0] - found[1]) / 2
        else:
            row[start : start + len(found)] = found
        return row

    def numbers(self, features: Features, arms: Sequence[str], index: int) -> dict[str, float]:
        """Return an arm's number for each category, or raise InputError."""
        check_known("feature", [self.feature], features)
        feature, thing = features[self.feature], f"values by {self.feature!r}"
        if isinstance(feature, Number):
            fail(thing, "those of a category or of yes/no", "a number with a range")
        names = feature.categories if isinstance(feature, Category) else (YES, NO)
        check_known(f"category of {self.feature!r}", self.values, names)
        found = {}
        for name in names:
            if name not in self.values:
                fail(thing, f"given for all of {', '.join(names)}", f"none for {name!r}")
            own = _of_arm(f"values for {name!r}", self.values[name], arms, index)
            found[name] = check_number(f"value for {name!r}", own)
        return found


Response: TypeAlias = LinearMean | ByCategory


class Responses(NamedTuple):
    """The coefficients of every arm, a row each, and which of them are of log-odds."""

    coefficients: Floats
    logistic: Masks


def mean_responses(arms: Sequence[str], features: Features, given: object) -> Responses:
    """Return what every arm's mean is in a context, or raise InputError.

    ``given`` is a number in [0, 1] or a response, for all arms, or one for each of them.

    >>> features = Features({"age": (0, 100)})
    >>> mean_responses(("a", "b"), features, [0.3, LinearMean([0.5, 0.1])]).coefficients
    array([[0.3, 0. ],
           [0.5, 0.1]])
    """
    each = one_each("mean", arms, given)
    rows = [_row("mean", arm, i, arms, features, how) for i, (arm, how) in enumerate(each)]
    logistic = np.array([isinstance(how, LogisticMean) for _, how in each])
    for (arm, _), row, odds in zip(each, rows, logistic, strict=True):
        if not odds:
            _check_range(arm, row, features)
    return Responses(frozen(np.array(rows)), frozen(logistic))


def awake_responses(arms: Sequence[str], features: Features, given: object) -> Floats:
    """Return what every arm's awake probability is in a context, or raise InputError."""
    each = one_each("availability", arms, given)
    for arm, how in each:
        if isinstance(how, LinearMean):
            fail(f"availability of arm {arm!r}", "a number, or ByCategory", type(how).__name__)
    rows = [_row("availability", arm, i, arms, features, how) for i, (arm, how) in enumerate(each)]
    return frozen(np.array(rows))


def means_in(arrays: ContextArrays, contexts: Floats) -> Floats:
    """Return every arm's mean in each of some encoded contexts, a row a context."""
    values = contexts @ arrays.coefficients.T
    clipped = np.clip(values, 0.0, 1.0)
    with np.errstate(over="ignore"):
        found: Floats = np.where(arrays.logistic, 1.0 / (1.0 + np.exp(-values)), clipped)
    return found


def depends(given: object) -> bool:
    """Say whether something given for arms depends on the context, for one of them at least.

    >>> depends(0.5), depends([0.5, ByCategory("evening", {"yes": 1, "no": 0})])
    (False, True)
    """
    values: Any = given.values() if isinstance(given, Mapping) else given
    listed = list(values) if isinstance(given, list | tuple | Mapping) else [given]
    return any(isinstance(value, Response) for value in listed)


def one_each(thing: str, arms: Sequence[str], given: object) -> list[tuple[str, Any]]:
    """Return what is given for each arm, by name."""
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, Mapping):
        check_known(f"arm with a {thing}", given, arms)
        if missing := [arm for arm in arms if arm not in given]:
            fail(f"{thing} of arm {missing[0]!r}", "given", "none")
        given = [given[arm] for arm in arms]
    values = list(given) if isinstance(given, list | tuple) else [given] * len(arms)
    if len(values) != len(arms):
        fail(thing, f"one, or one for each of {len(arms)} arms", f"{len(values)} of them")
    return list(zip(arms, values, strict=True))


def _row(
    thing: str, arm: str, index: int, arms: Sequence[str], features: Features, how: object
) -> Floats:
    """Return the coefficients of an arm; a plain number is the same in every context."""
    with located(f"{thing} of arm {arm!r}"):
        if isinstance(how, ByCategory):
            return how.row(features, arms, index)
        if isinstance(how, LinearMean):
            return how.row(features)
    row = np.zeros(len(features.columns))
    row[0] = check_number(f"{thing} of arm {arm!r}", how)
    return row


def _check_range(arm: str, row: Floats, features: Features) -> None:
    """Raise unless a linear mean is in [0, 1] in every context."""
    low = high = float(row[features.columns.index(INTERCEPT)])
    for name, feature in features.items():
        own = row[[owner == name for owner in features.owners]]
        ends = own if isinstance(feature, Category) else np.array([-own[0], own[0]])
        low, high = low + float(ends.min()), high + float(ends.max())
    if low < -ROUNDING or high > 1.0 + ROUNDING:
        rule = "in [0, 1] in every context; LogisticMean always is"
        fail(f"linear mean of arm {arm!r}", rule, f"{low:.4g} to {high:.4g}")


def _of_arm(thing: str, given: Any, arms: Sequence[str], index: int) -> Any:
    """Return what is given for an arm: one thing for all, or one for each by order or by name."""
    if isinstance(given, Mapping):
        return given.get(arms[index])
    if not isinstance(given, list | tuple | np.ndarray):
        return given
    if len(given) != len(arms):
        fail(thing, f"one number, or one for each of {len(arms)} arms", f"{len(given)} numbers")
    return given[index]


def _word(name: Any) -> Any:
    """Return the name of a category; True and False are yes and no."""
    return {True: YES, False: NO}[name] if isinstance(name, bool) else name
