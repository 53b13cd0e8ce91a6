"""A shelf of three movies: visitors see the best of what is in stock, and every genre its share.

Prints how often each genre was shown, and draws ``movie_shelf.png``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from evenhand import Agent, Environment, Problem, find_optimum

GENRES = ["Comedy", "Drama", "Thriller", "Family", "Documentary", "Silent film"]
LIKED = [0.62, 0.55, 0.58, 0.48, 0.22, 0.15]  # what the agent has to find out
IN_STOCK = [0.95, 0.95, 0.9, 0.9, 0.8, 0.7]
PROMISED = [0.0, 0.0, 0.0, 0.4, 0.3, 0.2]


def main(folder: Path, visitors: int = 5_000) -> None:
    """Serve visitors one after the other, then show whether promises were kept."""
    problem = Problem(GENRES, plays=3, floors=PROMISED)
    best = find_optimum(Environment(problem, LIKED, IN_STOCK))
    agent, rng, kept = Agent(problem, seed=7), np.random.default_rng(7), []
    for _ in range(visitors):
        in_stock = [genre for genre, p in zip(GENRES, IN_STOCK, strict=True) if rng.random() < p]
        decision = agent.ask(in_stock)
        clicks = {
            genre: float(rng.random() < LIKED[GENRES.index(genre)]) for genre in decision.chosen
        }
        agent.tell(decision.id, clicks)
        kept.append(list(agent.rates().values()))
    for genre, floor in zip(GENRES, PROMISED, strict=True):
        print(f"{genre:12} shown {agent.rates()[genre]:.3f}  promised {floor:.3f}")
    dearest = GENRES[int(np.argmax(best.prices))]
    print(f"dearest promise: {dearest}, {best.prices.max():.2f} clicks for each play")
    draw(np.array(kept), folder / "movie_shelf.png")


def draw(rates: np.ndarray, path: Path) -> None:
    """Draw every genre's share of the shelf over time, and what it was promised."""
    figure = Figure(figsize=(6.4, 3.2), layout="constrained")
    axes = figure.subplots()
    for genre, floor, line in zip(GENRES, PROMISED, rates.T, strict=True):
        [drawn] = axes.plot(np.arange(1, len(line) + 1), line, label=genre, linewidth=1.4)
        if floor:
            axes.axhline(floor, color=drawn.get_color(), linestyle=":", linewidth=1)
    axes.set(xscale="log", xlabel="visitors so far", ylabel="share of visitors shown")
    axes.set_title("Promises (dotted) are kept from the first hundred visitors on", fontsize=10)
    figure.legend(fontsize=8, loc="outside right upper")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
