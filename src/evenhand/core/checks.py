"""Rules for values that come from outside, and the one template of their messages.

Validation happens at the edges (problems, policy parameters, files), never inside loops. Every
message names the thing, the rule and the value.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any, NamedTuple, NoReturn

import numpy as np

from evenhand.core.arrays import Floats, frozen
from evenhand.errors import InputError

LARGEST = 2**63 - 1
MANY = 20
LONG = 200
NAME_RULE = "a non-empty string of printable characters"


class Limits(NamedTuple):
    """Which numbers are allowed: from ``low`` to ``high``, or above ``low`` if that is open."""

    low: float
    high: float = math.inf
    open: bool = False

    def allow(self, value: float) -> bool:
        """Say whether a number is within; infinity never is."""
        above = self.low < value if self.open else self.low <= value
        return above and value <= self.high and value < math.inf

    def __str__(self) -> str:
        if self.high < math.inf:
            return f"in [{self.low:g}, {self.high:g}]".replace("e+", "e")
        return f"above {self.low:g}" if self.open else f"of at least {self.low:g}"


FRACTION = Limits(0.0, 1.0)
POSITIVE = Limits(0.0, open=True)
# No sum of squares of weights overflows.
WEIGHT = Limits(0.0, 1e100)


def fail(thing: str, rule: str, value: object) -> NoReturn:
    """Raise an InputError with thing, rule and value.

    >>> fail("plays", "a whole number of at least 1", 0)
    Traceback (most recent call last):
    ...
    evenhand.errors.InputError: plays must be a whole number of at least 1, got 0
    """
    shown = brief(value)
    raise InputError(f"{thing} must be {rule}, got {shown}", thing=thing, rule=rule, value=shown)


def brief(value: object) -> str:
    """Return a value as a message shows it: cut to 200 characters, and safe if repr fails.

    >>> brief("alien"), brief([0] * 1000)[-4:], brief(10**5000)
    ("'alien'", '0...', 'an int that cannot be written')
    """
    try:
        text = repr(str(value) if isinstance(value, PurePath) else value)
    except Exception:
        return f"an {type(value).__name__} that cannot be written"
    return text if len(text) <= LONG else f"{text[:LONG]}..."


def check_whole(thing: str, value: object, *, least: int) -> int:
    """Return ``value`` as an int of at least ``least``, or raise InputError."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        fail(thing, f"a whole number of at least {least}", _plain(value))
    if int(value) > LARGEST:
        fail(thing, f"a whole number of at most {LARGEST}", "a larger one")
    return int(value)


def check_number(thing: str, value: object, limits: Limits = FRACTION) -> float:
    """Return ``value`` as a float within limits, or raise InputError.

    >>> check_number("reward of arm 'a'", 0.25)
    0.25
    """
    found = real(value)
    if found is None or not limits.allow(found):
        fail(thing, f"a number {limits}", _plain(value))
    return found


def real(value: object) -> float | None:
    """Return a real number as a float; None for anything else.

    >>> real(1), real(True), real("1"), real(10**400)
    (1.0, None, None, inf)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def check_choice(thing: str, value: object, options: Collection[str]) -> str:
    """Return ``value`` if it is one of ``options``, or raise InputError."""
    if not isinstance(value, str) or value not in options:
        fail(thing, "one of " + ", ".join(map(repr, options)), value)
    return str(value)


def check_per_arm(
    thing: str,
    arms: Sequence[str],
    values: object,
    limits: Limits = FRACTION,
    *,
    owner: str = "arm",
    missing: float | None = None,
) -> Floats:
    """Return one read-only float per arm (or other owner); a number stands for all of them.

    A mapping from names may be given where ``missing`` says what counts for the others.

    >>> check_per_arm("floor", ("a", "b"), 0.25)
    array([0.25, 0.25])
    >>> check_per_arm("floor", ("casablanca", "alien"), [0.3, 1.3])
    Traceback (most recent call last):
    ...
    evenhand.errors.InputError: floor of arm 'alien' must be a number in [0, 1], got 1.3
    """
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, Mapping) and missing is not None:
        check_known(f"{owner} with a {thing}", values, arms)
        values = [values.get(arm, missing) for arm in arms]
    given = list(values) if isinstance(values, list | tuple) else [values] * len(arms)
    if len(given) != len(arms):
        owners = f"{owner[:-1]}ies" if owner.endswith("y") else f"{owner}s"
        fail(thing, f"one number, or one for each of {len(arms)} {owners}", f"{len(given)} numbers")
    pairs = zip(arms, given, strict=True)
    checked = [check_number(f"{thing} of {owner} {arm!r}", x, limits) for arm, x in pairs]
    return frozen(np.array(checked))


def check_names(thing: str, given: object) -> tuple[str, ...]:
    """Return a tuple of non-empty, different names, or raise InputError."""
    scalar = isinstance(given, np.ndarray) and given.ndim != 1
    if isinstance(given, str) or not isinstance(given, Iterable) or scalar:
        fail(thing, "a list of names", given)
    found = tuple(given.tolist() if isinstance(given, np.ndarray) else given)
    for position, name in enumerate(found, start=1):
        if not is_name(name):
            fail(f"name of arm number {position}", NAME_RULE, name)
    check_different(thing, found)
    return found


def check_different(thing: str, names: Iterable[str]) -> None:
    """Raise for the first name that comes twice.

    >>> check_different("arms", ["a", "b", "a"])
    Traceback (most recent call last):
    ...
    evenhand.errors.InputError: arms must have different names, got 'a' twice
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            rule, value = "of different names", f"{name!r} twice"
            raise InputError(
                f"{thing} must have different names, got {value}",
                thing=thing,
                rule=rule,
                value=value,
            )
        seen.add(name)


def is_name(value: object) -> bool:
    r"""Say whether something can be a name: printable, and not only spaces.

    >>> is_name("news"), is_name(" "), is_name("two\nlines")
    (True, False, False)
    """
    return isinstance(value, str) and value.isprintable() and bool(value.strip())


def check_tables(thing: str, given: object) -> list[dict[str, Any]]:
    """Return the tables of a file's ``[[thing]]``, or raise InputError."""
    if not isinstance(given, list) or not all(isinstance(table, dict) for table in given):
        fail(thing, f"[[{thing}]] tables", given)
    return given


def check_rows(thing: str, frame: object) -> Iterable[Any]:
    """Return the rows of a polars or pandas frame, or of a list, as mappings.

    >>> list(check_rows("history", [{"arm": "a"}]))
    [{'arm': 'a'}]
    """
    given: Any = frame
    if hasattr(given, "iter_rows"):
        rows: Iterable[Any] = given.iter_rows(named=True)
        return rows
    if hasattr(given, "to_dict") and hasattr(given, "columns"):
        listed: Iterable[Any] = given.to_dict("records")
        return listed
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        fail(thing, "a polars or pandas frame, or a list of mappings", frame)
    return given


@contextmanager
def located(where: str) -> Iterator[None]:
    """Say in every InputError from inside where the value stands.

    >>> with located("row 3"):
    ...     fail("age", "a number", "x")
    Traceback (most recent call last):
    ...
    evenhand.errors.InputError: row 3: age must be a number, got 'x'
    """
    try:
        yield
    except InputError as error:
        raise InputError(
            f"{where}: {error}", thing=f"{where}: {error.thing}", rule=error.rule, value=error.value
        ) from None


def check_known(thing: str, given: Iterable[str], options: Collection[str]) -> None:
    """Raise for the first name that is not one of ``options``, with the nearest one.

    >>> check_known("policy", ["tscfs-b"], ["lfg", "tscsf-b"])
    Traceback (most recent call last):
    ...
    evenhand.errors.InputError: unknown policy 'tscfs-b'; did you mean 'tscsf-b'? Known: ...
    """
    for name in given:
        if not isinstance(name, str) or name not in options:
            near = get_close_matches(name, options, n=1) if isinstance(name, str) else []
            hint = f"did you mean {near[0]!r}? " if near else ""
            listed = ", ".join(sorted(options)[:MANY]) or "none"
            more = f" and {len(options) - MANY} more" if len(options) > MANY else ""
            raise InputError(
                f"unknown {thing} {brief(name)}; {hint}Known: {listed}{more}",
                thing=thing,
                rule=f"one of: {listed}{more}",
                value=brief(name),
            )


def as_list(thing: str, given: object) -> list[Any]:
    """Return the values of a list that is not empty; a single value stands for itself."""
    values = list(given) if isinstance(given, list | tuple) else [given]
    if not values:
        fail(thing, "at least one value", "none")
    return values


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value
