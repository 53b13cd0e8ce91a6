"""docs/adding-a-policy.md, followed word for word on a copy of the tree."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.docs.pages import PAGES, ROOT, commands, of_language, run

REGISTRY = "src/evenhand/policies/registry.py"


@pytest.fixture
def copy(tmp_path):
    """A copy of what a developer has, without machine code and caches."""
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for part in ("src", "tests/policies", "tests/simulation", "tests/agent", "tests/testing"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=ignored)
    for name in ("tests/__init__.py", "tests/conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_the_walk_through_ends_with_a_policy_that_passes_all_shared_tests(copy):
    policy, imported, case = of_language("adding-a-policy", "python")
    named = re.findall(r"`((?:src|tests)/\S+\.py)`", PAGES["adding-a-policy"])
    assert [named[0], named[1], named[2]] == [
        "src/evenhand/policies/round_robin.py",
        REGISTRY,
        "tests/policies/test_round_robin.py",
    ]
    (copy / named[0]).write_text(policy, encoding="utf-8")
    (copy / named[2]).write_text(case, encoding="utf-8")
    registry = (copy / REGISTRY).read_text(encoding="utf-8")
    after = "from evenhand.policies.priced import Priced\n"
    registry = registry.replace(after, after + imported).replace(
        "    Uniform,\n", "    RoundRobin,\n    Uniform,\n"
    )
    (copy / REGISTRY).write_text(registry, encoding="utf-8")
    listing, *tests = commands("adding-a-policy")
    source = f"export PYTHONPATH={copy / 'src'}:{copy}; "
    told = run(source + listing.replace("evenhand", "python -m evenhand"), copy)
    assert "round-robin" in told.stdout, told.stderr
    for command in tests:
        done = run(source + command, copy)
        assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(".") >= 10
    assert run(f"ruff check {named[0]} {named[2]}", copy).returncode == 0
    assert run(f"ruff format --check {named[0]} {named[2]}", copy).returncode == 0
