"""``evenhand doctor``: what is there, what is not, and what does not work."""

from __future__ import annotations

import sys
from importlib.metadata import requires

from evenhand.cli import _doctor
from evenhand.errors import EvenhandError


def test_everything_that_is_installed_works(evenhand):
    done = evenhand("doctor")
    assert done.returncode == 0, done.stdout
    assert "not installed" not in done.stdout
    assert done.stdout.count("works") == len(_doctor.CHECKS)
    for package in ("numpy", "numba", "gymnasium", "psycopg", "distributed"):
        assert f"\n{package} " in done.stdout


def test_extras_are_those_of_the_package():
    assert requires("evenhand")
    assert set(_doctor.needed()) == {
        "core", "lab", "cluster", "client", "gym", "service", "postgres",
    }  # fmt: skip
    assert {"numpy", "scipy"} <= {part.package for part in _doctor.needed()["core"]}


def test_a_package_that_is_missing_is_named_and_no_failure(evenhand, monkeypatch):
    known = _doctor.installed
    monkeypatch.setattr(_doctor, "installed", lambda p: None if p == "polars" else known(p))
    monkeypatch.setitem(sys.modules, "polars", None)
    done = evenhand("doctor")
    assert done.returncode == 0
    assert "not installed" in done.stdout
    assert "pip install '.[lab]' in a clone of evenhand" in done.stdout
    assert "lab" not in done.stdout.splitlines()[0]


def test_a_package_that_is_too_old_is_a_failure(evenhand, monkeypatch):
    known = _doctor.installed
    monkeypatch.setattr(_doctor, "installed", lambda p: "0.1" if p == "numba" else known(p))
    done = evenhand("doctor")
    assert done.returncode == 1
    assert "0.1, too old" in done.stdout


def test_what_does_not_work_is_said_and_is_a_failure(evenhand, monkeypatch):
    def broken():
        raise EvenhandError("the [engines] differ")

    monkeypatch.setitem(_doctor.CHECKS, "something", broken)
    done = evenhand("doctor")
    assert done.returncode == 1
    assert "the [engines] differ" in done.stdout
