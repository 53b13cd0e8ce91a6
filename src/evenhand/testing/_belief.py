"""What every belief must do, for authors of their own beliefs."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.beliefs.belief import Belief
from evenhand.core.arrays import Floats
from evenhand.core.jit import maker
from evenhand.core.round import StepOptions
from evenhand.core.schema import copied, names_of, new
from evenhand.core.state import State

ARMS, FEATURES, REWARDS = 3, 4, 60
# Sums of the same numbers in another order.
ROUNDING = 1e-9
# What is written in every decision.
PASSING = {"context", "scratch"}


def check_belief(belief: Belief, *, compiled: bool = True) -> None:
    """Check that a belief does what every belief must.

    Interpreted and compiled it gives the same bits; samples and statistics are finite; an arm that
    returns 1 is expected to return more than one that returns 0; what its statistics derive can be
    computed from its sums; and the order of rewards does not matter if it says that it adds up.

    Parameters
    ----------
    belief
        The belief.
    compiled
        Whether to compare with machine code, which needs the extra ``lab``.

    Raises
    ------
    AssertionError
        With what is wrong.

    Examples
    --------
    >>> from evenhand.beliefs.linear import LINEAR
    >>> check_belief(LINEAR, compiled=False)
    """
    assert belief.name, "a belief must have a name"
    assert belief.summary, f"{belief.name}: a belief must have a summary"
    if not belief.regresses:
        return
    for options in (StepOptions(sampled=True), StepOptions(sampled=True, half_life=20.0)):
        plain = _learned(belief, options, machine=False)
        _check_numbers(belief, copied(plain), options)
        if compiled:
            fast = _learned(belief, options, machine=True)
            same = all(a.tobytes() == b.tobytes() for a, b in zip(plain, fast, strict=True))
            assert same, f"{belief.name}: compiled, the statistics are others"
            drawn = [_samples(belief, copied(plain), options, machine) for machine in (False, True)]
            assert drawn[0].tobytes() == drawn[1].tobytes(), f"{belief.name}: other samples"
    if belief.adds_up:
        _check_order(belief)


def _check_numbers(belief: Belief, learned: Any, options: StepOptions) -> None:
    """Check that numbers are finite, derived ones follow from sums, and rewards count."""
    samples = _samples(belief, learned, options, machine=False)
    finite = all(np.isfinite(array).all() for array in (*learned, samples))
    assert finite, f"{belief.name}: numbers must be finite"
    if options.half_life == np.inf:
        before = copied(learned)
        belief.refresh_all(learned, options, 1.0)
        for name in set(names_of(belief.statistics, derived=True)) - PASSING:
            apart = np.abs(getattr(learned, name) - getattr(before, name)).max()
            assert apart < ROUNDING, f"{belief.name}: {name} must follow from the sums"
    learned.context[:] = np.eye(FEATURES)[0]
    certain = options._replace(width=0.0)
    low, high, _ = _samples(belief, learned, certain, machine=False)
    assert high > low, f"{belief.name}: what returns 1 must be expected to return more"


def _check_order(belief: Belief) -> None:
    options = StepOptions()
    one, other = (_learned(belief, options, machine=False, back=back) for back in (False, True))
    apart = np.abs(one.means - other.means).max()
    assert apart < ROUNDING, f"{belief.name}: it does not add up, the order of rewards matters"


def _learned(belief: Belief, options: StepOptions, *, machine: bool, back: bool = False) -> Any:
    """Return statistics after rewards of 0 for the first arm, and of 1 for the second."""
    assert belief.learn is not None
    learn = maker(machine)(belief.learn)
    found, state = belief.start(ARMS, FEATURES), new(State, ARMS)
    belief.refresh_all(found, options, 1.0)
    contexts = np.random.default_rng(5).uniform(-1.0, 1.0, (REWARDS, FEATURES))
    contexts[:, 0] = 1.0
    for context in contexts[::-1] if back else contexts:
        for arm, reward in ((0, 0.0), (1, 1.0)):
            learn(found, state, context, arm, reward, 1.0, options)
    found.context[:] = contexts[0]
    return found


def _samples(belief: Belief, learned: Any, options: StepOptions, machine: bool) -> Floats:
    """Return a sample of every arm, with random numbers that are always the same."""
    samples, state = np.empty(ARMS), new(State, ARMS)
    given = samples, np.arange(ARMS), state, learned, options, np.random.default_rng(3)
    maker(machine)(belief.draw)(*given)
    return samples
