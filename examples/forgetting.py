"""Regret before and after a change, with and without forgetting: draws ``docs/forgetting.png``."""

from __future__ import annotations

import sys
from pathlib import Path

from evenhand import Change, Environment, Problem, make_policy, simulate
from evenhand.figures import Line, change_panel, save

HORIZON, CHANGE, WINDOW = 20_000, 10_000, 500
MEANS = [0.8, 0.7, 0.6, 0.4, 0.3, 0.2]


def main(folder: Path, replications: int = 100) -> None:
    """Simulate, draw the figure into a folder, and print what it shows."""
    environment = Environment(
        Problem(6, plays=2, floors=0.1),
        MEANS,
        availability=0.9,
        changes=[Change(CHANGE, MEANS[::-1])],
    )
    policies = {
        "remembers all": make_policy("priced"),
        "half-life 2,000": make_policy("priced", half_life=2_000),
        "half-life 500": make_policy("priced", half_life=500),
    }
    results = simulate(
        environment, policies, horizon=HORIZON, replications=replications, seed=7, progress=False
    )
    styles = ("-", "--", ":")
    lines = [
        Line(label, label, "priced", style) for label, style in zip(policies, styles, strict=True)
    ]
    title = f"The best arms become the worst after {CHANGE:,} rounds"
    save(change_panel(results, lines, WINDOW, [CHANGE], title), folder / "forgetting")
    for label in policies:
        recent = results.recent_regret(label, WINDOW)
        early = recent.mean[(recent.rounds > CHANGE // 2) & (recent.rounds <= CHANGE)].mean()
        late = recent.mean[recent.rounds > CHANGE + WINDOW].mean()
        worst = results.worst_shortfall(label).mean
        print(f"{label:16} before {early:.4f}  after {late:.4f}  worst shortfall {worst:.5f}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs"))
