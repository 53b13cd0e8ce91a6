"""``evenhand compare``: what each policy gives up in reward, and in floors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from evenhand import figures
from evenhand.cli import _anytime as moments
from evenhand.cli import _sweeping as sweeping
from evenhand.cli._screen import print_json, screen
from evenhand.cli._simulate import optimum_json, optimum_words, promise_tables, promises_json
from evenhand.core.plain import to_json
from evenhand.core.storage import UnwritableError, staged, write_text
from evenhand.figures import Line, Spot
from evenhand.files import Settings
from evenhand.optimum.environment import find_optimum
from evenhand.policies import Policy, make_policy
from evenhand.results import Results
from evenhand.simulation.run import MANY_CHECKPOINTS
from evenhand.sweeps import Grid

COMPARED = "compare.json"
ETAS = (1.0, 10.0, 100.0, "paper")
FEW = 4

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def compare(
    file: Annotated[Path, typer.Argument(help="A TOML file, as for simulate.")],
    out: Annotated[Path | None, typer.Option(help="Folder for tables and the figure.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    backend: sweeping.BackendOption = "threads",
    scheduler: sweeping.SchedulerOption = None,
    workers: sweeping.WorkersOption = None,
    resume: sweeping.ResumeOption = False,
    any_version: sweeping.AnyVersionOption = False,
    burn_in: moments.BurnInOption = None,
    tolerance: moments.ToleranceOption = None,
    window: moments.WindowOption = None,
) -> None:
    """Run policies on FILE's instance: worst shortfall at the horizon against regret.

    Floors that no policy could keep have no regret: they are refused with their certificate.

    The policies are those of FILE; if it has none, priced, and tscsf-b and lfg at several etas.
    """
    settings = Settings.load(file)
    settings = replace(
        settings, anytime=moments.with_options(settings.anytime, burn_in, tolerance, window)
    )
    check_floors(settings)
    grid = grid_of(file.stem, settings)
    options = sweeping.BackendOptions(backend, workers, scheduler).check()
    unwritten = None
    try:
        outcome = sweeping.play_grid(grid, out, options, resume=resume, any_version=any_version)
    except UnwritableError as error:
        unwritten, outcome = error, sweeping.play_grid(grid, None, options)
    sweeping.tell_failures(outcome.progress)
    sweeping.tell_versions(outcome.results)
    results = outcome.results.results(file.stem, grid.horizons[0])
    rows = spots(results)
    document = as_json(results, rows)
    if outcome.results.version_note:
        document["note"] = outcome.results.version_note
    if json:
        print_json(document)
    else:
        show(results, rows)
    if unwritten is not None:
        raise unwritten
    if out is not None:
        with staged(out, COMPARED) as staged_folder:
            write_text(staged_folder / COMPARED, to_json(document))
            figures.save(drawn_frontier(results, rows, file.stem), staged_folder / "frontier")
            if results.rows.names:
                bars = figures.promise_bars(results, lines_of(results)[:FEW], file.stem)
                figures.save(bars, staged_folder / "promises")
    if outcome.progress.given_up:
        raise typer.Exit(sweeping.FAILED)


def drawn_frontier(results: Results, rows: list[Spot], title: str) -> Figure:
    """Return the frontier as a figure; with promises beyond floors both sides count."""
    if not results.rows.names:
        return figures.frontier(rows, title)
    words = "worst miss of any promise (bar: to 95% of runs)", "regret R(T) (bar: 95% interval)"
    return figures.frontier(rows, title, "", words)


def lines_of(results: Results) -> list[Line]:
    """Return the policies as lines of a figure; another one of the same policy is hatched."""
    pairs = list(zip(results.labels, results.policies, strict=True))
    seen = [name for _, name in pairs]
    return [
        Line(label, label, name, "-" if name not in seen[:index] else "--")
        for index, (label, name) in enumerate(pairs)
    ]


def grid_of(name: str, settings: Settings) -> Grid:
    """Return the comparison as a grid of one instance and one horizon."""
    return Grid(
        {name: settings.environment},
        settings.policies or usual_policies(),
        settings.environment.check_horizon(settings.horizon),
        settings.replications,
        settings.seed,
        settings.delay,
        checkpoints=settings.checkpoints or MANY_CHECKPOINTS,
        anytime=settings.anytime,
    )


def check_floors(settings: Settings) -> None:
    """Refuse promises that no policy could keep, in any nature there is."""
    environment = settings.environment
    horizon = environment.check_horizon(settings.horizon)
    for _, nature in environment.of_rounds(horizon).segments(horizon):
        find_optimum(nature)


def as_json(results: Results, rows: list[Spot]) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    return {
        "policies": [
            {
                **spot._asdict(),
                "all_kept": results.all_kept(spot.words),
                **promises_json(results, spot.words),
                "anytime": moments.anytime_json(results, spot.words),
            }
            for spot in rows
        ],
        "optimum": optimum_json(results),
    }


def usual_policies() -> dict[str, Policy]:
    """Return priced, and tscsf-b and lfg at several etas."""
    made = [make_policy("priced")]
    made += [make_policy(name, eta=eta) for name in ("tscsf-b", "lfg") for eta in ETAS]
    return {policy.label(also=["eta"]): policy for policy in made}


def spots(results: Results) -> list[Spot]:
    """Return every policy's place on the frontier."""
    rows = []
    for label, name in zip(results.labels, results.policies, strict=True):
        shortfall, curve = results.worst_miss(label), results.regret(label)
        width = float(curve.high[-1] - curve.mean[-1]) if results.replications > 1 else 0.0
        rows.append(Spot(label, name, *shortfall, float(curve.mean[-1]), width))
    return rows


def show(results: Results, rows: list[Spot]) -> None:
    """Print the frontier as a table, the smallest shortfall first."""
    screen.print(f"optimum: {optimum_words(results)}")
    table = Table(box=None, pad_edge=False)
    missed, kept = (
        ("worst miss", "kept") if results.rows.names else ("worst shortfall", "floors kept")
    )
    for column in ("policy", missed, "95% of runs", "regret", "± 95%", kept):
        table.add_column(column, justify="left" if column == "policy" else "right")
    for spot in sorted(rows, key=lambda spot: spot.shortfall):
        numbers = spot.shortfall, spot.shortfall_bulk, spot.regret, spot.regret_margin
        share = f"{results.all_kept(spot.words):.0%}"
        table.add_row(Text(spot.words), *(f"{number:.5f}" for number in numbers), share)
    screen.print(table)
    screen.print()
    screen.print(moments.anytime_table(results))
    for one in promise_tables(results):
        screen.print()
        screen.print(one)
