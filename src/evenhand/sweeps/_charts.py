"""Which curves and heat maps show a sweep, from its summary and results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.core.extras import load
from evenhand.core.plain import format_value
from evenhand.figures import LINE_STYLES, Heat, Line
from evenhand.sweeps._results import SweepResults

if TYPE_CHECKING:
    import polars

MANY_LINES = 8
MANY_MAPS = 4
INSTANCE_PARAMETERS = ("arms", "plays", "tightness")

Lines = list[dict[str, Any]]


class Curves(NamedTuple):
    """The lines of one panel, and what was left out of it."""

    title: str
    lines: list[Line]
    note: str


class Map(NamedTuple):
    """A heat map and what it is of."""

    title: str
    heat: Heat


def panels(found: SweepResults, labels: Sequence[str]) -> list[Curves]:
    """Share an instance's policies out to panels: one if they fit, else one for each policy."""
    policies = {label: found.policies[label]["name"] for label in labels}
    groups = {"all policies": list(labels)}
    if len(labels) > MANY_LINES:
        groups = {
            name: [label for label in labels if policies[label] == name]
            for name in dict.fromkeys(policies.values())
        }
    made = []
    for title, members in groups.items():
        shown = evenly(members, MANY_LINES)
        note = "" if len(shown) == len(members) else f"{len(shown)} of {len(members)} shown"
        made.append(Curves(title, [_line(found, label, title) for label in shown], note))
    return made


def _line(found: SweepResults, label: str, title: str) -> Line:
    """Return how a label is drawn; in a panel of one policy its name goes without saying."""
    policy = found.policies[label]
    words = label.removeprefix(f"{title} ")
    endless = policy.get("surplus", "inf") == "inf"
    style = LINE_STYLES["cumulative" if endless else "reflected"]
    return Line(label, words, policy["name"], style)


def evenly(members: Sequence[str], most: int) -> list[str]:
    """Return at most so many, spread evenly, the first and the last among them.

    >>> evenly(["a", "b", "c", "d", "e"], 3)
    ['a', 'c', 'e']
    """
    if len(members) <= most:
        return list(members)
    indices = np.rint(np.linspace(0, len(members) - 1, most)).astype(int)
    return [members[index] for index in indices]


def instance_maps(found: SweepResults, summary: polars.DataFrame, instance: str) -> list[Map]:
    """Return heat maps of an instance: policy by policy, or across policies if none has two."""
    lines = summary.filter(load("polars").col("instance") == instance).to_dicts()
    parameters = [
        key for policy in found.policies.values() for key in policy if key not in ("name", "label")
    ]
    axes = [*dict.fromkeys(parameters), "horizon"]
    made: list[Map] = []
    for policy in dict.fromkeys(line["policy"] for line in lines):
        own = [line for line in lines if line["policy"] == policy]
        made += maps(own, axes, policy)
    return made or maps(lines, [*axes, "policy"], "all policies")


def overall_maps(summary: polars.DataFrame) -> list[Map]:
    """Return heat maps over the parameters of generated instances, averaged over their seeds."""
    lines = summary.filter(load("polars").col("tightness").is_not_null()).to_dicts()
    longest = max((line["horizon"] for line in lines), default=0)
    made: list[Map] = []
    for label in evenly(list(dict.fromkeys(line["label"] for line in lines)), MANY_MAPS):
        own = [line for line in lines if line["label"] == label and line["horizon"] == longest]
        made += maps(own, INSTANCE_PARAMETERS, f"{label}, T = {longest:,}, mean over instances")
    return made


def maps(lines: Lines, axes: Sequence[str], title: str) -> list[Map]:
    """Return heat maps over the two axes with most values, one for each value of the others."""
    options = {axis: values_of(lines, axis) for axis in axes}
    swept = sorted(
        (axis for axis in axes if len(options[axis]) > 1), key=lambda axis: -len(options[axis])
    )
    if len(swept) < 2:
        return []
    column, row, *others = swept
    made, count = [], math.prod(len(options[axis]) for axis in others)
    title = title if count <= MANY_MAPS else f"{title} ({MANY_MAPS} of {count} maps shown)"
    for fixed in islice(product(*(options[axis] for axis in others)), MANY_MAPS):
        pairs = list(zip(others, fixed, strict=True))
        own = [line for line in lines if all(line[axis] == value for axis, value in pairs)]
        words = ", ".join([title, *(f"{axis} = {axis_label(value)}" for axis, value in pairs)])
        made.append(Map(words, heat(own, row, options[row], column, options[column])))
    return made


def values_of(lines: Lines, axis: str) -> list[Any]:
    """Return the different values of an axis, numbers in order before words.

    >>> values_of([{"eta": "paper"}, {"eta": "10"}, {"eta": "2"}, {"eta": None}], "eta")
    ['2', '10', 'paper']
    """
    found = dict.fromkeys(line[axis] for line in lines if line[axis] is not None)
    return sorted(found, key=_rank)


def _rank(value: Any) -> float:
    try:
        return float(value)
    except ValueError:
        return math.inf


def heat(lines: Lines, row: str, rows: list[Any], column: str, columns: list[Any]) -> Heat:
    """Return the mean regret and shortfall of the cells at each pair of values."""
    groups: dict[tuple[Any, Any], Lines] = {}
    for line in lines:
        groups.setdefault((line[row], line[column]), []).append(line)
    regret, shortfall = (
        np.array([[_mean(groups.get((y, x), []), key) for x in columns] for y in rows])
        for key in ("regret", "worst_shortfall")
    )
    labels = [[axis_label(value) for value in values] for values in (rows, columns)]
    return Heat(row, labels[0], column, labels[1], regret, shortfall)


def _mean(lines: Lines, key: str) -> float:
    found = [line[key] for line in lines if line[key] is not None]
    return float(np.mean(found)) if found else math.nan


def axis_label(value: Any) -> str:
    """Write a value of an axis.

    >>> axis_label(20_000), axis_label(0.95), axis_label("paper")
    ('20,000', '0.95', 'paper')
    """
    return f"{value:,}" if isinstance(value, int) else format_value(value)
