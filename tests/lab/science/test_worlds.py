"""The study's worlds are what they say: dependent, drifting, and just feasible."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand import find_optimum
from evenhand.lab.science._worlds import (
    LIGHTEST,
    TIGHTEST,
    UNINFORMATIVE,
    WORLDS,
    drift,
    latent_states,
)

SEEDS = range(5)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", WORLDS)
def test_floors_are_tight_and_can_be_kept(name, seed):
    environment = WORLDS[name](np.random.default_rng(seed), 3_000)
    rooms = [find_optimum(nature).floor_headroom for _, nature in environment.segments(3_000)]
    assert 1 / TIGHTEST - 1e-9 <= min(rooms) <= 1 / LIGHTEST + 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_a_latent_state_wakes_arms_together(seed):
    awake = latent_states(np.random.default_rng(seed), 1_000).awake
    rates = awake.set_probabilities @ awake.members
    together = (awake.members.T * awake.set_probabilities) @ awake.members
    apart = np.abs(together - np.outer(rates, rates))
    np.fill_diagonal(apart, 0.0)
    assert rates.min() > 0.0
    assert apart.max() > 0.15


def test_drift_changes_means_and_awake_rates_at_each_third():
    environment = drift(np.random.default_rng(1), 900)
    (first, calm), (_, other), (last, _) = environment.segments(900)
    assert (first, last) == (300, 300)
    assert not np.allclose(calm.means, other.means)
    assert not np.allclose(calm.awake.probabilities, other.awake.probabilities)


@pytest.mark.parametrize("name", UNINFORMATIVE)
def test_no_context_matters_where_none_is_said_to(name):
    environment = UNINFORMATIVE[name](np.random.default_rng(2))
    assert environment.problem.features
    assert not environment.contextual.coefficients[:, 1:].any()
    assert find_optimum(environment).floor_headroom > 1.0
