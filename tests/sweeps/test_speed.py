"""Cutting: tasks of about the same time, of neighbouring runs, none left out and none twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import Generated
from evenhand.sweeps import Grid
from evenhand.sweeps._speed import (
    LEAST_SECONDS,
    MOST_TASKS,
    TASK_SECONDS,
    Speed,
    TaskSplitter,
    guess,
)


def grid_of(instances=3, horizons=(100,), replications=10):
    made = {str(i): Generated(5 + i, 2, 0.9, i) for i in range(instances)}
    return Grid(made, ["lfg", "uniform"], horizons, replications, seed=1)


def cut_all(splitter, workers=2):
    tasks = []
    while spans := splitter.cut(workers):
        tasks.append(spans)
    return tasks


@given(
    st.lists(st.integers(0, 119), max_size=12),
    st.integers(1, 4),
    st.sampled_from([1e-4, 0.3, 5.0]),
)
def test_every_missing_run_is_cut_once_and_tasks_hold_neighbours(edges, workers, each):
    edges = sorted(set(edges))
    missing = [range(a, b) for a, b in zip(edges[::2], edges[1::2], strict=False)]
    grid, speed = grid_of(instances=6), Speed()
    for number in range(grid.cells):
        speed.learn(grid.cell(number), 1, each)
    runs = []
    for spans in cut_all(TaskSplitter(grid, missing, speed), workers):
        numbers = [n for p in spans for n in range(p.first, p.first + p.runs)]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert all(p.first == p.cell.number * grid.replications + p.start for p in spans)
        assert any(set(numbers) <= set(gap) for gap in missing)
        runs += numbers
    assert runs == [run for gap in missing for run in gap]


@pytest.mark.parametrize("each", [0.001, 0.1, 0.9])
def test_tasks_take_a_second_or_more_whatever_the_cells_are(each):
    grid, speed = grid_of(instances=30, replications=300), Speed()
    for number in range(grid.cells):
        speed.learn(grid.cell(number), 1, each)
    tasks = cut_all(TaskSplitter(grid, [range(grid.runs)], speed))
    seconds = [each * sum(span.runs for span in spans) for spans in tasks]
    assert all(0.999 * LEAST_SECONDS <= taken <= TASK_SECONDS + each for taken in seconds[:-1])
    assert max(seconds) >= TASK_SECONDS
    assert (
        sum(taken >= TASK_SECONDS * 0.9 for taken in seconds) >= 0.5 * len(seconds) or each < 0.01
    )


def test_a_run_that_takes_longer_is_a_task_of_its_own():
    grid, speed = grid_of(replications=2), Speed()
    for number in range(grid.cells):
        speed.learn(grid.cell(number), 1, 60.0)
    assert all(
        [span.runs for span in spans] == [1]
        for spans in cut_all(TaskSplitter(grid, [range(grid.runs)], speed))
    )


def test_a_huge_sweep_has_longer_tasks_rather_than_more():
    grid, speed = grid_of(horizons=(100_000_000,), replications=30_000), Speed()
    assert (
        len(cut_all(TaskSplitter(grid, [range(grid.runs)], speed), workers=100)) < 1.5 * MOST_TASKS
    )


def test_speed_is_learned_by_kind_and_corrects_the_guesses_of_others():
    grid, speed = grid_of(), Speed()
    seen, other = grid.cell(0), grid.cell(grid.cells - 1)
    assert speed.seconds(seen) == guess(seen)
    speed.learn(seen, 4, 4 * 3.0 * guess(seen))
    assert speed.seconds(seen) == pytest.approx(3.0 * guess(seen))
    assert speed.seconds(other) == pytest.approx(3.0 * guess(other))
