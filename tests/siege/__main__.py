"""Lay siege to servers on both databases: ``python -m tests.siege [SECONDS]`` (each; 600)."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.siege.campaign import Siege
from tests.siege.worlds import WORLDS


def lay(world, seconds):
    """Lay siege, print what came of it, and return which limits were exceeded."""
    siege = Siege(world)
    try:
        found = siege.run(seconds)
        siege.check()
    finally:
        siege.close()
    done = ", ".join(f"{count} x {attack}" for attack, count in sorted(found.attacks.items()))
    wanted = found.full_speed / 10.0
    print(
        f"{world.name}: {found.decisions:,} decisions and {found.rewards:,} rewards acknowledged,"
    )
    print("  none lost or doubled; every row verified")
    print(f"  {done}")
    print(f"  good clients wanted {wanted:.0f} rounds a second, a tenth of full speed")
    rows = {
        "rounds that were not served": (100 * (1.0 - found.served), 40.0, "%"),
        "longest time without a decision": (found.longest_gap, 10.0, "s"),
        "/livez, 99% of its answers": (1e3 * found.percentile(0.99), 100.0, "ms"),
        "/livez, every answer": (1e3 * max(found.waits), 1_000.0, "ms"),
        "memory of a server": (found.memory / 1e6, 1_000.0, "MB"),
        "errors but 503 and 507": (len(found.errors), 0, sorted(found.errors) or ""),
    }
    for what, (value, most, unit) in rows.items():
        mark = "ok" if value <= most else "EXCEEDED"
        print(f"  {what}: {value:.3g} {unit} (at most {most:g}): {mark}", flush=True)
    return [what for what, (value, most, _) in rows.items() if value > most]


def main():
    try:
        seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
    except ValueError:
        sys.exit(f"seconds of a siege must be a number, got {sys.argv[1]!r}")
    exceeded = []
    for name, make_world in WORLDS.items():
        with tempfile.TemporaryDirectory() as folder, make_world(Path(folder)) as world:
            exceeded += [f"{name}: {what}" for what in lay(world, seconds)]
    sys.exit(f"exceeded: {'; '.join(exceeded)}" if exceeded else 0)


if __name__ == "__main__":
    main()
