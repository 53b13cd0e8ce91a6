"""Run all benchmarks, print a table and write it to ``benchmarks/results.json``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import movielens, optimum, reproduction, simulation, sweeps
from evenhand.provenance import provenance
from evenhand.storage import write_text

RESULTS = Path(__file__).with_name("results.json")
SUITES = {
    "simulation": simulation.measure,
    "optimum": optimum.measure,
    "reproduction": reproduction.measure,
    "movielens": movielens.measure,
    "sweeps": sweeps.measure,
}


def main() -> None:
    """Measure everything, one thing at a time."""
    console = Console(highlight=False)
    document: dict[str, list[dict[str, object]]] = {}
    missed: list[str] = []
    for name, measure in SUITES.items():
        table = Table(title=name, box=None, pad_edge=False, title_justify="left")
        for column in ("what", "measured", "wanted", ""):
            table.add_column(column, justify="left" if column == "what" else "right")
        rows = measure()
        for row in rows:
            met = {None: "", True: "yes", False: "[red]no[/red]"}[row.met]
            table.add_row(row.what, f"{row.measured:,.4g} {row.unit}", row.wanted, met)
        console.print(table)
        console.print()
        document[name] = [row._asdict() for row in rows]
        missed += [row.what for row in rows if row.met is False]
    text = json.dumps({"provenance": provenance({}), "suites": document}, indent=2) + "\n"
    write_text(RESULTS, text)
    sys.exit(f"missed: {'; '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    main()
