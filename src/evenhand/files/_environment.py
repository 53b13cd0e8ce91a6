"""Environments from TOML files, and tables of rounds x arms from CSV files beside them."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.availability import Availability, Independent, Joint, Trace
from evenhand.contexts import SAMPLE, Contexts, DrawnContexts, RecordedContexts
from evenhand.core.checks import check_choice, check_different, check_known, check_tables, fail
from evenhand.core.toml import ARM_KEYS, arm_tables, parse_toml
from evenhand.environment import Change, Environment
from evenhand.errors import InputError
from evenhand.features import Category, Feature, Features, YesNo
from evenhand.problem import Problem
from evenhand.responses import ByCategory, LinearMean, LogisticMean
from evenhand.rewards import Bernoulli, Beta, Recorded, Rewards

ENVIRONMENT_KEYS = (
    "plays",
    "arms",
    "promises",
    "allow_impossible",
    "features",
    "contexts",
    "availability",
    "rewards",
    "changes",
)
CHANGE_KEYS = ("after", "means", "availability")
WORDS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
NATURE_KEYS = (*ARM_KEYS, "mean", "availability")


def read_toml(path: Path) -> dict[str, Any]:
    """Read and parse a TOML file; whatever is wrong with it is said together with its name."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {str(path)!r}: {error}") from None
    try:
        return parse_toml(text)
    except InputError as error:
        raise InputError(f"{path} is {error}") from None


def environment_from(table: Mapping[str, Any], folder: Path) -> Environment:
    """Build the environment that a parsed file describes.

    ``[[arms]]`` give name, floor, weight, mean and availability. ``[availability]`` replaces the
    arms' own: ``sets`` with ``probabilities``, or ``trace``, a list of rounds or the name of a CSV
    file. ``[[changes]]`` say after how many rounds arms have other means or another availability,
    one number for each. ``[rewards]`` has a ``kind`` (bernoulli or beta, with a concentration) or
    ``recorded``, a list or a CSV file again.

    With ``[features]``, a mean may be ``{linear = {...}}``, ``{logistic = {...}}`` or ``{by = ...,
    values = {...}}``, an availability the last of them, and ``[contexts]`` says how contexts come
    about: ``drawn``, a table from features, or ``recorded``, tables or a CSV file, in an ``order``.
    """
    arms = arm_tables(table, NATURE_KEYS)
    problem = Problem.from_arms(table, arms)
    rewards = _rewards(table.get("rewards", {}), problem.arms, folder)
    recorded = isinstance(rewards, Recorded)
    means = _responses(arms, "mean", instead="recorded rewards" if recorded else "")
    instead = "[availability]" if "availability" in table else ""
    own = _responses(arms, "availability", instead=instead)
    availability = _availability(table.get("availability"), own, problem.arms, folder)
    changes = _changes(table.get("changes", []))
    contexts = _contexts(table.get("contexts"), problem.features, folder)
    return Environment(problem, means, availability, rewards, changes, contexts)


def read_rounds(path: Path, arms: Sequence[str]) -> list[list[float]]:
    """Read a CSV file with one column an arm, named in its first line, and one line a round.

    An empty field is not a number, which is in order for the reward of an arm that slept.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file)
            header = next(lines, [])
            if sorted(header) != sorted(arms):
                fail(f"the columns of {path}", f"the arms {', '.join(arms)}", ", ".join(header))
            order = [header.index(arm) for arm in arms]
            numbered = enumerate(lines, 2)
            return [_fields(path, number, line, order) for number, line in numbered if line]
    except InputError:
        raise
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"cannot read {path}: {error}") from None


def _fields(path: Path, number: int, line: list[str], order: list[int]) -> list[float]:
    if len(line) != len(order):
        fail(f"line {number} of {path}", f"{len(order)} fields wide", len(line))
    try:
        return [float(line[column] or "nan") for column in order]
    except ValueError:
        fail(f"line {number} of {path}", "made of numbers", ",".join(line))


def _from_arms(arms: list[dict[str, Any]], key: str, *, instead: str) -> list[Any] | None:
    """Return a value of every arm; None, and no arm may have one, if something stands for it."""
    for arm in arms:
        if not instead and key not in arm:
            raise InputError(f"arm {arm['name']!r} must have a value for {key!r}")
        if instead and key in arm:
            raise InputError(f"arm {arm['name']!r} must have no {key!r} beside {instead}")
    return None if instead else [arm[key] for arm in arms]


def _responses(arms: list[dict[str, Any]], key: str, *, instead: str) -> list[Any] | None:
    """Return a value of every arm, which may depend on the context."""
    values = _from_arms(arms, key, instead=instead)
    if values is None:
        return None
    pairs = zip(arms, values, strict=True)
    return [_response(f"{key} of arm {arm['name']!r}", value) for arm, value in pairs]


def _response(thing: str, given: Any) -> Any:
    if not isinstance(given, Mapping):
        return given
    keys = set(given)
    if keys == {"linear"}:
        return LinearMean(given["linear"])
    if keys == {"logistic"}:
        return LogisticMean(given["logistic"])
    if keys == {"by", "values"}:
        return ByCategory(given["by"], given["values"])
    rule = "a number, {linear = {...}}, {logistic = {...}} or {by = ..., values = {...}}"
    return fail(thing, rule, dict(given))


def _contexts(table: object, features: Features, folder: Path) -> Contexts | None:
    """Return how contexts come about; None if the file does not say."""
    if table is None:
        return None
    if not isinstance(table, Mapping):
        fail("contexts", "a table with drawn or recorded", table)
    check_known("key of [contexts]", table, ("drawn", "recorded", "order", "sample"))
    sample = table.get("sample", SAMPLE)
    if "recorded" not in table:
        check_known("key of [contexts] that are drawn", table, ("drawn", "sample"))
        return DrawnContexts(table.get("drawn", {}), sample)
    check_known("key of [contexts] that are recorded", table, ("recorded", "order", "sample"))
    rows = table["recorded"]
    if isinstance(rows, str):
        rows = read_contexts(folder / rows, features)
    return RecordedContexts(rows, table.get("order", "replay"), sample)


def read_contexts(path: Path, features: Features) -> list[dict[str, Any]]:
    """Read a CSV file with a column for each feature, maybe among others, and one line a context.

    Yes/no is ``yes``, ``true`` or ``1``, or ``no``, ``false`` or ``0``.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.DictReader(file)
            check_different(f"the columns of {path}", lines.fieldnames or [])
            missing = [name for name in features if name not in (lines.fieldnames or [])]
            if missing:
                fail(f"the columns of {path}", f"all of {', '.join(features)}", f"no {missing[0]}")
            return [
                {
                    name: _field(f"{name!r} in line {number} of {path}", feature, line)
                    for name, feature in features.items()
                }
                for number, line in enumerate(lines, 2)
            ]
    except InputError:
        raise
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"cannot read {path}: {error}") from None


def _field(thing: str, feature: Feature, line: Mapping[Any, Any]) -> object:
    """Return a field of a CSV file as what its feature takes."""
    text = line[feature.name]
    if None in line:
        fail(f"the line of {thing}", "as wide as the first line", f"{len(line[None])} fields more")
    if text is None or isinstance(feature, Category):
        return text
    if isinstance(feature, YesNo):
        word = text.strip().lower()
        if word not in WORDS:
            fail(thing, f"one of {', '.join(WORDS)}", text)
        return WORDS[word]
    try:
        return float(text)
    except ValueError:
        return fail(thing, "a number", text)


def _availability(
    table: object, own: list[Any] | None, names: Sequence[str], folder: Path
) -> Availability:
    if own is not None:
        return Independent(own)
    if not isinstance(table, Mapping):
        fail("availability", "a table of sets and probabilities, or of a trace", table)
    check_known("key of [availability]", table, ("sets", "probabilities", "trace"))
    if set(table) == {"trace"}:
        return Trace(_rounds("trace", table["trace"], names, folder))
    if set(table) != {"sets", "probabilities"}:
        fail("[availability]", "given by sets and probabilities, or by a trace", sorted(table))
    return Joint(table["sets"], table["probabilities"])


def _changes(tables: object) -> list[Change]:
    """Return the changes of a file."""
    changes = []
    for table in check_tables("changes", tables):
        check_known("key of [[changes]]", table, CHANGE_KEYS)
        if "after" not in table:
            raise InputError("each [[changes]] table must say after how many rounds it comes")
        changes.append(Change(**table))
    return changes


def _rounds(key: str, given: object, arms: Sequence[str], folder: Path) -> list[Any]:
    """Return a table of rounds x arms: given as it is, or in a file."""
    if isinstance(given, str):
        return read_rounds(folder / given, arms)
    if not isinstance(given, list):
        fail(key, "the name of a CSV file, or a list of rounds", given)
    return given


def _rewards(table: object, arms: Sequence[str], folder: Path) -> Rewards:
    if not isinstance(table, Mapping):
        fail("rewards", "a table with a kind, or with recorded", table)
    check_known("key of [rewards]", table, ("kind", "concentration", "recorded"))
    if "recorded" in table:
        check_known("key of [rewards] that are recorded", table, ("recorded",))
        return Recorded(_rounds("recorded", table["recorded"], arms, folder))
    kind = check_choice("kind of [rewards]", table.get("kind", "bernoulli"), ("bernoulli", "beta"))
    if kind == "beta":
        return Beta(table.get("concentration", Beta.concentration))
    check_known("key of [rewards] of kind 'bernoulli'", table, ("kind",))
    return Bernoulli()
