"""How contexts come about: drawn feature by feature, or recorded ones, replayed or drawn from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from evenhand.core.arrays import Floats, frozen
from evenhand.core.checks import (
    POSITIVE,
    Limits,
    check_choice,
    check_known,
    check_number,
    check_per_arm,
    check_rows,
    check_whole,
    fail,
    located,
)
from evenhand.core.contexts import CATEGORY, NUMBER, YES_NO, ContextArrays, draw_context
from evenhand.features import Category, Feature, Features, Number, YesNo

Order: TypeAlias = Literal["replay", "resample"]
SAMPLE, SAMPLE_SEED = 20_000, 1
UNIFORM = "uniform"
SUM_TOLERANCE = 1e-9
# Up to so many combinations of categories, the optimum takes all of them into account.
MOST_COMBINATIONS = 4_096
KINDS = {Number: NUMBER, YesNo: YES_NO, Category: CATEGORY}


class ContextTable(NamedTuple):
    """Encoded contexts, a row each, and their probabilities: all there are, or a sample."""

    contexts: Floats
    probabilities: Floats
    exact: bool


@dataclass(frozen=True, eq=False)
class DrawnContexts:
    """Contexts whose features are drawn independently of each other.

    Parameters
    ----------
    features
        How some features are drawn. A number: ``"uniform"`` in its range, or ``{"mean": 40, "sd":
        15}`` for a normal one, drawn until it is in its range. Yes/no: the probability of yes. A
        category: a mapping from the categories to probabilities, or a list of these. What is left
        out is uniform, or equally likely.
    sample
        On how many drawn contexts the optimum is computed, where it cannot take all into account.

    Examples
    --------
    >>> features = Features({"age": (0, 100), "evening": bool})
    >>> drawn = DrawnContexts({"age": {"mean": 40, "sd": 15}, "evening": 0.3}).arrays(features)
    >>> drawn.parameters[1:].round(2)
    array([[-0.2,  0.3],
           [ 0.3,  0. ]])
    """

    features: Mapping[str, Any] = field(default_factory=dict)
    sample: int = SAMPLE

    def __post_init__(self) -> None:
        if not isinstance(self.features, Mapping):
            fail("drawn contexts", "a mapping from features to how they are drawn", self.features)
        object.__setattr__(self, "features", {**self.features})
        check_whole("sample of contexts", self.sample, least=2)

    def arrays(self, features: Features) -> ContextArrays:
        """Return the checked arrays for these features."""
        check_known("feature that is drawn", self.features, features)
        parameters = np.zeros((len(features.columns), 2))
        first = [features.owners.index(name) for name in features]
        for name, start in zip(features, first, strict=True):
            numbers = _parameters(features[name], self.features.get(name))
            parameters[start : start + len(numbers)] = numbers
        return ContextArrays(
            kinds=frozen(np.array([KINDS[type(features[name])] for name in features])),
            first=frozen(np.array([*first, len(features.columns)])),
            parameters=frozen(parameters),
        )

    def table(
        self, features: Features, arrays: ContextArrays, only: Collection[str] | None = None
    ) -> ContextTable:
        """Return all contexts, if they are combinations of few categories; else a sample.

        ``arrays`` are those of these features. If ``only`` some of them matter, the columns of the
        others are 0.

        >>> features = Features({"evening": bool, "country": ["de", "fr"]})
        >>> drawn = DrawnContexts({"evening": 0.25})
        >>> contexts, probabilities, exact = drawn.table(features, drawn.arrays(features))
        >>> contexts.shape, probabilities.tolist(), exact
        ((4, 4), [0.125, 0.125, 0.375, 0.375], True)
        """
        wanted = {name for name in features if only is None or name in only}
        sizes = [_choices(features[name]) for name in wanted]
        if 0 in sizes or np.prod(sizes, dtype=np.float64) > MOST_COMBINATIONS:
            return _sampled(arrays, self.sample, len(features.columns))
        parts = [
            list(_encoded(feature, arrays.parameters[start : start + len(feature.columns), 0]))
            if feature.name in wanted
            else [((0.0,) * len(feature.columns), 1.0)]
            for feature, start in zip(features.values(), arrays.first.tolist(), strict=False)
        ]
        combined = list(product(*parts))
        contexts = [[1.0, *(x for numbers, _ in one for x in numbers)] for one in combined]
        chances = [float(np.prod([chance for _, chance in one])) for one in combined]
        return ContextTable(np.array(contexts), np.array(chances), exact=True)


@dataclass(frozen=True, eq=False)
class RecordedContexts:
    """Contexts that were observed: replayed in their order, or drawn from with equal probability.

    Parameters
    ----------
    rows
        A polars or pandas frame with a column for each feature, a list of mappings, or an array of
        numbers with a row for each context.
    order
        ``"replay"``: in their order, a row a round; ``"resample"``: each round draws a row.
    sample
        On how many drawn rows the optimum is computed, if there are more than so many.

    Examples
    --------
    >>> visitors = RecordedContexts([{"age": 30}, {"age": 50}], order="resample")
    >>> visitors.arrays(Features({"age": (0, 100)})).recorded
    array([[ 1. , -0.4],
           [ 1. ,  0. ]])
    """

    rows: Any
    order: Order = "replay"
    sample: int = SAMPLE

    def __post_init__(self) -> None:
        check_choice("order of recorded contexts", self.order, ("replay", "resample"))
        check_whole("sample of contexts", self.sample, least=2)
        object.__setattr__(self, "rows", list(check_rows("recorded contexts", self.rows)))

    def arrays(self, features: Features) -> ContextArrays:
        """Return the checked arrays for these features."""
        encoded = []
        for number, row in enumerate(self.rows, start=1):
            with located(f"row {number} of the recorded contexts"):
                encoded.append(features.encode(_named(row, features)))
        if not encoded:
            fail("recorded contexts", "at least one row", "none")
        return ContextArrays(recorded=frozen(np.array(encoded)), resampled=not self.replayed)

    def table(
        self, features: Features, arrays: ContextArrays, only: Collection[str] | None = None
    ) -> ContextTable:
        """Return all rows, equally likely; a sample of too many, unless ``only`` some matter."""
        rows = len(arrays.recorded)
        if rows > self.sample and only is None:
            drawn = arrays._replace(resampled=True)
            return _sampled(drawn, self.sample, len(features.columns))
        return ContextTable(arrays.recorded, np.full(rows, 1.0 / rows), exact=True)

    def first(self, rounds: int) -> RecordedContexts:
        """Return the contexts of the first rounds."""
        return RecordedContexts(self.rows[:rounds], self.order, self.sample)

    @property
    def replayed(self) -> bool:
        """Whether a round has the row of its number."""
        return self.order == "replay"


Contexts: TypeAlias = DrawnContexts | RecordedContexts


def _sampled(arrays: ContextArrays, count: int, columns: int) -> ContextTable:
    """Return drawn contexts, always the same ones for the same arrays."""
    contexts, rng = np.empty((count, columns)), np.random.default_rng(SAMPLE_SEED)
    for number in range(count):
        draw_context(contexts[number], arrays, number, rng)
    return ContextTable(contexts, np.full(count, 1.0 / count), exact=False)


def _named(row: object, features: Features) -> object:
    """Return the features of a row; a frame may have other columns, too."""
    if not isinstance(row, Mapping):
        return row
    return {name: row[name] for name in features if name in row}


def _choices(feature: Feature) -> int:
    """Return how many values a feature has; 0 for a number, which has more than can be listed."""
    if isinstance(feature, Category):
        return len(feature.categories)
    return 2 if isinstance(feature, YesNo) else 0


def _encoded(feature: Feature, numbers: Floats) -> Iterator[tuple[tuple[float, ...], float]]:
    """Return what each value of a feature becomes, and its probability."""
    if isinstance(feature, Category):
        chances = np.diff(numbers, prepend=0.0).tolist()
        for category, chance in zip(feature.categories, chances, strict=True):
            yield feature.encode(category), chance
    else:
        yield (1.0,), float(numbers[0])
        yield (-1.0,), 1.0 - float(numbers[0])


def _parameters(feature: Feature, given: object) -> list[tuple[float, float]]:
    """Return the two numbers of each column of a feature, or raise InputError."""
    thing = f"contexts of feature {feature.name!r}"
    if isinstance(feature, YesNo):
        return [(check_number(thing, 0.5 if given is None else given), 0.0)]
    if isinstance(feature, Category):
        return _category(feature, given, thing)
    assert isinstance(feature, Number)
    if given is None or (isinstance(given, str) and given == UNIFORM):
        return [(0.0, 0.0)]
    if not isinstance(given, Mapping) or set(given) != {"mean", "sd"}:
        fail(thing, "'uniform', or a mapping with mean and sd", given)
    span = feature.high - feature.low
    mean = check_number(f"mean of {thing}", given["mean"], Limits(feature.low, feature.high))
    spread = check_number(f"sd of {thing}", given["sd"], POSITIVE)
    if spread > span:
        fail(f"sd of {thing}", f"at most the width of its range, {span:g}; or 'uniform'", spread)
    encoded = 2.0 * (spread / span)
    if encoded == 0.0:
        fail(f"sd of {thing}", "not so small beside its range that it is lost", spread)
    return [(feature.encode(mean)[0], encoded)]


def _category(feature: Category, given: object, thing: str) -> list[tuple[float, float]]:
    """Return the cumulative probabilities of categories."""
    names = feature.categories
    if given is None:
        given = 1.0 / len(names)
    elif not isinstance(given, Mapping | list | tuple):
        fail(thing, "a mapping from categories to probabilities, or a list of these", given)
    checked = check_per_arm(thing, names, given, owner="category", missing=0.0)
    total = np.cumsum(checked)
    if abs(total[-1] - 1.0) > SUM_TOLERANCE:
        fail(f"the sum of the {thing}", "1", float(total[-1]))
    return [(float(part), 0.0) for part in total / total[-1]]
