"""Jobs for people on shifts: the roster says who can, skill decides who should, and nobody starves.

Prints everybody's share of the jobs, and draws ``shift_assignment.png``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from evenhand import Environment, Problem, Trace, find_optimum, make_policy, simulate

PEOPLE = ["Ada", "Ben", "Cem", "Dua", "Eve", "Fay"]
SKILL = [0.9, 0.8, 0.7, 0.5, 0.45, 0.4]  # chance that a job is done well
SHIFTS = {  # days of the week from Monday on, hours of the day
    "Ada": (range(5), range(8, 16)),
    "Ben": (range(5), range(12, 20)),
    "Cem": (range(2, 7), range(8, 16)),
    "Dua": (range(5), range(8, 16)),
    "Eve": (range(7), range(14, 20)),
    "Fay": (range(2, 7), range(12, 20)),
}
SHARE_OF_SHIFT = 0.45  # everybody works on a job in at least so much of the time on shift


def roster(weeks: int) -> np.ndarray:
    """Return who is on shift in every open hour, a row an hour; weeks begin on Saturday."""
    week = [(day, hour) for day in (5, 6, 0, 1, 2, 3, 4) for hour in range(8, 20)]
    hours = week * weeks
    return np.array([[d in SHIFTS[p][0] and h in SHIFTS[p][1] for p in PEOPLE] for d, h in hours])


def main(folder: Path, weeks: int = 26) -> None:
    """Assign two jobs an hour for half a year, fairly and greedily."""
    on_shift = roster(weeks)
    floors = SHARE_OF_SHIFT * on_shift.mean(axis=0)
    nature = Environment(Problem(PEOPLE, plays=2, floors=floors), SKILL, Trace(on_shift))
    best = find_optimum(nature)
    policies = {"fair": make_policy("priced"), "greedy": make_policy("thompson")}
    results = simulate(nature, policies, replications=20, seed=7, progress=False)
    shares = {}
    for label in policies:
        rates = np.array(list(results.rates(label).values()))
        shares[label] = rates / on_shift.mean(axis=0)
        done = results.reward(label).mean
        print(f"{label:7} {done:.3f} good jobs an hour; busy: " + ", ".join(
            f"{person} {share:.0%}" for person, share in zip(PEOPLE, shares[label], strict=True)
        ))  # fmt: skip
    print(f"the best that can be had: {best.with_floors:.3f} fairly, {best.without_floors:.3f}")
    draw(shares, folder / "shift_assignment.png")


def draw(shares: dict[str, np.ndarray], path: Path) -> None:
    """Draw how busy everybody is while on shift."""
    figure = Figure(figsize=(6.4, 3.0), layout="constrained")
    axes, places = figure.subplots(), np.arange(len(PEOPLE))
    for number, (label, share) in enumerate(shares.items()):
        axes.bar(places + 0.4 * number - 0.2, share, 0.38, label=label)
    axes.axhline(SHARE_OF_SHIFT, color="black", linewidth=1, label="promised")
    axes.set_xticks(places, PEOPLE)
    axes.set(ylabel="busy while on shift", title="Everybody's share of the jobs")
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
