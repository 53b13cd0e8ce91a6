"""Ads with guaranteed impressions: clicks arrive late, and a campaign joins in mid-flight.

Prints delivered against guaranteed impressions, and draws ``ad_rotation.png``.
"""

from __future__ import annotations

import sys
from collections import deque
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from evenhand import Agent, Problem

CLICKED = {"Shoes": 0.06, "Phones": 0.09, "Charity": 0.01, "Museum": 0.02, "Festival": 0.03}
GUARANTEED = {"Charity": 0.10, "Museum": 0.15, "Festival": 0.20}  # of the page views
ADS = ["Shoes", "Phones", "Charity", "Museum"]
LATE = 200  # page views until a click is known


def main(folder: Path, views: int = 20_000) -> None:
    """Fill one slot on every page view; the festival buys a guarantee half-way."""
    floors = [GUARANTEED.get(ad, 0.0) for ad in ADS]
    agent = Agent(Problem(ADS, plays=1, floors=floors), seed=7)
    rng, late, history = np.random.default_rng(7), deque(), []
    shown = dict.fromkeys(CLICKED, 0)
    for view in range(views):
        if view == views // 2:
            agent.join("Festival", floor=GUARANTEED["Festival"])
        # Some visitors must not see phones: the ad sleeps for them.
        allowed = [ad for ad in agent.problem.arms if ad != "Phones" or rng.random() < 0.7]
        decision = agent.ask(allowed)
        [ad] = decision.chosen
        shown[ad] += 1
        late.append((decision.id, {ad: float(rng.random() < CLICKED[ad])}))
        if len(late) > LATE:
            agent.tell(*late.popleft())
        history.append(list(shown.values()))
    for ad, share in GUARANTEED.items():
        due = share * (views // 2 if ad == "Festival" else views)
        print(f"{ad:9} delivered {shown[ad]:6,}  guaranteed {due:8,.0f}")
        assert shown[ad] >= due - 3
    draw(np.array(history), views, folder / "ad_rotation.png")


def draw(history: np.ndarray, views: int, path: Path) -> None:
    """Draw impressions so far, and what was guaranteed."""
    figure = Figure(figsize=(6.4, 3.2), layout="constrained")
    axes, time = figure.subplots(), np.arange(1, views + 1)
    for place, ad in enumerate(CLICKED):
        [drawn] = axes.plot(time, history[:, place], label=ad, linewidth=1.4)
        if ad in GUARANTEED:
            start = views // 2 if ad == "Festival" else 0
            due = GUARANTEED[ad] * np.maximum(time - start, 0)
            axes.plot(time, due, ":", color=drawn.get_color(), linewidth=1)
    axes.set(xlabel="page views", ylabel="impressions")
    axes.set_title("Delivered, and guaranteed (dotted)", fontsize=10)
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
