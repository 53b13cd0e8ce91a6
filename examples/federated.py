"""Federated learning: which four of twenty devices train, of those that are online.

A device is paid if its update arrives in time. Those with the digits 7, 8 and 9 are slow: without
floors they are left out, and so are their digits. Prints accuracies, and draws ``federated.png``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from evenhand import Agent, Problem

DEVICES, PICKED, KINDS = 20, 4, 10
NAMES = [f"device {number}" for number in range(DEVICES)]
IN_TIME = np.where(np.arange(DEVICES) % KINDS >= 7, 0.4, 0.95)
FLOORS = {"no floors": 0.0, "floors of 0.15": 0.15}


def gradient(weights: np.ndarray, images: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Return the gradient of the softmax loss."""
    scores = images @ weights
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    chances[np.arange(len(kinds)), kinds] -= 1.0
    return images.T @ chances / len(kinds)


def train(floor: float, rounds: int) -> tuple[list[float], dict[str, float]]:
    """Return the accuracy after every round, and how often each device took part."""
    digits, rng = load_digits(), np.random.default_rng(7)
    images = np.hstack([digits.data / 16.0, np.ones((len(digits.data), 1))])
    test = np.arange(len(images)) % 4 == 0
    own = [
        np.flatnonzero(~test & (digits.target == d % KINDS))[d // KINDS :: 2]
        for d in range(DEVICES)
    ]
    agent = Agent(Problem(NAMES, PICKED, floors=floor), seed=7)
    weights, curve = np.zeros((images.shape[1], KINDS)), []
    for _ in range(rounds):
        decision = agent.ask(rng.random(DEVICES) < 0.8)
        updates, in_time = [], {}
        for name in decision.chosen:
            number = NAMES.index(name)
            in_time[name] = float(rng.random() < IN_TIME[number])
            if in_time[name]:
                mine = own[number]
                updates.append(gradient(weights, images[mine], digits.target[mine]))
        if updates:
            weights = weights - 0.2 * np.mean(updates, axis=0)
        agent.tell(decision.id, in_time)
        found = np.argmax(images[test] @ weights, axis=1)
        curve.append(float((found == digits.target[test]).mean()))
    return curve, agent.rates()


def main(folder: Path, rounds: int = 2_000) -> None:
    """Train with and without floors."""
    figure = Figure(figsize=(7.2, 3.0), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    for mark, (label, floor) in zip("os", FLOORS.items(), strict=True):
        curve, rates = train(floor, rounds)
        last, least = np.mean(curve[-50:]), min(rates.values())
        print(f"{label:15} accuracy {last:.3f}  least used device {least:.3f} of the rounds")
        left.plot(np.convolve(curve, np.ones(25) / 25, "valid"), label=label)
        right.plot(sorted(rates.values()), mark, markersize=4, label=label)
    left.set(xlabel="round", ylabel="test accuracy (mean of 25 rounds)")
    right.set(xlabel="devices, least used first", ylabel="share of rounds")
    left.legend(fontsize=8)
    figure.savefig(folder / "federated.png", dpi=150)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
