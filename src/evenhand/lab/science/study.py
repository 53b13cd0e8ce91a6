"""The study as a Markdown block, as a figure, and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.figures import Spot, frontier
from evenhand.lab.science._promised_worlds import PROMISED
from evenhand.lab.science.games import CONTEXTS, INDEPENDENT, LOGISTIC, NO_CONTEXTS, OURS, Scope
from evenhand.lab.science.scores import Row, Score, Winner, summarise, winners

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURE, CONTEXTS_FIGURE = "frontier", "frontier-contexts"
HEADS = (
    "worst shortfall, mean",
    "largest",
    "R(T) / optimum, mean",
    "largest",
    "floors kept",
    "plays behind after burn-in",
    "rounds over 3 behind",
    "worst in a window",
)


PROMISE_HEADS = (
    "worst miss, mean",
    "largest",
    "R(T) / optimum, mean",
    "largest",
    "all kept",
    "worst in a window",
)


def as_json(scope: Scope, scores: Sequence[Score]) -> dict[str, Any]:
    """Return everything as plain data."""
    return {
        "scope": asdict(scope),
        "winners": [_winner_json(winner) for winner in winners(scores)],
        "policies": [row._asdict() for row in summarise(scores)],
        "scores": [score._asdict() for score in scores],
    }


def _winner_json(winner: Winner) -> dict[str, Any]:
    return {
        "world": winner.ours.world,
        "horizon": winner.ours.horizon,
        "keeps_floors_best": winner.keeper.label,
        "least_regret_within_a_play": winner.winner.label,
        "better_than_priced": [rival._asdict() for rival in winner.better],
    }


def as_markdown(scope: Scope, scores: Sequence[Score]) -> str:
    """Return the block for the documentation: who wins, the figure, all numbers."""
    rows = summarise(scores)
    main = [row for row in rows if (row.world, row.horizon) == (INDEPENDENT, scope.horizon)]
    with_contexts = [row for row in rows if row.world == CONTEXTS]
    promised = [row for row in rows if row.world in PROMISED]
    rest = [row for row in rows if row not in (*main, *with_contexts, *promised)]
    lines = [
        f"Who wins where, {scope.replications} replications of every instance:",
        "",
        *_table(*winners_table(winners(scores))),
    ]
    if main:
        lines += ["", f"Independent arms: {scope.instances} instances, T = {scope.horizon:,}.", ""]
        lines += [f"![Worst shortfall against regret, independent arms]({FIGURE}.svg)", ""]
        lines += _table(["policy", *HEADS, "η price / T"], [_main(row) for row in main])
    if with_contexts:
        lines += [
            "",
            f"Contexts: {with_contexts[0].instances} instances, T = {scope.horizon:,}.",
            "",
        ]
        lines += [f"![Worst shortfall against regret, with contexts]({CONTEXTS_FIGURE}.svg)", ""]
        lines += _table(["policy", *HEADS], [[row.label, *_numbers(row)] for row in with_contexts])
        lines += ["", against_debts(with_contexts)]
    if promised:
        lines += ["", *promises_block(scope, promised)]
    if rest:
        lines += ["", "Other horizons and other worlds:", ""]
        lines += _table(
            ["world", "T", "policy", *HEADS],
            [[row.world, f"{row.horizon:,}", row.label, *_numbers(row)] for row in rest],
        )
    return "\n".join(lines)


def promises_block(scope: Scope, rows: Sequence[Row]) -> list[str]:
    """Return the tables of worlds with promises, and how `priced` compares with plain debts."""
    count = rows[0].instances
    lines = [
        f"Promises of every kind: {count} instances of each world, T = {scope.horizon:,}. "
        "A promise is missed by what it lacks of its lower bound, or has beyond its upper one, "
        "a round.",
        "",
        *_table(["world", "policy", *PROMISE_HEADS], [_promised(row) for row in rows]),
    ]
    for world in dict.fromkeys(row.world for row in rows):
        own = [row for row in rows if row.world == world]
        ours = next(row for row in own if row.label == OURS)
        same, inside = same_regret(own, ours.regret)
        nearest = "" if inside else "eta nearest to the "
        more = f"{same / ours.shortfall:.0f} times as much" if ours.shortfall else "all of it more"
        lines += [
            "",
            f"{world.capitalize()}: at the {nearest}regret of `priced`, {ours.regret:.3%}, plain "
            f"debts miss promises by {same:.5f}, {more}.",
        ]
    return lines


def _promised(row: Row) -> list[str]:
    """Return the cells of a policy in a world with promises, without figures of floors alone."""
    numbers = _numbers(row)
    return [row.world, row.label, *numbers[:5], numbers[-1]]


def same_regret(rows: Sequence[Row], regret: float) -> tuple[float, bool]:
    """Return what plain debts miss at the eta of some regret, and whether there is such an eta."""
    debts = sorted((row.regret, row.shortfall) for row in rows if row.label.startswith("tscsf-b"))
    regrets, shortfalls = np.array(debts).T
    logs = np.log(np.maximum(shortfalls, 1e-9))
    inside = bool(regrets[0] <= regret <= regrets[-1])
    return float(np.exp(np.interp(regret, regrets, logs))), inside


def against_debts(rows: Sequence[Row]) -> str:
    """Say how `priced` compares with plain debts at the eta that has its regret."""
    by_label = {row.label: row for row in rows}
    ours, logistic, blind = (by_label[label] for label in (OURS, LOGISTIC, NO_CONTEXTS))
    same, inside = same_regret(rows, ours.regret)
    plain = by_label["tscsf-b η=100"]
    gained = (1.0 - ours.regret) / (1.0 - blind.regret) - 1.0
    more = f"{same / ours.shortfall:.1f} times as much" if ours.shortfall else "`priced` by nothing"
    return (
        f"At the {'' if inside else 'eta nearest to the '}regret of `priced`, {ours.regret:.3%}, "
        f"plain debts miss floors by {same:.5f}: "
        f"{more}. Against plain debts at η = 100 its regret is "
        f"larger by {ours.regret - plain.regret:.4f} of the optimum. `logistic` has "
        f"{1.0 - logistic.regret / ours.regret:.0%} less regret than `linear`. Contexts earn "
        f"{gained:.0%} more than no contexts."
    )


def winners_table(found: Sequence[Winner]) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the rows of the table of who wins where."""
    heads = [
        "world",
        "T",
        "instances",
        "misses floors least",
        "least regret within a play of it",
        "priced",
        "better than priced in both",
    ]
    rows = [
        [
            one.ours.world,
            f"{one.ours.horizon:,}",
            str(one.ours.instances),
            f"{one.keeper.label}: {_place(one.keeper)}",
            f"{one.winner.label}: {_place(one.winner)}",
            _place(one.ours),
            ", ".join(map(str, one.better)) or "nobody",
        ]
        for one in found
    ]
    return heads, rows


def _place(row: Row) -> str:
    return f"lacks {row.lacking:.1f}, regret {row.regret:.2%}"


def _main(row: Row) -> list[str]:
    return [row.label, *_numbers(row), "" if row.predicted is None else f"{row.predicted:.5f}"]


def _numbers(row: Row) -> list[str]:
    return [
        f"{row.shortfall:.5f}",
        f"{row.largest_shortfall:.5f}",
        f"{row.regret:.4f}",
        f"{row.largest_regret:.4f}",
        f"{row.all_kept:.0%}",
        f"{row.largest_debt_after:.1f}",
        f"{row.share_behind:.1%}",
        f"{row.worst_window_shortfall:.4f}",
    ]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def drawn(scope: Scope, scores: Sequence[Score]) -> dict[str, Figure]:
    """Return the frontiers by name, of independent arms and of contexts, if those were played."""
    wanted = {FIGURE: INDEPENDENT, CONTEXTS_FIGURE: CONTEXTS}
    played = {score.world for score in scores}
    return {
        name: _frontier(scope, scores, world) for name, world in wanted.items() if world in played
    }


def _frontier(scope: Scope, scores: Sequence[Score], world: str) -> Figure:
    """Return the frontier of a world: means over instances, bars to the largest.

    Without contexts a policy is far outside of the picture of those that have them.
    """
    rows = [
        row
        for row in summarise(scores)
        if (row.world, row.horizon) == (world, scope.horizon)
        and "surplus" not in row.label
        and row.label != NO_CONTEXTS
    ]
    spots = [
        Spot(
            row.label,
            row.label.split()[0].rstrip(","),
            row.shortfall,
            row.largest_shortfall,
            row.regret,
            0.0,
        )
        for row in rows
    ]
    words = "worst shortfall, mean (bar: to the largest)", "R(T) / optimum, mean"
    return frontier(spots, f"{rows[0].instances} instances, T = {scope.horizon:,}", "", words)
