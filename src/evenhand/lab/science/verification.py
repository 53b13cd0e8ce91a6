"""All checks against other sources: play what they need, judge, and write one page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core.html import Section, page
from evenhand.core.plain import to_json
from evenhand.core.storage import write_text
from evenhand.lab.judging import RunSize, Verdict, counted
from evenhand.lab.measurement import FAILS, HOLDS, UNDECIDED
from evenhand.lab.science._baudry import experiment_1, experiment_5
from evenhand.lab.science._baudry_rewards import guaranteed_rewards
from evenhand.lab.science._classics import bernoulli_bandits, sleeping_experts
from evenhand.lab.science._closed_forms import closed_forms
from evenhand.lab.science._li import own_setting
from evenhand.lab.science.checks import QUICK_NOTE, SEED, Source, grid_of, judge_source
from evenhand.lab.verdict_page import counts, verdict_table
from evenhand.sweeps import Grid, SweepResults

SOURCES: tuple[Callable[[RunSize], Source], ...] = (
    experiment_5,
    experiment_1,
    guaranteed_rewards,
    own_setting,
    sleeping_experts,
    bernoulli_bandits,
    closed_forms,
)
RUNS = "runs"
WORDS = (HOLDS, UNDECIDED, FAILS)
LEAD = "Published problems and numbers, and laws that must hold."


class SourceVerdicts(NamedTuple):
    """A source and the verdicts on its claims."""

    source: Source
    verdicts: tuple[Verdict, ...]


class Verification(NamedTuple):
    """The verdicts by source, and the page."""

    sources: tuple[SourceVerdicts, ...]
    page: Path

    @property
    def verdicts(self) -> list[Verdict]:
        """All verdicts."""
        return [verdict for one in self.sources for verdict in one.verdicts]


def sources_of(size: RunSize) -> list[Source]:
    """Return all sources.

    >>> [source.id for source in sources_of(RunSize(quick=True))]
    ['baudry-5', 'baudry-1', 'baudry-rewards', 'li', 'sleeping', 'bernoulli', 'closed-forms']
    """
    return [make(size) for make in SOURCES]


def verify_science(
    out: Path, size: RunSize, play: Callable[[Grid, Path], SweepResults]
) -> Verification:
    """Play what the checks need into a folder, and write ``report.html`` and ``checks.json``."""
    sources = sources_of(size)
    played = play(grid_of(sources, size), out / RUNS)
    judged = tuple(SourceVerdicts(source, judge_source(source, played)) for source in sources)
    done = Verification(judged, out / "report.html")
    write_text(out / "checks.json", to_json(as_json(size, done)))
    write_text(done.page, as_page(size, done, played.about))
    return done


def as_json(size: RunSize, done: Verification) -> dict[str, object]:
    """Return all verdicts as plain data."""
    return {
        "quick": size.quick,
        "seed": SEED,
        "replications": size.replications,
        "counted": {word: counted(done.verdicts)[word] for word in WORDS},
        "checks": [
            _row(source, verdict) for source, verdicts in done.sources for verdict in verdicts
        ],
    }


def _row(source: Source, verdict: Verdict) -> dict[str, Any]:
    bound = verdict.claim.rule.bound
    return {
        "source": source.id,
        "reference": source.reference,
        "setting": source.setting,
        "trial": verdict.claim.cells[0],
        "says": verdict.claim.says,
        "tolerance": {"low": bound.low, "high": bound.high, "words": str(bound)},
        "measured": verdict.deciding._asdict(),
        "verdict": verdict.verdict,
    }


def as_page(size: RunSize, done: Verification, about: Mapping[str, Any]) -> str:
    """Return the page: a section for each source."""
    verdicts = done.verdicts
    summary = (
        f"<p>{len(verdicts)} checks: {counts(verdicts, *WORDS)}. A check holds if "
        "the measured number, with its 95% interval where chance has a part in it, is within the "
        "stated tolerance; it is undecided where the interval reaches across an end of it.</p>"
    )
    versions = ", ".join(f"{name} {number}" for name, number in about["matching"].items())
    run = f"<p>Seed {SEED}, {size.replications} replications; {escape(versions)}.</p>"
    sections = [
        Section("Summary", summary),
        *(Section(source.title, _section(source, own)) for source, own in done.sources),
        Section("How it was run", run),
    ]
    note = QUICK_NOTE if size.quick else ""
    return page("Checked against other sources", LEAD, sections, note)


def _section(source: Source, verdicts: Sequence[Verdict]) -> str:
    about = f"<p>{escape(source.reference)}.<br>{escape(source.setting)}.</p>"
    return about + verdict_table(verdicts, "What must hold")
