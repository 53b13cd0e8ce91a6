"""Baudry et al. with unknown means: every arm is promised a reward, not a share of plays."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from evenhand.environment import Environment
from evenhand.lab.judging import Claim, RunSize
from evenhand.lab.measurement import Bound, Measurement
from evenhand.lab.science._baudry import HORIZON, MEANS_1, MEANS_5, REFERENCE, REVENUES_5
from evenhand.lab.science.checks import Source, Trial, TrialResults, check, horizon_of
from evenhand.policies import Policy, make_policy
from evenhand.problem import Problem
from evenhand.promises import Promise

# Experiments 3, 4 and 6 are made for 5,000 rounds.
SHORT = 5_000
SMALL = tuple(mean / math.sqrt(SHORT) for mean in MEANS_1)
LOOSENESS = (0.0, 0.1, 0.5, 0.9)
OPTIMA_2 = (0.791623, 0.802461, 0.845812, 0.889162)
# By so much reward in all rounds together, and so much regret a round: rewards are coin flips.
LACKING, REGRET = 3.0, 0.005
# Guarantees that take up all plays leave none to make up for bad luck: parts of its deviation.
TIGHT = 0.2
RIVALS = {
    "spoc": make_policy("spoc"),
    "sgoc": make_policy("spoc", estimate="greedy"),
    "banditq": make_policy("banditq"),
}


class Instance(NamedTuple):
    """One of their instances: means, guaranteed revenues, the optimum and the rounds."""

    name: str
    means: tuple[float, ...]
    revenues: tuple[float, ...]
    optimum: float
    rounds: int = HORIZON
    rivals: bool = False
    tight: bool = False
    regret: float = REGRET


def instances() -> Iterator[Instance]:
    """Yield the instances of experiments 1 to 6.

    >>> len(list(instances()))
    12
    """
    for gap in LOOSENESS:
        own = tuple(mean / 3 * (1 - gap) for mean in MEANS_1)
        best = 0.8 * (1 - gap) + 0.9 * gap
        yield Instance(f"reward-1-{gap:g}", MEANS_1, own, best, tight=gap == 0.0)
    fair = 1.0 / sum(1.0 / mean for mean in MEANS_1)
    for gap, best in zip(LOOSENESS, OPTIMA_2, strict=True):
        own = (fair * (1 - gap),) * 3
        kinds = {"rivals": gap == 0.5, "tight": gap == 0.0}
        yield Instance(f"reward-2-{gap:g}", MEANS_1, own, best, **kinds)
    yield Instance("reward-3", MEANS_1, (1 / math.sqrt(SHORT),) * 3, 0.894192, SHORT)
    sixth = tuple(mean / 6 for mean in SMALL)
    yield Instance("reward-4", SMALL, sixth, 0.012021, SHORT)
    yield Instance("reward-5", MEANS_5, REVENUES_5, 0.367897, rivals=True)
    last = SMALL[0], 0.9, SMALL[2]
    yield Instance("reward-6", last, sixth, 0.603536, SHORT, regret=0.03)


def trial(one: Instance, size: RunSize) -> Trial:
    """Return an instance with revenues as promises of reward, and the policies that play it."""
    promises = [
        Promise([str(1 + i)], at_least=least, of="reward", name=f"revenue of {1 + i}")
        for i, least in enumerate(one.revenues)
        if least > 0.0
    ]
    problem = Problem(len(one.means), plays=1, promises=promises)
    policies: dict[str, Policy] = {"priced": make_policy("priced")}
    if one.rivals:
        policies |= RIVALS
    # Short experiments, and those in which rivals must have learned, are never cut.
    whole = one.rivals or one.rounds == SHORT
    rounds = one.rounds if whole else horizon_of(size, one.rounds)
    return Trial(one.name, Environment(problem, one.means), policies, rounds)


def lacking(found: TrialResults, label: str) -> float:
    """Return the reward that the worst arm lacks in all rounds together, on average."""
    return found.results.worst_shortfall(label).mean * found.results.horizon


def claims(one: Instance) -> Iterator[Claim]:
    """Yield what must hold of an instance."""
    yield check(
        one.name,
        f"the optimum is {one.optimum:.6f}",
        Bound(one.optimum - 6e-7, one.optimum + 6e-7),
        lambda found: Measurement("optimum", found.optimum.with_floors),
    )
    luck = ", but for bad luck that no play is left to make up for" if one.tight else ""
    yield check(
        one.name,
        f"every arm has the revenue that it is guaranteed, with means that nobody told{luck}",
        Bound(0.0, TIGHT * math.sqrt(one.rounds) if one.tight else LACKING),
        lambda found: Measurement("reward that the worst arm lacks", lacking(found, "priced")),
    )
    yield check(
        one.name,
        f"regret is at most {one.regret} a round",
        Bound(high=one.regret),
        lambda found: found.regret("priced"),
    )
    if one.rivals:
        yield from against_rivals(one)


def against_rivals(one: Instance) -> Iterator[Claim]:
    """Yield how the published algorithms compare: what one lacks, the other pays for in regret."""

    def dearer(found: TrialResults) -> Measurement:
        theirs, ours = found.regret("spoc"), found.regret("priced")
        words = "regret of SPOC minus that of priced"
        return Measurement(words, theirs.value - ours.value, theirs.margin + ours.margin)

    def short(found: TrialResults) -> Measurement:
        ratio = lacking(found, "sgoc") / max(lacking(found, "priced"), 0.1)
        return Measurement("what SGOC lacks over what priced does", ratio)

    yield check(one.name, "SPOC, which lacks nothing, has more regret", Bound(low=0.0), dearer)
    says = "SGOC, with the same regret, lacks at least ten times as much"
    yield check(one.name, says, Bound(low=10.0), short)


def guaranteed_rewards(size: RunSize) -> Source:
    """Return experiments 1 to 6 with promises of reward."""
    every = list(instances())
    return Source(
        "baudry-rewards",
        "Guaranteed revenue with unknown means, experiments 1 to 6",
        REFERENCE,
        "revenues as promises of reward, one play, 100,000 rounds (3, 4 and 6: 5,000)",
        tuple(trial(one, size) for one in every),
        tuple(claim for one in every for claim in claims(one)),
    )
