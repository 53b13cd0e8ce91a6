"""Run all benchmarks or the suites named, print tables, and write what was found.

It is kept in ``benchmarks/results.json``, and shown in ``docs/benchmarks.md``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from benchmarks import (
    agent,
    contexts,
    dashboard,
    growth,
    limit,
    movielens,
    optimum,
    reproduction,
    service,
    simulation,
    sweeps,
)
from benchmarks.page import KEPT, write_pages
from benchmarks.peers import suite as peers
from benchmarks.row import Row
from evenhand.core.checks import check_known
from evenhand.core.provenance import provenance
from evenhand.core.storage import write_text

SUITES = {
    "peers": peers.measure,
    "limit": limit.measure,
    "growth": growth.measure,
    "agent": agent.measure,
    "contexts": contexts.measure,
    "simulation": simulation.measure,
    "optimum": optimum.measure,
    "reproduction": reproduction.measure,
    "movielens": movielens.measure,
    "sweeps": sweeps.measure,
    "service": service.measure,
    "dashboard": dashboard.measure,
}


def main() -> None:
    """Measure the suites that are named, or all, one thing at a time; keep the others' rows."""
    wanted = sys.argv[1:] or list(SUITES)
    check_known("suite", wanted, SUITES)
    console = Console(highlight=False)
    document = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    missed: list[str] = []
    for name in wanted:
        rows = SUITES[name]()
        console.print(table_of(name, rows))
        console.print()
        document[name] = {"provenance": provenance({}), "rows": [row._asdict() for row in rows]}
        missed += [row.what for row in rows if row.met is False]
        write_text(KEPT, json.dumps(document, indent=2) + "\n")
    write_pages(document)
    sys.exit(f"missed: {'; '.join(missed)}" if missed else 0)


def table_of(name: str, rows: Sequence[Row]) -> Table:
    """Return the rows of a suite for the screen."""
    table = Table(title=name, box=None, pad_edge=False, title_justify="left")
    for column in ("what", "measured", "wanted", ""):
        table.add_column(column, justify="left" if column == "what" else "right")
    for row in rows:
        met = {None: "", True: "yes", False: "[red]no[/red]"}[row.met]
        table.add_row(row.what, f"{row.measured:,.4g} {row.unit}", row.wanted, met)
    return table


if __name__ == "__main__":
    main()
