"""Machine code: named after all the sources it was made from."""

from __future__ import annotations

from evenhand.machine import digest
from evenhand.policies import lfg, tscsf_b
from evenhand.simulation._kernel import play


def test_the_name_depends_on_every_function_that_is_called():
    assert digest(play, score=lfg.score) != digest(play, score=tscsf_b.score)
    assert digest(play, score=lfg.score) == digest(play, score=lfg.score)


LIMIT = 3


def limited(x):
    return min(x, LIMIT)


def test_the_name_depends_on_the_constants_that_are_read(monkeypatch):
    before = digest(limited)
    monkeypatch.setitem(globals(), "LIMIT", 4)
    assert digest(limited) != before
