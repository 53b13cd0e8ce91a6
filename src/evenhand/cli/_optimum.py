"""``evenhand optimum``: what could be had at best, what promises cost, and whether they fit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from evenhand.cli._screen import INFEASIBLE, print_json, screen
from evenhand.errors import InfeasiblePromises
from evenhand.files import Settings
from evenhand.optimum import Optimum
from evenhand.optimum.environment import find_optimum

BAR = 24
MANY_ARMS = 60


def optimum(
    file: Annotated[Path, typer.Argument(help="A TOML file with arms, as for simulate.")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Find the best that could be had in FILE's environment, and what each floor costs.

    Exit code 3 says that no policy could keep the promises; the certificate says why.
    """
    try:
        best = find_optimum(Settings.load(file).played)
    except InfeasiblePromises as error:
        if json:
            print_json(error.as_json())
        else:
            screen.print(str(error), markup=False, soft_wrap=True)
            screen.print(f"All lower bounds times {error.floor_headroom:.6g} would fit.")
        raise typer.Exit(INFEASIBLE) from None
    if json:
        print_json(best.as_json())
    else:
        show(best)


def show(best: Optimum) -> None:
    """Print the optimum, and every arm's floor, rate and price; the dearest arms if many."""
    what = "promises" if best.promises else "floors"
    screen.print(
        f"reward per round: {best.with_floors:.6g} with {what}, "
        f"{best.without_floors:.6g} without; the {what} cost {best.price_of_fairness:.6g}"
    )
    if best.standard_error:
        screen.print(f"from a sample of contexts: standard error {best.standard_error:.2g}")
    screen.print(
        f"all {'lower bounds' if best.promises else 'floors'} times {best.floor_headroom:.6g} "
        "would still fit; "
        f"every arm could have a floor of {best.largest_common_floor:.6g}"
    )
    screen.print()
    screen.print(arm_table(best))
    if len(best.arms) > MANY_ARMS:
        screen.print(f"the {MANY_ARMS} arms with the highest prices, of {len(best.arms):,}")
    if best.promises:
        screen.print()
        screen.print(promise_table(best))


def arm_table(best: Optimum) -> Table:
    """Return one line per arm; the bar shows the rate, and the floor as a mark on it."""
    table = Table(box=None, pad_edge=False)
    table.add_column("arm", style="bold")
    for column in ("floor", "rate", "price"):
        table.add_column(column, justify="right")
    table.add_column("rate, with the floor marked", no_wrap=True)
    shown = list(range(len(best.arms)))
    if len(best.arms) > MANY_ARMS:
        shown = sorted(shown, key=lambda i: -best.prices[i])[:MANY_ARMS]
    for i in shown:
        floor, rate, price = best.floors[i], best.rates[i], best.prices[i]
        table.add_row(
            Text(best.arms[i]),
            f"{floor:.4f}",
            f"{rate:.4f}",
            f"{price:.4f}" if price else "-",
            bar(float(rate), float(floor)),
        )
    return table


def promise_table(best: Optimum) -> Table:
    """Return one line per promise beyond floors: bounds, what it has, and its price."""
    table = Table(box=None, pad_edge=False)
    table.add_column("promise", style="bold")
    for column in ("of", "at least", "at most", "rate", "price"):
        table.add_column(column, justify="right")
    shown = sorted(best.promises, key=lambda one: -abs(one.price))[:MANY_ARMS]
    for one in shown:
        bounds = ("-" if bound is None else f"{bound:.4f}" for bound in (one.at_least, one.at_most))
        price = f"{one.price:.4f}" if abs(one.price) >= 5e-5 else "-"
        table.add_row(Text(one.name), one.of, *bounds, f"{one.rate:.4f}", price)
    return table


def bar(rate: float, floor: float) -> str:
    """Draw a rate in [0, 1] as a bar with the floor as a mark on it.

    >>> bar(0.5, 0.25)
    '██████┃█████············'
    """
    filled, mark = round(rate * BAR), round(floor * BAR)
    cells = ["█" if place < filled else "·" for place in range(BAR)]
    if floor > 0.0:
        cells[min(mark, BAR - 1)] = "┃"
    return "".join(cells)
