"""The public names: sorted, complete, and nothing heavy behind a plain import."""

from __future__ import annotations

import subprocess
import sys

import pytest

import evenhand
from evenhand import MissingExtra, extras


def test_public_names_are_sorted_and_exist():
    assert evenhand.__all__ == sorted(evenhand.__all__)
    assert all(hasattr(evenhand, name) for name in evenhand.__all__)


def test_a_name_that_is_not_there_is_no_attribute():
    name = "Agnet"
    with pytest.raises(AttributeError, match="module 'evenhand' has no attribute 'Agnet'"):
        getattr(evenhand, name)
    assert set(evenhand.__all__) <= set(dir(evenhand))


def test_importing_the_package_loads_nothing_before_it_is_used():
    code = "import sys, evenhand; print('numpy' in sys.modules, 'scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"


def test_every_public_name_is_documented():
    assert all(getattr(evenhand, name).__doc__ for name in evenhand.__all__)


def test_importing_the_core_loads_no_optional_package():
    code = (
        "import sys; from evenhand import *; from evenhand import extras; "
        "print([package for package in extras.EXTRAS if package in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_package_is_named_together_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra, match=r"'polars'.*evenhand\[lab\]"):
        extras.load("polars")
