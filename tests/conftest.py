from __future__ import annotations

import pytest

from evenhand import Environment, Problem


@pytest.fixture
def setting_1() -> Environment:
    """Setting 1 of the paper."""
    problem = Problem(["a", "b", "c"], plays=2, floors=[0.5, 0.6, 0.4])
    return Environment(problem, means=[0.4, 0.5, 0.7], availability=[0.9, 0.8, 0.7])
