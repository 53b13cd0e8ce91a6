"""``evenhand simulate``: play the policies of a file in the environment of the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from evenhand.cli import _anytime as moments
from evenhand.cli._screen import output_folder, print_json, say, screen
from evenhand.errors import InputError
from evenhand.files import Settings
from evenhand.results import Results
from evenhand.simulation import simulate as run_simulation

MANY_ARMS = 30
BESIDE = 5


def simulate(
    file: Annotated[Path, typer.Argument(help="A TOML file with arms and policies.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the tables (Parquet) and their provenance.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Let --out replace earlier results.")
    ] = False,
    horizon: Annotated[
        int | None, typer.Option(help="Rounds of a run, instead of the file's.")
    ] = None,
    replications: Annotated[
        int | None, typer.Option(help="Independent repetitions, instead of the file's.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of the random numbers, instead of the file's.")
    ] = None,
    burn_in: moments.BurnInOption = None,
    tolerance: moments.ToleranceOption = None,
    window: moments.WindowOption = None,
) -> None:
    """Play the policies of FILE in its environment and say how they did."""
    settings = Settings.load(file)
    if not settings.policies:
        raise InputError(f"{file} must have at least one [[policies]] table")
    with output_folder(out, overwrite=overwrite):
        results = run_simulation(
            settings.environment,
            settings.policies,
            horizon=settings.horizon if horizon is None else horizon,
            replications=settings.replications if replications is None else replications,
            seed=settings.seed if seed is None else seed,
            delay=settings.delay,
            checkpoints=settings.checkpoints,
            anytime=moments.with_options(settings.anytime, burn_in, tolerance, window),
        )
        if json:
            print_json(as_json(results))
        else:
            show(results)
        if out is not None:
            results.save(out, overwrite=overwrite)
            if not json:
                say(screen, f"tables in {out}")


def as_json(results: Results) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    return {
        "policies": [
            {
                "label": label,
                "name": name,
                "reward": results.reward(label).mean,
                "reward_standard_error": results.reward(label).standard_error,
                "regret": regret(results, label),
                "rates": results.rates(label),
                "shortfall": results.shortfall(label),
                **promises_json(results, label),
                "estimates": results.mean_estimates(label),
                "anytime": moments.anytime_json(results, label),
            }
            for label, name in zip(results.labels, results.policies, strict=True)
        ],
        "optimum": optimum_json(results),
        "rounds_per_second": results.rounds_per_second,
    }


def promises_json(results: Results, label: str) -> dict[str, Any]:
    """Return what became of promises beyond floors, if there are any."""
    found = results.promises(label) if results.rows.names else {}
    return {"promises": {name: one._asdict() for name, one in found.items()}} if found else {}


def promise_tables(results: Results) -> Iterator[Table]:
    """Yield what each promise beyond floors had under each policy, a few policies at a time."""
    if not results.rows.names:
        return
    for start in range(0, len(results.labels), BESIDE):
        yield promise_table(results, results.labels[start : start + BESIDE])


def promise_table(results: Results, labels: Sequence[str]) -> Table:
    """Return each promise's rate under some policies beside its bounds."""
    table = Table(box=None, pad_edge=False)
    table.add_column("promise", style="bold")
    for column in ("of", "at least", "at most"):
        table.add_column(column, justify="right")
    found = {label: results.promises(label) for label in labels}
    for label in labels:
        table.add_column(Text(label), justify="right")
    for name in list(dict.fromkeys(results.rows.names))[:MANY_ARMS]:
        first = found[labels[0]][name]
        bounds = ("-" if b is None else f"{b:.4f}" for b in (first.at_least, first.at_most))
        rates = (f"{found[label][name].rate:.4f}" for label in labels)
        table.add_row(Text(name), first.of, *bounds, *rates)
    return table


def optimum_json(results: Results) -> dict[str, float | None]:
    """Return what regret is measured against."""
    return {
        "with_floors": results.with_floors,
        "without_floors": results.without_floors,
        "standard_error": results.optimum_error,
    }


def optimum_words(results: Results) -> str:
    """Return the optimum with its standard error, if it has one.

    >>> from types import SimpleNamespace
    >>> optimum_words(SimpleNamespace(with_floors=0.5, optimum_error=0.001))
    '0.50000 (standard error 0.00100) with floors'
    """
    error = results.optimum_error
    words = f" (standard error {error:.5f})" if error else ""
    return f"{results.with_floors:.5f}{words} with floors"


def regret(results: Results, label: str) -> float | None:
    """Return the regret at the horizon; None if no policy could keep the floors."""
    if results.with_floors is None:
        return None
    return float(results.regret(label).mean[-1])


def show(results: Results) -> None:
    """Print one line per policy, and each arm's rate where there are not too many arms."""
    screen.print(
        f"{results.horizon:,} rounds, {results.replications:,} replications, "
        f"{results.rounds_per_second:,.0f} rounds per second"
    )
    if results.with_floors is None:
        screen.print(
            f"optimum: no policy could keep these floors (see evenhand optimum); "
            f"{results.without_floors:.5f} without them"
        )
    else:
        screen.print(f"optimum: {optimum_words(results)}, {results.without_floors:.5f} without")
    screen.print()
    screen.print(policy_table(results))
    screen.print()
    screen.print(moments.anytime_table(results))
    for table in promise_tables(results):
        screen.print()
        screen.print(table)
    if len(results.arms) <= MANY_ARMS:
        for start in range(0, len(results.labels), BESIDE):
            screen.print()
            screen.print(rate_table(results, results.labels[start : start + BESIDE]))


def policy_table(results: Results) -> Table:
    """Return reward and worst shortfall of each policy."""
    table = Table(box=None, pad_edge=False)
    table.add_column("policy", style="bold")
    table.add_column("reward per round", justify="right")
    table.add_column("± 95%", justify="right")
    table.add_column("regret", justify="right")
    table.add_column("worst mean shortfall", justify="right")
    table.add_column("arm")
    for label in results.labels:
        reward = results.reward(label)
        shortfall = results.shortfall(label)
        worst = max(shortfall, key=lambda arm: shortfall[arm])
        margin, lost = results.margin(label), regret(results, label)
        table.add_row(
            Text(label),
            f"{reward.mean:.5f}",
            "" if results.replications < 2 else f"{margin:.5f}",
            "" if lost is None else f"{lost:.5f}",
            f"{shortfall[worst]:.5f}",
            Text(worst if shortfall[worst] > 0 else ""),
        )
    return table


def rate_table(results: Results, labels: Sequence[str]) -> Table:
    """Return floor and rate played of every arm under some policies; a missed floor is red."""
    table = Table(box=None, pad_edge=False)
    table.add_column("arm", style="bold")
    table.add_column("floor", justify="right")
    for label in labels:
        table.add_column(Text(label), justify="right", min_width=6)
    rates = {label: results.rates(label) for label in labels}
    missed = {label: results.shortfall(label) for label in labels}
    for arm, floor in zip(results.arms, results.floors.tolist(), strict=True):
        cells = [
            Text(f"{rates[label][arm]:.4f}", style="red" if missed[label][arm] > 5e-5 else "")
            for label in labels
        ]
        table.add_row(Text(arm), f"{floor:.4f}", *cells)
    return table
