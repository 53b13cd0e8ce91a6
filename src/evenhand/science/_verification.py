"""All outside checks: play what they need, judge, and write one page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from evenhand.core.plain import to_json
from evenhand.core.storage import write_text
from evenhand.science._baudry import experiment_1, experiment_5
from evenhand.science._checks_page import checks_page
from evenhand.science._classics import bernoulli_bandits, sleeping_experts
from evenhand.science._closed_forms import closed_forms
from evenhand.science._li import own_setting
from evenhand.science.checks import SEED, Effort, Source, Verdict, counted, grid_of, judge_sources
from evenhand.sweeps import Grid, SweepResults

SOURCES: tuple[Callable[[Effort], Source], ...] = (
    experiment_5,
    experiment_1,
    own_setting,
    sleeping_experts,
    bernoulli_bandits,
    closed_forms,
)
RUNS = "runs"


class Verification(NamedTuple):
    """What was found, and where its page is."""

    verdicts: tuple[Verdict, ...]
    page: Path


def sources_of(effort: Effort) -> list[Source]:
    """Return all sources.

    >>> [source.id for source in sources_of(Effort(quick=True))]
    ['baudry-5', 'baudry-1', 'li', 'sleeping', 'bernoulli', 'closed-forms']
    """
    return [make(effort) for make in SOURCES]


def verify_science(
    out: Path, effort: Effort, play: Callable[[Grid, Path], SweepResults]
) -> Verification:
    """Play what the checks need into a folder, and write ``report.html`` and ``checks.json``."""
    sources = sources_of(effort)
    played = play(grid_of(sources, effort), out / RUNS)
    verdicts = tuple(judge_sources(sources, played))
    write_text(out / "checks.json", to_json(as_json(effort, verdicts)))
    page = out / "report.html"
    write_text(page, checks_page(effort, verdicts, played.about))
    return Verification(verdicts, page)


def as_json(effort: Effort, verdicts: Sequence[Verdict]) -> dict[str, object]:
    """Return everything for machines."""
    return {
        "quick": effort.quick,
        "seed": SEED,
        "replications": effort.replications,
        "counted": counted(verdicts),
        "checks": [verdict.as_json() for verdict in verdicts],
    }
