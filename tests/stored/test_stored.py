"""What released versions have written can be read: snapshots, databases, exports, sweeps, results.

``python -m tests.stored.make tests/stored/NAME`` writes a folder for a new version; old ones stay.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from evenhand import Agent, Grid, Results, SweepResults, run_sweep
from evenhand.generate import Generated
from evenhand.service.engine.commands import Decide
from evenhand.service.engine.executor import CommandExecutor
from evenhand.service.stores import open_store
from evenhand.service.upkeep.export import import_lines
from evenhand.service.upkeep.verification import verify
from evenhand.service.views.decisions import log_lines
from evenhand.service.views.history import history_of
from evenhand.service.views.lookup import find_bandit
from tests.stored.make import POLICIES

FOLDERS = sorted(path for path in Path(__file__).parent.iterdir() if (path / "agent.json").exists())


def test_there_is_at_least_one_version():
    assert FOLDERS


@pytest.fixture(params=FOLDERS, ids=lambda path: path.name)
def folder(request, tmp_path):
    """A copy: what is opened may be brought to a newer version."""
    return Path(shutil.copytree(request.param, tmp_path / "stored"))


@pytest.fixture
def expected(folder):
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def test_an_agent_goes_on_from_its_snapshot(folder, expected):
    agent = Agent.restore((folder / "agent.json").read_text(encoding="utf-8"))
    assert agent.debts() == pytest.approx(expected["debts"])
    assert agent.posterior_means() == pytest.approx(expected["means"])
    assert len(agent.explain(agent._log.latest)) == len(agent.problem.arms)
    assert [list(agent.ask().chosen) for _ in range(5)] == expected["next"]


@pytest.mark.parametrize("name", POLICIES)
def test_a_database_is_read_verified_and_written_to(folder, name):
    store = open_store(f"sqlite:///{folder / 'bandits.db'}", must_exist=True)
    executor = CommandExecutor(store)
    for number in range(3):
        [answer] = executor.execute([Decide(name, f"new-{number}", None, False)])
        assert answer.status == 201
    with store.view() as view:
        assert verify(view, name)[1] == []
        found = find_bandit(view, name)
        assert found.config.table.problem.arms == ("a", "b", "e")
        lines = list(log_lines(view, name, 0, 10_000))
        assert history_of(view, name, "all", None, 2e6).decisions[0] == 60
    store.close()
    assert len(lines) > 60


def test_the_policy_is_as_it_was_asked_for(folder):
    store = open_store(f"sqlite:///{folder / 'bandits.db'}", must_exist=True)
    with store.view() as view:
        assert find_bandit(view, "queue").config.policy["eta"] == "inf"
    store.close()


def test_an_export_is_imported(folder):
    store = open_store("memory:")
    with (folder / "bandits.jsonl").open(encoding="utf-8") as lines:
        assert set(import_lines(store, lines)) == set(POLICIES)


def test_a_sweep_is_read_and_gone_on_with(folder, expected):
    found = SweepResults(folder / "sweep")
    assert found.complete
    summary = found.summary()
    assert summary["regret"].to_list() == expected["regrets"]
    grid = Grid({"x": Generated(4, 2, 0.9, seed=1)}, ["priced", "lfg"], [40, 80], 3, seed=5)
    part = next((folder / "sweep" / "parts").iterdir())
    part.unlink()
    given = {"backend": "threads", "resume": True, "any_version": True}
    again = run_sweep(grid, folder / "sweep", **given).summary()
    # Another version's bits of a run may differ; what the cells are may not.
    same = ["cell", "instance", "arms", "plays", "policy", "horizon", "replications", "with_floors"]
    assert again.select(same).equals(summary.select(same))


def test_results_are_read(folder, expected):
    results = Results.load(folder / "results")
    assert [float(results.expected[0, 0, -1])] == expected["rewards"]
    assert results.anytime("tscsf-b").window == 5
