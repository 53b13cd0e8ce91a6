"""The public names: sorted, complete, documented, and nothing heavy behind a plain import."""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys
import time
from dataclasses import FrozenInstanceError
from importlib import import_module
from pathlib import Path

import pytest

import evenhand
from evenhand import MissingExtra
from evenhand.core import extras

ROOT = Path(__file__).parents[1]
DOCS = "\n".join(
    path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
)


def public_modules():
    found = ["evenhand"]
    for module in pkgutil.iter_modules(evenhand.__path__, "evenhand."):
        if module.name.startswith("evenhand._"):
            continue
        # Other modules are open to this package alone: they promise nothing to its users.
        if hasattr(import_module(module.name), "__all__"):
            found.append(module.name)
    return found


def test_what_users_import_from_says_what_is_public():
    promised = {"agent", "availability", "client", "environment", "generate", "gym", "optimum"}
    promised |= {"policies", "problem", "results", "service", "simulation", "sweeps", "testing"}
    assert {f"evenhand.{name}" for name in promised} <= set(public_modules())


@pytest.mark.parametrize("name", public_modules())
def test_a_public_module_says_what_is_public_and_leaks_nothing_else(name):
    """What it binds itself is in __all__ or private; of a package, what it imports, too."""
    module = import_module(name)
    assert sorted(module.__all__) == sorted(set(module.__all__))
    assert all(hasattr(module, public) for public in module.__all__)
    path = Path(module.__file__)
    bound = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            bound.add(node.name)
        elif isinstance(node, ast.Assign):
            bound |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            bound.add(node.target.id)
        elif isinstance(node, ast.ImportFrom) and path.name == "__init__.py":
            ours = (node.module or "").startswith("evenhand") and name != "evenhand.cli"
            bound |= {alias.asname or alias.name for alias in node.names if ours}
    leaked = {one for one in bound if not one.startswith("_")} - set(module.__all__)
    assert leaked <= {"TYPE_CHECKING"}


@pytest.mark.parametrize("name", public_modules())
def test_a_public_name_has_a_docstring_and_a_mention_in_the_docs(name):
    module = import_module(name)
    for public in module.__all__:
        value = getattr(module, public)
        if callable(value) and not hasattr(value, "__args__"):
            assert value.__doc__, f"{name}.{public} has no docstring"
        assert f"`{public}`" in DOCS, f"{name}.{public} is mentioned nowhere"


def test_a_name_that_is_not_there_is_no_attribute():
    name = "Agnet"
    with pytest.raises(AttributeError, match="module 'evenhand' has no attribute 'Agnet'"):
        getattr(evenhand, name)
    assert set(evenhand.__all__) <= set(dir(evenhand))


def test_an_environment_is_as_frozen_as_a_problem(setting_1):
    for thing, field in ((setting_1, "means"), (setting_1.problem, "floors")):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, field, 1.0)
        with pytest.raises(ValueError, match="read-only"):
            getattr(thing, field)[0] = 1.0


def python(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_importing_the_package_loads_nothing_before_it_is_used():
    code = "import sys, evenhand; print('numpy' in sys.modules, 'scipy' in sys.modules)"
    assert python(code) == "False False"


def test_importing_the_core_loads_no_optional_package():
    code = (
        "import sys; from evenhand import *; from evenhand.core import extras; "
        "print([package for package in extras.EXTRAS if package in sys.modules])"
    )
    assert python(code) == "[]"


def best_of(runs, *command):
    """Return the seconds of the fastest of some runs: noise only ever adds."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def test_it_is_quick_to_start():
    bare, numpy, ours, told = (
        best_of(5, *command)
        for command in (
            ("-c", "pass"),
            ("-c", "import numpy"),
            ("-c", "import evenhand"),
            ("-m", "evenhand", "--help"),
        )
    )
    assert ours <= 1.3 * numpy
    assert told - bare <= 0.4


def test_a_missing_package_is_named_together_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra, match=r"'polars'.*pip install '\.\[lab\]'"):
        extras.load("polars")
