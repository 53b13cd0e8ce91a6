"""A siege of a minute on each database; ``make siege`` is the one of ten."""

from __future__ import annotations

import pytest

from tests.siege.campaign import Siege
from tests.siege.worlds import WORLDS

SECONDS = 40.0


@pytest.mark.parametrize("name", WORLDS)
def test_a_siege_loses_nothing_and_locks_nobody_out(name, tmp_path):
    with WORLDS[name](tmp_path) as world:
        siege = Siege(world, seed=26)
        try:
            found = siege.run(SECONDS)
            siege.check()
        finally:
            siege.close()
    assert found.rewards > 500
    assert found.errors == set()
    assert found.memory < 1e9
    # Other tests run on the same cores; ``make siege`` has the bounds of a server.
    assert found.percentile(0.9) < 0.5
    assert found.longest_gap < 20.0
