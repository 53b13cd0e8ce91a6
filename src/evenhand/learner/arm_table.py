"""The arms that take part: who they are, what they were promised, and from when it counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers, frozen
from evenhand.core.checks import WEIGHT, check_known, check_names, check_per_arm, fail
from evenhand.core.schema import Column, carried, copied, new
from evenhand.core.state import PER_ARM, ProblemArrays, plays_due
from evenhand.problem import Problem

# Plays so far below any promise that the larger of both is always the promise.
FORGIVEN_NOTHING = -1e300


class ArmClock(NamedTuple):
    """When things happened to each arm, so that decisions can be cancelled.

    Attributes
    ----------
    born, bound
        After which decision the arm joined, and after which its present floor took effect.
    due, played
        What it had been promised when its present floor took effect, and how often it had been
        played by then, if plays beyond its promise were forgiven: next to nothing if not.
    paused_at, paused_rate
        After how many rounds it was paused, and its awake rate then.
    """

    born: Annotated[Integers, Column("arm")]
    bound: Annotated[Integers, Column("arm")]
    due: Annotated[Floats, PER_ARM]
    played: Annotated[Floats, PER_ARM]
    paused_at: Annotated[Floats, PER_ARM]
    paused_rate: Annotated[Floats, PER_ARM]


class ArmTable(NamedTuple):
    """The arms between two changes of them; never changed in place.

    Attributes
    ----------
    problem, arrays
        The arms as the user knows them, and as scoring functions do: a paused arm's floor is 0.
    clock
        From when what they were promised counts.
    position
        The index of every arm.
    everyone
        The indices of the arms that are not paused.
    """

    problem: Problem
    arrays: ProblemArrays
    clock: ArmClock
    position: dict[str, int]
    everyone: Integers

    def indices(self, names: Sequence[str]) -> Integers:
        """Return the indices of arms by name, all of them known."""
        check_known("arm", names, self.position)
        return np.array([self.position[name] for name in names], dtype=np.int64)

    def names(self, indices: Iterable[int]) -> tuple[str, ...]:
        """Return the names of arms by their indices."""
        return tuple(map(self.problem.arms.__getitem__, indices))


def first_table(problem: Problem) -> ArmTable:
    """Return the arms of a learner that has decided nothing yet.

    >>> first_table(Problem(["a", "b"], plays=1)).everyone
    array([0, 1])
    """
    clock = new(ArmClock, len(problem.arms))
    clock.played[:] = FORGIVEN_NOTHING
    return make_table(problem, problem.arrays, clock)


def make_table(
    problem: Problem, arrays: ProblemArrays, clock: ArmClock, position: dict[str, int] | None = None
) -> ArmTable:
    """Return a table, with what follows from the rest; the same arms share their positions."""
    kept = arrays._replace(
        plays=problem.plays,
        weights=problem.weights,
        floors=np.where(arrays.paused, 0.0, problem.floors),
    )
    for array in kept:
        if isinstance(array, np.ndarray):
            frozen(array)
    if position is None:
        position = {arm: i for i, arm in enumerate(problem.arms)}
    return ArmTable(problem, kept, clock, position, np.flatnonzero(~kept.paused))


def names_of(given: object) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    names = check_names("arms", [given] if isinstance(given, str) or given is None else given)
    if not names:
        fail("arms", "at least one", "none")
    return names


def kept_arms(before: Sequence[str], after: Sequence[str]) -> Integers:
    """Return the indices that arms had before; -1 for a new one.

    >>> kept_arms(("a", "b"), ("b", "c"))
    array([ 1, -1])
    """
    position = {arm: i for i, arm in enumerate(before)}
    return np.array([position.get(arm, -1) for arm in after], dtype=np.int64)


def with_arms(
    table: ArmTable,
    names: Sequence[str],
    floor: object,
    weight: object,
    prior: object,
    rounds: int,
    latest: int,
    *,
    ceiling: object = 1.0,
    promises: Iterable[str] = (),
) -> ArmTable:
    """Return the table with new arms, to whom nothing is owed for the time before."""
    before, joined = table.problem, tuple(promises)
    check_known("promise to join", joined, [promise.name for promise in before.promises])
    problem = before.with_arms(
        (*before.arms, *names),
        weights=np.append(before.weights, check_per_arm("weight", names, weight, WEIGHT)),
        floors=np.append(before.floors, check_per_arm("floor", names, floor)),
        priors={} if prior is None else {name: Problem.check_prior(name, prior) for name in names},
        ceilings=np.append(before.ceilings, check_per_arm("ceiling", names, ceiling)),
        promises=[
            promise.joined_by(names) if promise.name in joined else promise
            for promise in before.promises
        ],
    )
    kept = kept_arms(before.arms, problem.arms)
    fresh = kept < 0
    arrays, clock = carried(table.arrays, kept), carried(table.clock, kept)
    arrays.joined[fresh] = arrays.since[fresh] = rounds
    clock.born[fresh] = clock.bound[fresh] = latest
    clock.played[fresh] = FORGIVEN_NOTHING
    return make_table(problem, arrays, clock)


def with_plays(table: ArmTable, plays: int) -> ArmTable:
    """Return the table with another number of plays a round."""
    before = table.problem
    if plays == table.problem.plays:
        return table
    if plays > len(before.arms):
        fail("plays", f"at most the number of arms, {len(before.arms)}", plays)
    problem = before.with_arms(before.arms, plays=plays)
    return make_table(problem, table.arrays, table.clock, table.position)


def without_arms(table: ArmTable, names: Sequence[str]) -> ArmTable:
    """Return the table without some of its arms."""
    before, gone = table.problem, set(table.indices(names).tolist())
    left = np.array([i for i in range(len(before.arms)) if i not in gone], dtype=np.int64)
    if not left.size:
        fail("the arm to retire", "one of several", before.arms[0])
    names = [before.arms[i] for i in left]
    columns = {name: getattr(before, name)[left] for name in ("weights", "floors", "ceilings")}
    problem = before.with_arms(names, **columns)
    return make_table(problem, carried(table.arrays, left), carried(table.clock, left))


def with_values(
    table: ArmTable,
    names: Sequence[str],
    floor: object,
    weight: object,
    played: Integers,
    rounds: int,
    latest: int,
    *,
    ceiling: object = None,
) -> ArmTable:
    """Return the table with other floors, ceilings or weights of some arms.

    A new floor counts from now on: what is owed stays, plays beyond the old floor are forgiven.
    """
    before, indices = table.problem, table.indices(names)
    floors, weights, ceilings = (
        column.copy() for column in (before.floors, before.weights, before.ceilings)
    )
    if floor is not None:
        floors[indices] = check_per_arm("floor", names, floor)
    if weight is not None:
        weights[indices] = check_per_arm("weight", names, weight, WEIGHT)
    if ceiling is not None:
        ceilings[indices] = check_per_arm("ceiling", names, ceiling)
    problem = before.with_arms(before.arms, weights=weights, floors=floors, ceilings=ceilings)
    arrays, clock = table.arrays, table.clock
    other = (floors != before.floors) & ~arrays.paused
    due = np.where(other, plays_due(arrays, slice(None), rounds), clock.due)
    settled = np.where(other, played, clock.played)
    changed = arrays._replace(
        since=np.where(other, float(rounds), arrays.since),
        promised=np.where(other, np.maximum(due, settled), arrays.promised),
    )
    bound = np.where(other, latest, clock.bound)
    later = clock._replace(bound=bound, due=due, played=settled)
    return make_table(problem, changed, later, table.position)


def with_pause(
    table: ArmTable, names: Sequence[str], rates: Floats, rounds: int, latest: int
) -> ArmTable:
    """Return the table with some arms paused: what they are owed stays as it is."""
    arrays, chosen = table.arrays, table.indices(names)
    for name, index in zip(names, chosen, strict=True):
        if arrays.paused[index]:
            fail("the arm to pause", "one that is not paused", name)
    paused, since, promised = arrays.paused.copy(), arrays.since.copy(), arrays.promised.copy()
    clock = copied(table.clock)
    promised[chosen] = plays_due(arrays, chosen, rounds)
    since[chosen], paused[chosen] = rounds, True
    clock.due[chosen], clock.played[chosen] = promised[chosen], FORGIVEN_NOTHING
    clock.bound[chosen], clock.paused_at[chosen] = latest, rounds
    clock.paused_rate[chosen] = rates[chosen]
    kept = arrays._replace(since=since, promised=promised, paused=paused)
    return make_table(table.problem, kept, clock, table.position)


def with_resumption(table: ArmTable, names: Sequence[str], rounds: int, latest: int) -> ArmTable:
    """Return the table with paused arms back in play: the pause counts for nothing."""
    arrays, chosen = table.arrays, table.indices(names)
    for name, index in zip(names, chosen, strict=True):
        if not arrays.paused[index]:
            fail("the arm to resume", "a paused one", name)
    paused, since, joined = arrays.paused.copy(), arrays.since.copy(), arrays.joined.copy()
    clock = copied(table.clock)
    joined[chosen] += rounds - clock.paused_at[chosen]
    since[chosen], paused[chosen] = rounds, False
    clock.due[chosen], clock.played[chosen] = arrays.promised[chosen], FORGIVEN_NOTHING
    clock.bound[chosen], clock.paused_at[chosen] = latest, 0.0
    kept = arrays._replace(since=since, joined=joined, paused=paused)
    return make_table(table.problem, kept, clock, table.position)


def without_round(table: ArmTable, then: ArmTable, decision_id: int, chosen: Integers) -> ArmTable:
    """Return the table as if a decision, made when the table was ``then``, had not been.

    The clock goes back by one: so do all moments that came after the decision. What an arm had
    been promised under an earlier floor is less by that floor, and what was forgiven less by the
    play if it was among the ``chosen``.
    """
    arrays, clock = table.arrays, table.clock
    was_there, later = clock.born < decision_id, clock.bound >= decision_id
    if was_there.all() and not later.any():
        return table
    indices = np.array([then.position.get(arm, -1) for arm in table.problem.arms])
    rested = was_there & then.arrays.paused[indices]
    earlier = later & was_there
    due = clock.due - np.where(earlier, then.arrays.floors[indices], 0.0)
    plays = np.isin(np.arange(later.size), chosen)
    played = clock.played - (earlier & plays & (clock.played > FORGIVEN_NOTHING))
    kept = arrays._replace(
        joined=arrays.joined - (~was_there | (rested & later)),
        since=arrays.since - later,
        promised=np.where(earlier, np.maximum(due, played), arrays.promised),
    )
    paused_at = clock.paused_at - (arrays.paused & later)
    changed = clock._replace(due=due, played=played, paused_at=paused_at)
    return make_table(table.problem, kept, changed, table.position)


def rounds_present(table: ArmTable, rounds: int) -> Floats:
    """Return for how many rounds each arm has taken part, without its pauses."""
    until = np.where(table.arrays.paused, table.clock.paused_at, rounds)
    present: Floats = until - table.arrays.joined
    return present


def took_part(table: ArmTable, arm: str, decision_id: int) -> bool:
    """Say whether it was this arm, not an earlier one of its name, that was decided about."""
    index = table.position.get(arm)
    return index is not None and bool(table.clock.born[index] < decision_id)
