"""The arms that take part: who they are, what they were promised, and from when it counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers, Masks, frozen
from evenhand.core.checks import WEIGHT, check_known, check_names, check_per_arm, fail
from evenhand.core.terms import Terms, plays_due
from evenhand.errors import InputError
from evenhand.problem import Problem

# Up to so many places in order are looked at one by one, which is quicker than NumPy.
FEW_LISTED = 64

# Plays so far below any promise that the larger of both is always the promise.
FORGIVEN_NOTHING = -1e300


class Marks(NamedTuple):
    """What a roster remembers of each arm, so that decisions can be taken back.

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

    born: Integers
    bound: Integers
    due: Floats
    played: Floats
    paused_at: Floats
    paused_rate: Floats


class Roster(NamedTuple):
    """The arms between two changes of them; never changed in place.

    Attributes
    ----------
    problem, terms
        The arms as the user knows them, and as scoring functions do: a paused arm's floor is 0.
    marks
        From when what they were promised counts.
    position
        The place of every arm.
    everyone
        The places of the arms that are not paused.
    """

    problem: Problem
    terms: Terms
    marks: Marks
    position: dict[str, int]
    everyone: Integers

    def places(self, names: Sequence[str]) -> Integers:
        """Return the places of arms by name, all of them known."""
        check_known("arm", names, self.position)
        return np.array([self.position[name] for name in names], dtype=np.int64)


def first_roster(problem: Problem) -> Roster:
    """Return the arms of an agent that has decided nothing yet.

    >>> first_roster(Problem(["a", "b"], plays=1)).everyone
    array([0, 1])
    """
    nothing = np.zeros(len(problem.arms))
    never = np.zeros(nothing.size, dtype=np.int64)
    marks = Marks(never, never, nothing, np.full(nothing.size, FORGIVEN_NOTHING), nothing, nothing)
    return make_roster(problem, problem.terms, marks)


def make_roster(
    problem: Problem, terms: Terms, marks: Marks, position: dict[str, int] | None = None
) -> Roster:
    """Return a roster, with what follows from the rest; the same arms share their positions."""
    floors = np.where(terms.paused, 0.0, problem.floors)
    arrays = [frozen(array) for array in (floors, *terms[3:])]
    terms = Terms._make([problem.plays, problem.weights, *arrays])
    if position is None:
        position = {arm: i for i, arm in enumerate(problem.arms)}
    return Roster(problem, terms, marks, position, np.flatnonzero(~terms.paused))


def names_of(given: object) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    names = check_names("arms", [given] if isinstance(given, str) or given is None else given)
    if not names:
        fail("arms", "at least one", "none")
    return names


def with_arms(
    roster: Roster, names: Sequence[str], floor: object, weight: object, rounds: int, latest: int
) -> Roster:
    """Return the roster with new arms, to whom nothing is owed for the time before."""
    before, terms, new = roster.problem, roster.terms, len(names)
    floors = check_per_arm("floor", names, floor)
    weights = check_per_arm("weight", names, weight, WEIGHT)
    problem = Problem(
        (*before.arms, *names),
        before.plays,
        np.append(before.weights, weights),
        np.append(before.floors, floors),
    )
    now = np.full(new, float(rounds))
    grown = terms._replace(
        joined=np.append(terms.joined, now),
        since=np.append(terms.since, now),
        promised=np.append(terms.promised, np.zeros(new)),
        paused=np.append(terms.paused, np.zeros(new, dtype=np.bool_)),
    )
    decided, nothing = np.full(new, latest, dtype=np.int64), np.zeros(new)
    fresh = Marks(decided, decided, nothing, nothing + FORGIVEN_NOTHING, nothing, nothing)
    pairs = zip(roster.marks, fresh, strict=True)
    return make_roster(problem, grown, Marks._make(np.append(*pair) for pair in pairs))


def with_plays(roster: Roster, plays: int) -> Roster:
    """Return the roster with another number of plays a round."""
    before = roster.problem
    problem = Problem(before.arms, plays, before.weights, before.floors)
    return make_roster(problem, roster.terms, roster.marks, roster.position)


def only_places(roster: Roster, left: list[int]) -> Roster:
    """Return the roster of some of the arms."""
    before = roster.problem
    if not left:
        fail("the arm to retire", "one of several", before.arms[0])
    problem = Problem(
        [before.arms[i] for i in left], before.plays, before.weights[left], before.floors[left]
    )
    terms = Terms._make([before.plays, *(array[left] for array in roster.terms[1:])])
    return make_roster(problem, terms, Marks._make(mark[left] for mark in roster.marks))


def with_values(
    roster: Roster,
    names: Sequence[str],
    floor: object,
    weight: object,
    played: Integers,
    rounds: int,
    latest: int,
) -> Roster:
    """Return the roster with other floors or weights of some arms.

    A new floor counts from now on: what is owed stays, plays beyond the old floor are forgiven.
    """
    before, places = roster.problem, roster.places(names)
    floors, weights = before.floors.copy(), before.weights.copy()
    if floor is not None:
        floors[places] = check_per_arm("floor", names, floor)
    if weight is not None:
        weights[places] = check_per_arm("weight", names, weight, WEIGHT)
    problem = Problem(before.arms, before.plays, weights, floors)
    terms, marks = roster.terms, roster.marks
    other = (floors != before.floors) & ~terms.paused
    due = np.where(other, plays_due(terms, slice(None), rounds), marks.due)
    settled = np.where(other, played, marks.played)
    changed = terms._replace(
        since=np.where(other, float(rounds), terms.since),
        promised=np.where(other, np.maximum(due, settled), terms.promised),
    )
    bound = np.where(other, latest, marks.bound)
    kept = marks._replace(bound=bound, due=due, played=settled)
    return make_roster(problem, changed, kept, roster.position)


def with_pause(
    roster: Roster, names: Sequence[str], rates: Floats, rounds: int, latest: int
) -> Roster:
    """Return the roster with some arms paused: what they are owed stays as it is."""
    terms, chosen = roster.terms, roster.places(names)
    for name, place in zip(names, chosen, strict=True):
        if terms.paused[place]:
            fail("the arm to pause", "one that is not paused", name)
    paused, since, promised = terms.paused.copy(), terms.since.copy(), terms.promised.copy()
    marks = Marks._make(mark.copy() for mark in roster.marks)
    promised[chosen] = plays_due(terms, chosen, rounds)
    since[chosen], paused[chosen] = rounds, True
    marks.due[chosen], marks.played[chosen] = promised[chosen], FORGIVEN_NOTHING
    marks.bound[chosen], marks.paused_at[chosen] = latest, rounds
    marks.paused_rate[chosen] = rates[chosen]
    kept = terms._replace(since=since, promised=promised, paused=paused)
    return make_roster(roster.problem, kept, marks, roster.position)


def with_resumption(roster: Roster, names: Sequence[str], rounds: int, latest: int) -> Roster:
    """Return the roster with paused arms back in play: the pause counts for nothing."""
    terms, chosen = roster.terms, roster.places(names)
    for name, place in zip(names, chosen, strict=True):
        if not terms.paused[place]:
            fail("the arm to resume", "a paused one", name)
    paused, since, joined = terms.paused.copy(), terms.since.copy(), terms.joined.copy()
    marks = Marks._make(mark.copy() for mark in roster.marks)
    joined[chosen] += rounds - marks.paused_at[chosen]
    since[chosen], paused[chosen] = rounds, False
    marks.due[chosen], marks.played[chosen] = terms.promised[chosen], FORGIVEN_NOTHING
    marks.bound[chosen], marks.paused_at[chosen] = latest, 0.0
    kept = terms._replace(since=since, joined=joined, paused=paused)
    return make_roster(roster.problem, kept, marks, roster.position)


def without_round(roster: Roster, then: Roster, decision_id: int, chosen: Integers) -> Roster:
    """Return the roster as if a decision, made when the roster was ``then``, had not been.

    The clock goes back by one: so do all moments that came after the decision. What an arm had
    been promised under an earlier floor is less by that floor, and what was forgiven less by the
    play if it was among the ``chosen``.
    """
    terms, marks = roster.terms, roster.marks
    was_there, later = marks.born < decision_id, marks.bound >= decision_id
    if was_there.all() and not later.any():
        return roster
    places = np.array([then.position.get(arm, -1) for arm in roster.problem.arms])
    rested = was_there & then.terms.paused[places]
    earlier = later & was_there
    due = marks.due - np.where(earlier, then.terms.floors[places], 0.0)
    plays = np.isin(np.arange(later.size), chosen)
    played = marks.played - (earlier & plays & (marks.played > FORGIVEN_NOTHING))
    kept = terms._replace(
        joined=terms.joined - (~was_there | (rested & later)),
        since=terms.since - later,
        promised=np.where(earlier, np.maximum(due, played), terms.promised),
    )
    paused_at = marks.paused_at - (terms.paused & later)
    changed = marks._replace(due=due, played=played, paused_at=paused_at)
    return make_roster(roster.problem, kept, changed, roster.position)


def rounds_present(roster: Roster, rounds: int) -> Floats:
    """Return for how many rounds each arm has taken part, without its pauses."""
    until = np.where(roster.terms.paused, roster.marks.paused_at, rounds)
    present: Floats = until - roster.terms.joined
    return present


def took_part(roster: Roster, arm: str, decision_id: int) -> bool:
    """Say whether it was this arm, not an earlier one of its name, that was decided about."""
    place = roster.position.get(arm)
    return place is not None and bool(roster.marks.born[place] < decision_id)


def mask_of_names(roster: Roster, names: Sequence[Any]) -> Masks:
    """Return which arms some names stand for, whether paused or not.

    Raises
    ------
    InputError
        For an unknown or repeated arm.
    """
    try:
        places = list(map(roster.position.__getitem__, names))
    except (KeyError, TypeError):
        check_known("awake arm", check_names("awake arms", names), roster.position)
        raise
    mask = np.zeros(len(roster.problem.arms), dtype=np.bool_)
    mask[places] = True
    if np.count_nonzero(mask) < len(places):
        check_names("awake arms", names)
    return mask


def awake_places(roster: Roster, given: Any) -> Integers:
    """Return the places of awake arms in ascending order, from names, places or a mask.

    Arms that are paused are left out.

    Raises
    ------
    InputError
        For an unknown or repeated arm, a place out of range, or a mask of the wrong length.
    """
    if type(given) is np.ndarray:
        kind = given.dtype.kind
        if kind == "b":
            return _of_mask(roster, given)
        if kind in "iu":
            return _of_places(roster, given)
    if isinstance(given, bytes | np.ma.MaskedArray):
        fail("awake arms", "names, whole places or truth values", given)
    if isinstance(given, str) or not isinstance(given, Iterable):
        fail("awake arms", "a list of names", given)
    try:
        listed = given if isinstance(given, list | tuple) else list(given)
        first = listed[0] if listed else ""
        if isinstance(first, bool | np.bool_):
            return _of_mask(roster, np.array(listed))
        if isinstance(first, int | np.integer):
            return _of_places(roster, np.array(listed))
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        fail("awake arms", "names, whole places or truth values", given)
    return _of_mask(roster, mask_of_names(roster, listed))


def _of_mask(roster: Roster, mask: Any) -> Integers:
    arms = len(roster.problem.arms)
    if mask.dtype.kind != "b" or mask.shape != (arms,):
        fail("mask of awake arms", f"one truth value for each of {arms} arms", mask.shape)
    if roster.everyone.size < arms:
        mask = mask & ~roster.terms.paused
    places: Integers = mask.nonzero()[0]
    return places


def _of_places(roster: Roster, places: Any) -> Integers:
    arms = len(roster.problem.arms)
    if places.ndim != 1 or places.dtype.kind not in "iu":
        fail("awake arms", "names, whole places or truth values", places.tolist())
    if places.size <= FEW_LISTED and roster.everyone.size == arms:
        listed = [-1, *places.tolist(), arms]
        if listed == sorted(set(listed)):
            return np.array(listed[1:-1], dtype=np.int64)
    if places.size and not 0 <= places.min() <= places.max() < arms:
        wrong = (places < 0) | (places >= arms)
        fail("place of an awake arm", f"in 0 to {arms - 1}", int(places[wrong][0]))
    mask = np.zeros(arms, dtype=np.bool_)
    mask[places] = True
    if np.count_nonzero(mask) < places.size:
        check_names("awake arms", [roster.problem.arms[place] for place in places])
    return _of_mask(roster, mask)
