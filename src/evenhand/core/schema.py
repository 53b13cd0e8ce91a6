"""What changes over time, declared once; everything that handles it follows the declaration.

A state is a NamedTuple of arrays. Each array says beside its type what it has one entry of, whether
it adds up over decisions and feedback, and whether it fades::

    class State(NamedTuple):
        played: Annotated[Integers, Column("arm", adds_up=True)]

New states, copies, other arms, JSON, bytes and blocks for machine code are derived from that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args, get_type_hints

import numpy as np

from evenhand.core.arrays import Integers

Axis: TypeAlias = Literal["one", "arm", "feature", "promise"]
Shape: TypeAlias = Axis | Callable[[int], int] | tuple[Axis | int, ...]
Kind = TypeVar("Kind", bound=tuple[Any, ...])


@dataclass(frozen=True)
class Column:
    """How an array of a state is declared.

    Parameters
    ----------
    axis
        What it has one entry of: ``"arm"``, ``"feature"`` (a number of an encoded context),
        ``"promise"`` (a side of a promise beyond floors),
        ``"one"`` for a single number in all, a function from the number of arms to the number of
        entries, or several of these, and numbers, for a table.
    adds_up
        Whether it is a sum over decisions and feedback, in any order.
    fades
        Whether it is weighed by age, where a policy has a half-life.
    derived
        Whether it can be recomputed from the rest: snapshots keep it, counters do not.
    """

    axis: Shape = "arm"
    adds_up: bool = False
    fades: bool = False
    derived: bool = False


class Field(NamedTuple):
    """A declared array: its name, its type of number, and its column."""

    name: str
    dtype: np.dtype[Any]
    column: Column

    def shape(self, arms: int, features: int = 1, promises: int = 0) -> tuple[int, ...]:
        """Return how many entries it has along each axis."""
        axis = self.column.axis
        if callable(axis):
            return (axis(arms),)
        sizes = {"one": 1, "arm": arms, "feature": features, "promise": promises}
        axes = axis if isinstance(axis, tuple) else (axis,)
        return tuple(part if isinstance(part, int) else sizes[part] for part in axes)

    @property
    def follows_arms(self) -> bool:
        """Whether it has something of each arm, first of all."""
        axis = self.column.axis
        return axis == "arm" or (isinstance(axis, tuple) and axis[0] == "arm")


def fields_of(kind: Any) -> tuple[Field, ...]:
    """Return the declared arrays of a state, in order; what is not declared is no array.

    >>> from typing import Annotated
    >>> Clock = NamedTuple("Clock", [("rounds", Annotated[Integers, Column("one", adds_up=True)])])
    >>> fields_of(Clock)[0].name
    'rounds'
    """
    return _fields_of(kind)


@cache
def _fields_of(kind: Any) -> tuple[Field, ...]:
    found = []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        columns = [part for part in getattr(hint, "__metadata__", ()) if isinstance(part, Column)]
        if columns:
            array = get_args(hint)[0]
            found.append(Field(name, np.dtype(get_args(get_args(array)[1])[0]), columns[0]))
    return tuple(found)


def names_of(kind: Any, **wanted: bool) -> tuple[str, ...]:
    """Return the names of the arrays whose columns are as wanted: ``adds_up=True``, for one."""
    return tuple(
        field.name
        for field in fields_of(kind)
        if all(getattr(field.column, key) == value for key, value in wanted.items())
    )


def new(kind: type[Kind], arms: int, features: int = 1, promises: int = 0) -> Kind:
    """Return a state of zeros."""
    sizes = arms, features, promises
    return kind(**{f.name: np.zeros(f.shape(*sizes), f.dtype) for f in fields_of(kind)})


def copied(arrays: Kind) -> Kind:
    """Return a NamedTuple of arrays and numbers with arrays of its own."""
    own = (value.copy() if isinstance(value, np.ndarray) else value for value in arrays)
    return type(arrays)._make(own)  # type: ignore[attr-defined, no-any-return]


def carried(arrays: Kind, kept: Integers) -> Kind:
    """Return the state for other arms: ``kept`` are their indices until now, -1 for a new arm.

    Arrays that have one entry per arm follow the arms, single numbers stay, others start at zero.
    """
    found, old = {}, kept >= 0
    for field in fields_of(type(arrays)):
        before = getattr(arrays, field.name)
        if field.follows_arms:
            found[field.name] = np.zeros((kept.size, *before.shape[1:]), field.dtype)
            found[field.name][old] = before[kept[old]]
        elif field.column.axis in ("one", "feature"):
            found[field.name] = before.copy()
        else:
            found[field.name] = np.zeros(field.shape(kept.size), field.dtype)
    return arrays._replace(**found)  # type: ignore[attr-defined, no-any-return]


def to_lists(arrays: tuple[Any, ...]) -> dict[str, list[Any]]:
    """Return the declared arrays as lists, for JSON."""
    return {field.name: getattr(arrays, field.name).tolist() for field in fields_of(type(arrays))}


def from_lists(
    kind: type[Kind],
    lists: Mapping[str, Any],
    arms: int,
    features: int = 1,
    promises: int = 0,
    *,
    lowest: float = -np.inf,
) -> Kind:
    """Return the state that :func:`to_lists` wrote."""
    found = {}
    for field in fields_of(kind):
        array = np.array(lists[field.name], dtype=field.dtype)
        shape = field.shape(arms, features, promises)
        if array.shape != shape:
            raise ValueError(f"{field.name} is of shape {array.shape}, not {shape}")
        if array.tolist() != lists[field.name] or not np.all(np.isfinite(array)):
            raise ValueError(f"{field.name} must be made of finite numbers of its type")
        if np.any(array < lowest):
            raise ValueError(f"{field.name} must be at least {lowest:g}")
        found[field.name] = array
    return kind(**found)


def to_bytes(arrays: tuple[Any, ...]) -> bytes:
    """Return the arrays that are not derived as bytes, one after the other."""
    return b"".join(
        np.asarray(getattr(arrays, field.name), field.dtype.newbyteorder("<")).tobytes()
        for field in fields_of(type(arrays))
        if not field.column.derived
    )


def from_bytes(kind: type[Kind], body: bytes, arms: int, features: int = 1) -> Kind:
    """Return the state that :func:`to_bytes` wrote, with zeros for what is derived."""
    found, at = {}, 0
    for field in fields_of(kind):
        shape = field.shape(arms, features)
        if field.column.derived:
            found[field.name] = np.zeros(shape, field.dtype)
            continue
        stored = np.frombuffer(body, field.dtype.newbyteorder("<"), math.prod(shape), at)
        found[field.name] = stored.astype(field.dtype).reshape(shape)
        at += stored.nbytes
    if at != len(body):
        raise ValueError(f"{kind.__name__} of {arms} arms has {at} bytes, not {len(body)}")
    return kind(**found)


def in_blocks(arrays: Kind) -> tuple[Kind, tuple[Any, ...]]:
    """Return a copy of a state whose arrays lie in a few blocks, and the blocks.

    A call of machine code costs what its arguments cost. Arrays of one axis and type share a block,
    a row each; what is not declared is passed as it is. :func:`block_reader` is the way back.
    """
    kind, blocks, found = type(arrays), [], {}
    for names in _block_names(kind):
        if len(names) == 1 and names[0] not in names_of(kind):
            blocks.append(getattr(arrays, names[0]))
            found[names[0]] = blocks[-1]
            continue
        writable = getattr(arrays, names[0]).flags.writeable
        block = np.array([getattr(arrays, name) for name in names])
        block.flags.writeable = writable
        blocks.append(block)
        found.update(zip(names, block, strict=True))
    return kind(**found), tuple(blocks)


def block_count(kind: Any) -> int:
    """Return how many blocks :func:`in_blocks` lays a state out in."""
    return len(_block_names(kind))


@cache
def block_reader(kind: Any) -> Callable[..., Any]:
    """Return a plain function that makes a state of the blocks of :func:`in_blocks`."""
    groups = _block_names(kind)
    blocks = [f"block{i}" for i in range(len(groups))]
    given = [
        f"{name}={block}[{row}]" if name in names_of(kind) else f"{name}={block}"
        for block, names in zip(blocks, groups, strict=True)
        for row, name in enumerate(names)
    ]
    return generated(
        f"def read_{kind.__name__.lower()}({', '.join(blocks)}):\n"
        f"    return Kind({', '.join(given)})\n",
        Kind=kind,
    )


@cache
def fading_scaler(kind: Any) -> Callable[..., None]:
    """Return a plain function that multiplies all arrays of a state that fade by a number."""
    faded = (field for field in fields_of(kind) if field.column.fades)
    steps = "".join(_scaling(field) for field in faded)
    return generated(f"def scale_{kind.__name__.lower()}(state, scale):\n{steps}    return\n")


def _scaling(field: Field) -> str:
    """Return the loops that multiply every entry of an array by a number.

    A flat view of the array would do, but machine code with one in it takes a third longer.
    """
    axis = field.column.axis
    dimensions = len(axis) if isinstance(axis, tuple) else 1
    names = "ijk"[:dimensions]
    loops = "".join(
        f"{'    ' * (depth + 1)}for {name} in range(state.{field.name}.shape[{depth}]):\n"
        for depth, name in enumerate(names)
    )
    entry = f"state.{field.name}[{', '.join(names)}]"
    return f"{loops}{'    ' * (dimensions + 1)}{entry} *= scale\n"


def generated(source: str, **given: Any) -> Callable[..., Any]:
    """Return the function that a source text defines.

    It counts as part of this file, beside which its machine code is cached.
    """
    scope = {"__name__": __name__, **given}
    exec(compile(source, __file__, "exec"), scope)
    made: Any = list(scope.values())[-1]
    made.source = source
    function: Callable[..., Any] = made
    return function


@cache
def _block_names(kind: Any) -> tuple[tuple[str, ...], ...]:
    """Return which arrays share a block: those of the same axis and type, in order."""
    declared = {field.name: field for field in fields_of(kind)}
    groups: dict[object, list[str]] = {}
    for name in kind._fields:
        field = declared.get(name)
        key = name if field is None else (field.column.axis, field.dtype.str)
        groups.setdefault(key, []).append(name)
    return tuple(map(tuple, groups.values()))
