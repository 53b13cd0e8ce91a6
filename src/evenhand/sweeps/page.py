"""A sweep as one HTML page: a summary, and for each instance its curves and heat maps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand import figures
from evenhand.errors import InputError
from evenhand.report import Section, gallery, page, table
from evenhand.storage import write_text
from evenhand.sweeps import charts
from evenhand.sweeps.results import SweepResults

if TYPE_CHECKING:
    import polars

MANY_INSTANCES = 12
HEADINGS = ("instance", "policy", "T", "replications", "regret", "worst shortfall", "floors kept")
Drawn = tuple[bytes, str]


def write_page(found: SweepResults, path: Path, tell: Callable[[str], object] = str) -> None:
    """Write the page; of a sweep that is not complete, what there is, and that it is not all.

    ``tell`` is told now and then what is being drawn.
    """
    summary = found.summary()
    instances = list(dict.fromkeys(summary["instance"].to_list()))
    overall = draw_maps(charts.overall_maps(summary))
    sections = [Section("Across instances", gallery(overall, wide=True))] if overall else []
    for instance in instances[:MANY_INSTANCES]:
        tell(f"drawing {instance}")
        curves = draw_curves(found, instance)
        maps = draw_maps(charts.instance_maps(found, summary, instance))
        shown = gallery(curves) + gallery(maps, wide=True)
        nothing = "<p>Nothing to draw: no cell is complete, or no policy could keep the floors.</p>"
        sections.append(Section(instance, shown if curves or maps else nothing))
    sections.append(Section("All cells", summary_table(summary)))
    write_text(path, page("Sweep", lead(found, len(instances)), sections, banner(found)))


def lead(found: SweepResults, instances: int) -> str:
    """Return what the sweep is, in one sentence or two."""
    rest = instances - MANY_INSTANCES
    more = f" Drawn are the first {MANY_INSTANCES} of {instances} instances." if rest > 0 else ""
    return (
        f"{found.cells:,} cells: {len(found.instances):,} instances, {len(found.policies):,} "
        f"policies with their parameters, horizons {', '.join(f'{h:,}' for h in found.horizons)}; "
        f"{found.replications:,} replications each, seed {found.about['grid']['seed']}. "
        f"Bands and margins are 95% intervals of the mean.{more}"
    )


def banner(found: SweepResults) -> str:
    """Return a warning if this is not all."""
    total = found.cells * found.replications
    if found.complete:
        return ""
    failures = found.failures
    failed = f" {len(failures)} tasks failed; the first: {failures[0]['error']}" if failures else ""
    return f"Not complete: {found.runs_done:,} of {total:,} runs are done.{failed}"


def draw_curves(found: SweepResults, instance: str) -> list[Drawn]:
    """Draw an instance's regret curves at the longest horizon that has complete cells."""
    for horizon in sorted(found.horizons, reverse=True):
        try:
            results = found.results(instance, horizon)
        except InputError:
            continue
        if results.with_floors is None:
            return []
        drawn = []
        for panel in charts.panels(found, results.labels):
            figure = figures.regret_curves(results, panel.lines, panel.title)
            note = f" ({panel.note})" if panel.note else ""
            caption = f"Regret of {panel.title} over time, T = {horizon:,}{note}"
            drawn.append((figures.as_svg(figure), caption))
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


def _row(line: dict[str, Any]) -> list[str]:
    return [
        line["instance"],
        line["label"],
        f"{line['horizon']:,}",
        f"{line['replications']:,}",
        "floors infeasible" if line["regret"] is None else _with_margin(line, "regret", "margin"),
        _with_margin(line, "worst_shortfall", "shortfall_margin"),
        f"{line['all_kept']:.0%}",
    ]


def _with_margin(line: dict[str, Any], value: str, margin: str) -> str:
    if line[margin] is None:
        return f"{line[value]:.5f}"
    return f"{line[value]:.5f} ± {line[margin]:.5f}"
