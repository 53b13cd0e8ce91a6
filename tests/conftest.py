from __future__ import annotations

import pytest
from hypothesis import Phase, settings

from evenhand import Environment, Problem

# For runs that only want to know whether a test fails, not on which smallest example.
settings.register_profile("quick", phases=[Phase.explicit, Phase.generate])


@pytest.fixture
def setting_1() -> Environment:
    """Setting 1 of the paper."""
    problem = Problem(["a", "b", "c"], plays=2, floors=[0.5, 0.6, 0.4])
    return Environment(problem, means=[0.4, 0.5, 0.7], availability=[0.9, 0.8, 0.7])
