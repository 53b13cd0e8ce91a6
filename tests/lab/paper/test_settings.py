"""The paper's evaluation as data: its numbers, and ids that do not change."""

from __future__ import annotations

import math

from evenhand.lab.judging import RunSize
from evenhand.lab.paper.settings import (
    ETAS,
    SETTING_1,
    SETTING_2,
    experiments,
    grid_of,
    horizon_of,
    note_of,
    tightness_horizons,
)


def test_the_ids_are_stable():
    assert list(experiments(RunSize())) == [
        "setting1-eta1",
        "setting1-eta10",
        "setting1-eta1000",
        "setting1-inf",
        "setting2-paper",
        "setting2-inf",
        "tightness",
    ]


def test_the_papers_parameters():
    full = RunSize()
    assert (full.replications, horizon_of(full)) == (100, 20_000)
    assert (tightness_horizons(full)[0], tightness_horizons(full)[-1]) == (1_000, 100_000)
    assert note_of(full) == ""
    assert [eta for _, eta in ETAS.values()] == [1.0, 10.0, 1000.0, math.inf, "paper", math.inf]


def test_a_first_look_says_so():
    quick = RunSize(quick=True)
    assert (quick.replications, horizon_of(quick)) == (10, 4_000)
    assert note_of(quick) == "quick look: 10 replications, T = 4,000"


def test_the_settings_are_the_papers():
    assert SETTING_1.environment().problem.plays == 2
    assert SETTING_1.floors == (0.5, 0.6, 0.4)
    assert SETTING_2.environment().problem.plays == 3
    assert SETTING_2.means == (0.52, 0.51, 0.49, 0.48, 0.7, 0.8)


def test_every_cell_has_both_algorithms_with_both_debts():
    for experiment in experiments(RunSize()).values():
        made = [(policy.name, policy.surplus) for policy in experiment.policies().values()]
        assert made == [
            ("tscsf-b", math.inf),
            ("tscsf-b", 0.0),
            ("lfg", math.inf),
            ("lfg", 0.0),
        ]


def test_the_experiments_are_one_grid_in_which_each_has_its_own_policies():
    quick = RunSize(quick=True)
    grid = grid_of(quick)
    assert grid.cells == 6 * 4 + 4 * len(tightness_horizons(quick))
    cell_ids = [grid.cell(number).cell_id for number in range(grid.cells)]
    assert {cell_id.label for cell_id in cell_ids if cell_id.instance == "setting1-eta1"} == {
        f"{name}, {debt}, η = 1.0"
        for name in ("TSCSF-B", "LFG")
        for debt in ("cumulative", "reflected")
    }
