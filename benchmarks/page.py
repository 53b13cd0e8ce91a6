"""``docs/benchmarks.md`` and the README's speeds, from ``benchmarks/results.json``: not typed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.adapters import LEARNERS
from benchmarks.peers.suite import (
    OURS,
    PEERS,
    decision_of,
    instances,
    reward_of,
    round_of,
    whole_of,
)
from benchmarks.row import Row
from docs.blocks import with_block
from evenhand.core.storage import write_text

ROOT = Path(__file__).parents[1]
PAGE, README = ROOT / "docs" / "benchmarks.md", ROOT / "README.md"
KEPT = ROOT / "benchmarks" / "results.json"
TITLES = {
    "peers": "Beside other libraries",
    "limit": "The limit",
    "growth": "Growth",
    "simulation": "The simulator",
    "agent": "The agent",
    "contexts": "Contexts",
    "optimum": "The exact optimum",
    "reproduction": "The paper's evaluation",
    "movielens": "The movies",
    "sweeps": "Sweeps",
    "service": "The service",
    "dashboard": "The dashboard",
}
Document = Mapping[str, Any]


def write_pages(document: Document) -> None:
    """Replace the measured part of the page, and of the README."""
    write_text(PAGE, with_block(PAGE, "\n".join(sections(document)), "measured"))
    if "peers" in document:
        write_text(README, with_block(README, speed_block(), "speed"))


def read_kept() -> Document:
    """Return all that was measured."""
    kept: Document = json.loads(KEPT.read_text(encoding="utf-8"))
    return kept


def speed_block() -> str:
    """Return what the README says of speed: us a decision, ours and the fastest peer's."""
    suite = read_kept()["peers"]
    known = {row["what"]: row["measured"] for row in suite["rows"]}
    heads = [
        "",
        "ask + tell",
        "fastest peer",
        "over ours",
        "simulated round",
        "fastest peer's",
        "over ours",
    ]
    lines = [*_head(heads)]
    for words in (instance.words for instance in instances()):
        decide, decided = fastest(known, words, decision_of)
        whole, taken = fastest(known, words, whole_of)
        ours, simulated = known[decision_of(words, OURS)], known[round_of(words)]
        cells = [
            f"{_digits(ours)} us",
            f"{_digits(decided)} us ({decide})",
            f"{_digits(decided / ours)} x",
            f"{_digits(simulated)} us",
            f"{_digits(taken)} us ({whole})",
            f"{taken / simulated:,.0f} x",
        ]
        lines.append(_line([words, *cells]))
    day = suite["provenance"]["created"][:10]
    words = f"A decision and its feedback, and a round of the simulator, in one run on {day}:"
    return "\n".join([words, "", *lines])


def fastest(
    known: Mapping[str, float], words: str, key: Callable[[str, str], str]
) -> tuple[str, float]:
    """Return the peer that takes least time on an instance, and that time."""
    times = {name: known.get(key(words, name), math.inf) for name in PEERS}
    name = min(times, key=times.__getitem__)
    return name, times[name]


def sections(document: Document) -> Iterator[str]:
    """Yield the lines of all suites that were measured."""
    for name, title in TITLES.items():
        if name in document:
            suite = document[name]
            yield from ("", f"## {title}", "", origin(name, suite["provenance"]), "")
            rows = [Row(**row) for row in suite["rows"]]
            yield from peers_table(rows) if name == "peers" else ()
            if name == "growth":
                yield from ("![Time against size, with fitted exponents](growth.svg)", "")
            yield from suite_table(wanted_rows(rows) if name == "peers" else rows)


def origin(name: str, known: Document) -> str:
    """Say where the figures of a suite came from."""
    versions = ", ".join(f"{key} {value}" for key, value in known["versions"].items() if value)
    day = known["created"][:10]
    return f"`python -m benchmarks {name}`, {day}, {known['machine']}, {versions}."


def peers_table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line for each library: microseconds a decision, and the reward in parts of the best.

    Many rounds of a fast library and few of a slow one fit into the same time: where arms are many,
    a slow one has learned less.
    """
    known = {row.what: row.measured for row in rows}
    places = [instance.words for instance in instances()]
    yield from _head(["us a decision (reward / best)", *places])
    for name in LEARNERS:
        cells = [
            _cell(known.get(decision_of(place, name)), known.get(reward_of(place, name)))
            for place in places
        ]
        yield _line([name, *cells])
    yield _line(["evenhand's simulator", *(_digits(known[round_of(place)]) for place in places)])
    yield ""


def _cell(microseconds: float | None, reward: float | None) -> str:
    if microseconds is None or reward is None:
        return "failed"
    return f"{_digits(microseconds)} ({reward:.3f})"


def _digits(number: float) -> str:
    """Return a number with three digits that count, or all before the point."""
    return f"{number:,.3g}" if number < 1_000 else f"{number:,.0f}"


def wanted_rows(rows: Sequence[Row]) -> list[Row]:
    """Return the ratios: the rest stands in a table of its own."""
    return [row for row in rows if row.unit == "x" or math.isnan(row.measured)]


def suite_table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line for each row."""
    yield from _head(["what", "measured", "wanted", "met"])
    for row in rows:
        met = {None: "", True: "yes", False: "**no**"}[row.met]
        yield _line([row.what, f"{row.measured:,.4g} {row.unit}".strip(), row.wanted, met])


def _head(heads: Sequence[str]) -> tuple[str, str]:
    return _line(heads), _line(["---", *["---:"] * (len(heads) - 1)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def main() -> None:
    """Write the pages from what is kept."""
    write_pages(read_kept())


if __name__ == "__main__":
    main()
