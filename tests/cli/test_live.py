"""The live table: readable on a narrow screen, and what matters comes first."""

from __future__ import annotations

import pytest
from rich.console import Console

from evenhand import Generated, make_policy
from evenhand.cli._live import cell_table, state_line
from evenhand.sweeps import Grid
from evenhand.sweeps._speed import Speed, by_cell
from evenhand.sweeps._tasks import Task
from evenhand.sweeps.progress import SweepProgress


def board_of(replications=10):
    instances = {f"a rather long name {i}": Generated(5, 2, 0.9, i) for i in range(30)}
    policies = {"tscsf-b eta=100 debt=cumulative": make_policy("tscsf-b", eta=100)}
    grid = Grid(instances, policies, (1_000, 10_000), replications, seed=7)
    board = SweepProgress(grid, [range(grid.runs)], Speed())
    board.workers = 2
    return board


def task_of(board, cells):
    runs = range(cells.start * 10, cells.stop * 10)
    grid = board.grid
    return Task(tuple(by_cell(grid, [runs])), 7, 0, grid.checkpoints, grid.anytime, grid.digest, {})


def test_a_line_says_how_far_the_whole_is():
    board = board_of()
    assert "0 of 60 cells, 0 of 600 runs | 2 workers starting |" in state_line(board)
    assert "left" not in state_line(board)
    task = task_of(board, range(15))
    board.started(task)
    board.ended(task)
    board.finished(task, [0.5] * 15)
    assert "15 of 60 cells, 150 of 600 runs | 2 workers |" in state_line(board)
    board.speed.learn(board.grid.cell(0), 10_000, 1_000.0)
    board.speed.learn(board.grid.cell(1), 10_000, 1_000.0)
    assert board.seconds_left == pytest.approx(450 * 0.1 / 2, rel=0.01)


def test_failed_and_finished_cells_come_before_the_many_at_work():
    board = board_of()
    done, flying = task_of(board, range(4)), task_of(board, range(10, 60))
    board.started(done)
    board.started(flying)
    board.ended(done)
    board.finished(done, [0.25] * 4)
    board.failed(59)
    shown = board.cells(9)
    assert len(shown) == 9
    assert [cell.done for cell in shown[:3]] == [10, 10, 10]
    assert shown[-1].failures == 1
    assert [cell.rounds_per_second for cell in shown[:2]] == [100_000 / 0.25, 10_000 / 0.25]


def test_eighty_columns_are_enough_to_tell_cells_apart():
    board = board_of()
    flying = task_of(board, range(6))
    board.started(flying)
    console = Console(width=80)
    with console.capture() as seen:
        console.print(cell_table(board.cells(6)))
    head, *lines = seen.get().splitlines()
    assert head.split() == ["instance", "policy", "T", "runs", "done", "rounds/s", "failed"]
    assert all(("10000" in line) == (place % 2 == 1) for place, line in enumerate(lines))
    assert all("0%" in line for line in lines)
