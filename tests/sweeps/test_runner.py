"""The loop: the same tables from any executor; who fails is tried again, and nobody suffers."""

from __future__ import annotations

import shutil
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor

import numpy as np
import pytest

from evenhand import InputError, run_sweep, simulate
from evenhand.core import storage
from evenhand.errors import EvenhandError
from evenhand.sweeps import _runner as runner
from evenhand.sweeps._versions import VersionError
from evenhand.sweeps.backends import ExternalExecutor, Processes
from evenhand.sweeps.run import conduct
from tests.sweeps.conftest import FILE, with_a_deadly_one

TOO_MUCH = """
[[instances]]
name = "too much"
allow_impossible = true
plays = 1
arms = [
    { name = "a", floor = 0.9, mean = 0.5, availability = 0.9 },
    { name = "b", floor = 0.9, mean = 0.4, availability = 0.9 },
]

[[policies]]
name = "opt-f"
"""


def test_a_cell_is_what_a_simulation_gives_bit_for_bit(grid, tmp_path, small_tasks):
    with ThreadPoolExecutor(2) as pool:
        found = run_sweep(grid, tmp_path / "out", executor=pool, workers=2)
    assert len(list((tmp_path / "out" / "parts").iterdir())) > 10
    for instance in grid.instances:
        for horizon in grid.horizons:
            ours = found.results(instance.name, horizon)
            theirs = simulate(
                instance.source.build(), grid.policies, horizon=horizon, replications=6, seed=7
            )
            shared = np.isin(theirs.rounds, ours.rounds)
            assert ours.labels == theirs.labels
            assert ours.policies == theirs.policies
            assert ours.with_floors == theirs.with_floors
            np.testing.assert_array_equal(ours.expected, theirs.expected[:, :, shared])
            np.testing.assert_array_equal(ours.realised, theirs.realised[:, :, shared])
            np.testing.assert_array_equal(ours.played, theirs.played)
            np.testing.assert_array_equal(ours.estimates, theirs.estimates)
            np.testing.assert_array_equal(ours.floors, theirs.floors)


def test_a_cell_that_fails_three_times_is_given_up_and_the_others_are_played(load, tmp_path):
    grid = load(FILE + TOO_MUCH)
    with ThreadPoolExecutor(2) as pool:
        found = run_sweep(grid, tmp_path / "out", executor=pool, workers=2)
    assert [(entry["cell"], entry["tries"]) for entry in found.failures] == [
        ("too much | opt-f | T=50", 3),
        ("too much | opt-f | T=200", 3),
    ]
    assert all("InfeasibleFloors: The floors" in entry["error"] for entry in found.failures)
    assert found.runs_done == grid.runs - 2 * grid.replications
    assert len(found.summary()) == grid.cells - 2


def test_what_was_given_up_is_tried_again_by_a_resume_and_nothing_else_is(load, tmp_path):
    grid = load(FILE + TOO_MUCH)
    with ThreadPoolExecutor(2) as pool:
        run_sweep(grid, tmp_path / "out", executor=pool)
        before = {path.name for path in (tmp_path / "out" / "parts").iterdir()}
        watched = Watched(pool)
        found = run_sweep(grid, tmp_path / "out", executor=watched, resume=True)
    assert len(found.failures) == 2
    assert {path.name for path in (tmp_path / "out" / "parts").iterdir()} == before
    assert {cell.cell_id.label for task in watched.tasks for cell, *_ in task.spans} == {"opt-f"}


def test_a_complete_sweep_is_left_as_it_is(grid, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        before = run_sweep(grid, tmp_path / "out", executor=pool).summary()
        watched = Watched(pool)
        after = run_sweep(grid, tmp_path / "out", executor=watched, resume=True).summary()
    assert watched.tasks == []
    assert after.equals(before)


def test_an_executor_that_breaks_for_good_ends_the_sweep_with_a_reason(grid, tmp_path):
    with pytest.raises(EvenhandError, match="no workers can be started: gone"):
        run_sweep(grid, tmp_path / "out", executor=Broken(), workers=1)


def test_a_worker_that_dies_costs_only_time(grid, tmp_path, small_tasks):
    with ThreadPoolExecutor(2) as pool:
        undisturbed = run_sweep(grid, tmp_path / "one", executor=pool).runs()
        unlucky = Mortal(pool, dies_at={3, 4, 9})
        disturbed = run_sweep(grid, tmp_path / "two", executor=unlucky, workers=2)
    assert unlucky.deaths == 3
    assert disturbed.failures == []
    assert disturbed.runs().equals(undisturbed)


def test_a_task_that_kills_its_workers_is_found_out_and_nobody_else_is_blamed(tmp_path):
    grid = with_a_deadly_one(replications=2)
    progress, _ = conduct(grid, tmp_path / "out", lambda: Processes(2), resume=False)
    (failure,) = progress.given_up
    assert (failure.cell, failure.replications) == ("deadly | lfg | T=50", (0, 1))
    assert failure.tries == runner.TRIES
    assert "its worker died" in failure.error
    assert progress.runs_done == 4


def test_a_task_that_fails_is_split_into_single_runs_each_tried_three_times(load, tmp_path):
    grid = load(FILE + TOO_MUCH)
    with ThreadPoolExecutor(2) as pool:
        watched = Watched(pool)
        run_sweep(grid, tmp_path / "out", executor=watched, workers=2)
    failing = range(grid.numbering.of("too much").start * 6, grid.runs)
    opt_f = [run for run in failing if grid.cell(run // 6).cell_id.label == "opt-f"]
    alone = [task.runs.start for task in watched.tasks if len(task.runs) == 1]
    assert len(opt_f) == 12
    assert all(alone.count(run) == 3 for run in opt_f)
    assert all(alone.count(run) <= 1 for run in alone if run not in opt_f)


def test_runs_lost_together_are_not_blamed_for_a_death_beside_them(grid, tmp_path, small_tasks):
    """Five deaths in a row hit the same runs again and again; played alone, all of them live."""
    with ThreadPoolExecutor(2) as pool:
        unlucky = Mortal(pool, dies_at=set(range(2, 12)))
        progress, _ = conduct(
            grid, tmp_path / "out", lambda: ExternalExecutor(unlucky, 2), resume=False
        )
    assert unlucky.deaths == 10
    assert progress.given_up == []
    assert progress.runs_done == grid.runs


def test_a_worker_with_other_packages_ends_the_sweep_instead_of_eating_it(grid, tmp_path):
    class Strange(Executor):
        def submit(self, function, /, *arguments, **options):
            future = Future()
            future.set_exception(VersionError("worker on x must have numpy 2"))
            return future

    with pytest.raises(VersionError, match="worker on x"):
        run_sweep(grid, tmp_path / "out", executor=Strange(), workers=1)


def test_a_damaged_part_is_played_again_by_one_resume(grid, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        before = run_sweep(grid, tmp_path / "out", executor=pool).runs()
        part = next((tmp_path / "out" / "parts").iterdir())
        part.write_bytes(part.read_bytes()[:-9])
        after = run_sweep(grid, tmp_path / "out", executor=pool, resume=True)
    assert after.complete
    assert after.runs().equals(before)


def test_a_folder_used_again_in_one_process_shows_the_new_sweep(grid, load, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        first = run_sweep(grid, tmp_path / "out", executor=pool).runs()
        shutil.rmtree(tmp_path / "out")
        other = load(FILE.replace("seed = 7", "seed = 8"))
        second = run_sweep(other, tmp_path / "out", executor=pool).runs()
    assert not second.equals(first)


def test_a_folder_that_cannot_be_written_ends_the_sweep_with_a_reason(grid, tmp_path, monkeypatch):
    def full(path, content):
        if path.suffix == ".parquet":
            raise OSError(28, "No space left on device")
        return neighbour(path, content)

    neighbour = storage._neighbour
    monkeypatch.setattr(storage, "_neighbour", full)
    with (
        ThreadPoolExecutor(2) as pool,
        pytest.raises(InputError, match=r"with room, got .*: No space left on device"),
    ):
        run_sweep(grid, tmp_path / "out", executor=pool)


def test_a_system_error_that_is_not_about_the_folder_is_not_blamed_on_it(grid, tmp_path):
    class Lost(Executor):
        def submit(self, function, /, *arguments, **options):
            raise ConnectionResetError(104, "Connection reset by peer")

    with pytest.raises(ConnectionResetError):
        run_sweep(grid, tmp_path / "out", executor=Lost())


class Watched(Executor):
    """Notes what is submitted."""

    def __init__(self, pool):
        self.pool = pool
        self.tasks = []

    def submit(self, function, /, *arguments, **options):
        self.tasks.append(arguments[0])
        return self.pool.submit(function, *arguments, **options)


class Mortal(Watched):
    """Some submissions end as if their worker had died."""

    def __init__(self, pool, dies_at):
        super().__init__(pool)
        self.dies_at = dies_at
        self.deaths = 0

    def submit(self, function, /, *arguments, **options):
        future = super().submit(function, *arguments, **options)
        if len(self.tasks) not in self.dies_at:
            return future
        self.deaths += 1
        lost = Future()
        lost.set_exception(BrokenExecutor("a worker died"))
        return lost


class Broken(Executor):
    """Takes nothing any more."""

    def submit(self, function, /, *arguments, **options):
        raise BrokenExecutor("gone")
