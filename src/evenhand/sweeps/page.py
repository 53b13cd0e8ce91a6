"""A sweep as one HTML page: a summary, and for each instance its curves and heat maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand import figures
from evenhand.core.checks import check_known
from evenhand.core.extras import load
from evenhand.core.html import Section, bullets, gallery, page, table
from evenhand.core.storage import write_text
from evenhand.errors import InputError
from evenhand.sweeps import _charts as charts
from evenhand.sweeps._results import SweepResults

if TYPE_CHECKING:
    import polars

MANY_INSTANCES = 12
HEADINGS = (
    "instance",
    "policy",
    "T",
    "replications",
    "regret",
    "worst shortfall",
    "floors kept",
    "plays behind, most",
    "after burn-in",
    "rounds behind",
    "longest gap",
    "worst window",
)
MEAN_HEADINGS = ("random instances", "policy", "T", "regret, mean", "worst shortfall", "largest")
WORDS = (
    "Regret R(T): reward per round of the exact optimum that keeps the floors, minus the policy's, "
    "averaged over T rounds; negative where a policy earns more by missing floors. The optimum of "
    "a recorded trace is that of the rounds played, up to T.",
    "Worst shortfall: how far the arm that lacks most is below its floor, as a fraction of rounds: "
    "the mean over replications, and what 95% of them stay within.",
    "Floors kept: the share of replications in which no arm lacks more than one play.",
    "Plays behind: the most that any arm was behind at any moment, and after the burn-in; "
    "rounds behind: the share of rounds in which some arm was behind by more than the tolerance; "
    "longest gap: the most rounds from one play of an arm to its next; worst window: the worst "
    "shortfall in a window of rounds. Means over replications.",
    "Curves: the vertical axis is linear within 0.01 of zero and logarithmic beyond; dashed lines "
    "have a debt with a finite surplus; more than four lines are drawn without their 95% bands.",
)
Drawn = tuple[bytes, str]


def write_page(
    found: SweepResults,
    path: Path,
    *,
    instances: Sequence[str] | None = None,
    tell: Callable[[str], object] = str,
) -> None:
    """Write the page; of a sweep that is not complete, what there is, and that it is not all.

    ``instances`` are those to draw, the first ones by default; ``tell`` is told now and then what
    is being drawn.
    """
    check_known("instance", instances or (), found.instances)
    summary = found.summary()
    drawn = list(instances or found.instances)[: None if instances else MANY_INSTANCES]
    overall = draw_maps(charts.overall_maps(summary))
    means = means_table(summary)
    sections = [Section("Words", bullets(WORDS).html)]
    if overall:
        sections.append(Section("Across instances", gallery(overall, wide=True)))
    for instance in drawn:
        tell(f"drawing {instance}")
        sections.append(Section(instance, draw_instance(found, summary, instance)))
    if means:
        sections.append(Section("Means over random instances", means))
    sections.append(Section("All cells", summary_table(summary)))
    sections.append(Section("How it was made", origin(found)))
    write_text(path, page("Sweep", lead(found, len(drawn)), sections, banner(found)))


def draw_instance(found: SweepResults, summary: polars.DataFrame, instance: str) -> str:
    """Return an instance's curves and heat maps."""
    own = summary.filter(load("polars").col("instance") == instance)
    if own.is_empty():
        return "<p>Nothing has been played yet.</p>"
    kept = own.filter(load("polars").col("with_floors").is_not_null()).sort("horizon")
    if kept.is_empty():
        return "<p>No policy could keep these floors, so there is no regret to draw.</p>"
    best = f"{kept['with_floors'][-1]:.5f}"
    words = f"<p>{own['arms'][0]} arms, {own['plays'][0]} plays; optimum {best} per round.</p>"
    maps = draw_maps(charts.instance_maps(found, summary, instance))
    return words + gallery(draw_curves(found, instance)) + gallery(maps, wide=True)


def lead(found: SweepResults, drawn: int) -> str:
    """Return what the sweep is, in one sentence or two."""
    count = len(found.instances)
    more = f" Drawn are {drawn} of {count:,} instances." if drawn < count else ""
    horizons = ", ".join(f"{horizon:,}" for horizon in found.horizons)
    return (
        f"{found.cells:,} cells: instances {count:,}, policies with their parameters "
        f"{len(found.policies):,}, T = {horizons}; replications {found.replications:,}, seed "
        f"{found.about['settings']['seed']}. "
        f"Figures of every moment: {found.measured_against}. "
        f"Bands and margins are 95% intervals of the mean.{more}"
    )


def origin(found: SweepResults) -> str:
    """Return versions and commit."""
    about = found.about
    versions = about.get("versions")
    pairs = versions.items() if isinstance(versions, dict) else ()
    packages = ", ".join(f"{name} {version}" for name, version in pairs)
    lines = [f"Begun {about.get('created')} with {packages}", f"Commit: {about.get('commit')}"]
    return bullets(lines).html


def banner(found: SweepResults) -> str:
    """Return a warning if this is not all."""
    total = found.cells * found.replications
    note = found.version_note
    mixed = f"{note[:1].upper()}{note[1:]}." if note else ""
    if found.complete:
        return mixed
    failures, failed = found.failures, ""
    if failures:
        first = failures[0]
        failed = f" Given up: {len(failures):,}, the first {first['cell']}: {first['error']}"
    told = f"Not complete: {found.runs_done:,} of {total:,} runs are done.{failed}"
    return f"{told} {mixed}".strip()


def draw_curves(found: SweepResults, instance: str) -> list[Drawn]:
    """Draw an instance's regret curves at the longest horizon that has complete cells."""
    for horizon in sorted(found.horizons, reverse=True):
        try:
            results = found.results(instance, horizon)
        except InputError:
            continue
        if results.with_floors is None:
            continue
        lacking = len(found.policies) - len(results.labels)
        notes = [f"{lacking} policies are not complete"] if lacking else []
        drawn = []
        for panel in charts.panels(found, results.labels):
            figure = figures.regret_curves(results, panel.lines, panel.title)
            said = "; ".join([*notes, panel.note] if panel.note else notes)
            caption = f"Regret of {panel.title} over time, T = {horizon:,}"
            drawn.append((figures.as_svg(figure), f"{caption} ({said})" if said else caption))
        return drawn
    return []


def draw_maps(maps: list[charts.Map]) -> list[Drawn]:
    """Draw heat maps."""
    drawn = []
    for title, heat in maps:
        caption = f"{title}: over {heat.column_name} and {heat.row_name}"
        drawn.append((figures.as_svg(figures.heat_maps(heat, title)), caption))
    return drawn


def summary_table(summary: polars.DataFrame) -> str:
    """Return one line for each cell."""
    return table(HEADINGS, [_row(line) for line in summary.to_dicts()])


def means_table(summary: polars.DataFrame) -> str:
    """Return means over the seeds of generated instances; nothing if none has several."""
    pl = load("polars")
    groups = (
        summary.filter(pl.col("instance_seed").is_not_null())
        .group_by("arms", "plays", "tightness", "label", "horizon", maintain_order=True)
        .agg(
            pl.len().alias("instances"),
            pl.col("regret").mean(),
            pl.col("worst_shortfall").mean(),
            pl.col("worst_shortfall").max().alias("largest"),
        )
        .filter(pl.col("instances") > 1)
    )
    rows = [
        [
            f"{g['instances']}: N = {g['arms']}, m = {g['plays']}, tightness {g['tightness']:g}",
            g["label"],
            f"{g['horizon']:,}",
            "" if g["regret"] is None else f"{g['regret']:.5f}",
            f"{g['worst_shortfall']:.5f}",
            f"{g['largest']:.5f}",
        ]
        for g in groups.to_dicts()
    ]
    return table(MEAN_HEADINGS, rows) if rows else ""


def _row(line: dict[str, Any]) -> list[str]:
    return [
        line["instance"],
        line["label"],
        f"{line['horizon']:,}",
        f"{line['replications']:,}",
        "floors infeasible" if line["regret"] is None else _with_margin(line),
        f"{line['worst_shortfall']:.5f} (95%: {line['shortfall_bulk']:.5f})",
        f"{line['all_kept']:.0%}",
        *_moments(line),
    ]


def _moments(line: dict[str, Any]) -> list[str]:
    """Return the figures of every moment; blanks where an older part has none."""
    if line["largest_debt"] is None:
        return [""] * 5
    return [
        f"{line['largest_debt']:.1f}",
        f"{line['largest_debt_after']:.1f}",
        f"{line['share_behind']:.2%}",
        f"{line['longest_gap']:,.0f}",
        f"{line['worst_window_shortfall']:.5f}",
    ]


def _with_margin(line: dict[str, Any]) -> str:
    if line["margin"] is None:
        return f"{line['regret']:.5f}"
    return f"{line['regret']:.5f} ± {line['margin']:.5f}"
