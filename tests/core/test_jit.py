"""Machine code: named after all the sources it was made from."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
import pytest

from evenhand import Environment, InputError, Problem, simulate
from evenhand.core.jit import compiled, digest, inlined
from evenhand.core.round import round_of
from evenhand.policies import lfg, tscsf_b
from evenhand.simulation.kernel import play


def test_the_name_depends_on_every_function_that_is_called():
    one, other, again = (
        digest(play, play_round=round_of(policy.score)) for policy in (lfg, tscsf_b, lfg)
    )
    assert one != other
    assert one == again


LIMIT = 3


def limited(x):
    return min(x, LIMIT)


def test_the_name_depends_on_the_constants_that_are_read(monkeypatch):
    before = digest(limited)
    monkeypatch.setitem(globals(), "LIMIT", 4)
    assert digest(limited) != before


def with_default(x, factor=2.0):
    return x * factor


def scaling(factor, shape):
    def scaled(x):
        return factor * shape(x)

    return scaled


def test_default_arguments_are_kept():
    assert compiled(with_default)(3.0) == 6.0
    assert compiled(with_default)(3.0, 5.0) == 15.0


def test_what_an_enclosing_function_gives_counts_as_constant():
    double, triple = scaling(2.0, with_default), scaling(3.0, with_default)
    assert (compiled(double)(1.0), compiled(triple)(1.0)) == (4.0, 6.0)
    assert digest(double) != digest(triple)


HELPER = """
def bent(x):
    return bend(x) + 1.0

def bend(x):
    return -x
"""
AUTHORS = """
from dataclasses import dataclass
from author_helper import bent
from evenhand import Policy

def score(scores, view, constants, memory, rng, tilt=0.5):
    for j in range(view.awake.size):
        scores[j] = bent(view.problem.weights[view.awake[j]] * rng.random()) * tilt

@dataclass(frozen=True, kw_only=True)
class Mine(Policy):

    name = "mine"
    score = staticmethod(score)
"""


def test_a_policy_may_call_helpers_of_its_authors_own_modules(tmp_path, monkeypatch):
    (tmp_path / "author_helper.py").write_text(HELPER)
    (tmp_path / "author_policy.py").write_text(AUTHORS)
    monkeypatch.syspath_prepend(tmp_path)
    mine = __import__("author_policy").Mine()
    environment = Environment(Problem(4, plays=2, floors=0.2), 0.5, 0.8)
    one, two = (
        simulate(environment, [mine], horizon=200, seed=1, engine=engine)
        for engine in ("compiled", "reference")
    )
    assert np.array_equal(one.played, two.played)
    for name in ("author_helper", "author_policy"):
        sys.modules.pop(name)


def summing(table):
    def total(x):
        return x + table[0] + table[table.size - 1]

    return total


def test_the_name_depends_on_all_of_an_enclosed_array():
    one, two = np.zeros(5_000), np.zeros(5_000)
    two[2_500] = 1.0
    assert digest(summing(one)) != digest(summing(two))
    assert digest(summing(one)) == digest(summing(one.copy()))
    assert compiled(summing(two))(1.0) == 1.0


def keyword_only(x, *, factor=2.0):
    return x * factor


def test_keyword_only_arguments_are_refused_with_the_rule():
    message = "function 'keyword_only' must be without keyword-only arguments"
    with pytest.raises(InputError, match=message):
        compiled(keyword_only)


class Pair(NamedTuple):
    left: float
    right: float


def scaled(pair, by):
    """Return a pair's difference, scaled."""
    difference = pair.left - pair.right
    return abs(difference) * by


def caller(left, right):
    by = 2.0
    found = scaled_(Pair(left, right), by)  # noqa: F821  (put in by the test)
    return found + by


def early(pair, by):
    if by > 1.0:
        return 0.0
    return pair.left


def test_a_body_stands_where_it_was_called_and_names_do_not_mix():
    made = inlined(caller, "scaled_", scaled)
    assert made(1.0, 4.0) == 8.0
    assert compiled(made)(1.0, 4.0) == 8.0
    assert "Pair" not in made.source


def test_what_returns_in_between_is_called_instead():
    assert inlined(caller, "scaled_", early)(1.0, 4.0) == 2.0
