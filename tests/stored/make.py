"""Write every stored form as this version writes it: ``python -m tests.stored.make FOLDER``.

A folder is made once for a version, and kept: every later version must read it. What is in it was
made from fixed seeds and a fixed clock, and ``expected.json`` says what must be found there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from evenhand import Agent, Generated, Grid, Problem, make_policy, run_sweep, simulate
from evenhand.service.engine.commands import (
    CancelDecision,
    ChangeArm,
    Decide,
    JoinArm,
    RecordHistory,
    RetireArm,
    Tell,
)
from evenhand.service.engine.executor import CommandExecutor
from evenhand.service.schemas import ArmBody, ArmChange, ArmValues, BanditBody, FeedbackItem
from evenhand.service.stores import open_store
from evenhand.service.upkeep.compaction import compact
from evenhand.service.upkeep.export import export_lines
from tests.service.bandits import create

POLICIES = {"shelf": None, "queue": {"name": "lfg", "eta": "inf"}}


def agent():
    """An agent that has seen a little of everything."""
    policy = make_policy("priced", half_life=50)
    made = Agent(Problem(["a", "b", "c"], plays=2, floors=[0.5, 0.2, 0.1]), policy, seed=3)
    rng = np.random.default_rng(1)
    for number in range(40):
        decision = made.ask([arm for arm in made.problem.arms if rng.random() < 0.8])
        if number % 3:
            made.tell(decision.id, {arm: float(rng.random()) for arm in decision.chosen})
        if number == 10:
            made.join("d", floor=0.1)
            made.pause("a")
        if number == 20:
            made.resume("a")
            made.cancel(decision.id) if number % 3 == 0 else made.change("b", floor=0.3)
    made.ask(explain=True)
    return made


def live(store):
    """Two bandits with all kinds of events, one of them compacted."""
    clock = iter(range(1_000_000, 2_000_000))
    executor = CommandExecutor(store, now=lambda: float(next(clock)))
    rng = np.random.default_rng(2)
    for name, policy in POLICIES.items():
        arms = [ArmBody("a", floor=0.3), ArmBody("b", floor=0.1, weight=2.0), ArmBody("c")]
        executor.execute([create(name, BanditBody(arms, 1, policy))])
        for number in range(60):
            [answer] = executor.execute([Decide(name, f"d{number}", None, False)])
            rewards = {arm: float(rng.random()) for arm in answer.body.chosen}
            if number % 4:
                executor.execute([Tell(name, [FeedbackItem(f"d{number}", rewards)])])
            elif number % 8:
                executor.execute([CancelDecision(name, f"d{number}")])
        executor.execute([JoinArm(name, "e", ArmValues(0.05)), RecordHistory(name, False)])
        executor.execute([ChangeArm(name, "a", ArmChange(floor=0.2)), RetireArm(name, "c")])
        executor.execute([Decide(name, f"last-{i}", None, False) for i in range(5)])
    compact(store, "queue", -1e12)


def write(folder: Path) -> None:
    """Write everything into a folder."""
    folder.mkdir(parents=True)
    one = agent()
    (folder / "agent.json").write_text(one.snapshot(), encoding="utf-8")
    store = open_store(f"sqlite:///{folder / 'bandits.db'}")
    live(store)
    with store.view() as view:
        (folder / "bandits.jsonl").write_text("".join(export_lines(view)), encoding="utf-8")
    store.close()
    grid = Grid({"x": Generated(4, 2, 0.9, seed=1)}, ["priced", "lfg"], [40, 80], 3, seed=5)
    swept = run_sweep(grid, folder / "sweep", backend="threads", workers=1)
    results = simulate(Generated(4, 2, 0.9, seed=1).build(), ["tscsf-b"], horizon=50, seed=2)
    results.save(folder / "results")
    found = {
        "debts": one.debts(),
        "means": one.posterior_means(),
        "next": [one.ask().chosen for _ in range(5)],
        "regrets": swept.summary()["regret"].to_list(),
        "rewards": [float(results.expected[0, 0, -1])],
    }
    (folder / "expected.json").write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
