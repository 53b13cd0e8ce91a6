"""evenhand policies, and the command as a whole."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from evenhand import make_policy
from evenhand.policies.registry import BUILT_IN


def test_every_policy_is_listed_with_its_line_and_parameters(evenhand):
    lines = evenhand("policies").stdout.splitlines()
    assert len(lines) == 2 * len(BUILT_IN)
    for position, name in enumerate(policy.name for policy in BUILT_IN):
        assert lines[2 * position].startswith(name)
        assert make_policy(name).summary in lines[2 * position]
        for parameter in make_policy(name).parameters():
            assert f"{parameter}=" in lines[2 * position + 1]
    assert any("rewards=fractional (or binarised)" in line for line in lines)


def test_the_version_is_printed(evenhand):
    words = evenhand("--version").stdout
    assert re.match(r"evenhand \d+\.\d+\.\d+ \(Python 3\.\d+\.\d+; extras: .*lab.*\)\n$", words)


def test_the_version_is_printed_without_the_packages_of_the_command_line(tmp_path):
    """As after an install of the core: typer is not there."""
    (tmp_path / "typer.py").write_text("raise ModuleNotFoundError(name='typer')\n")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = [sys.executable, "-m", "evenhand"]
    told = subprocess.run(
        [*command, "--version"], env=env, capture_output=True, text=True, check=False
    )
    assert (told.returncode, told.stderr) == (0, "")
    assert re.match(r"evenhand \d+\.\d+\.\d+ \(core only\)\n$", told.stdout)
    other = subprocess.run(
        [*command, "policies"], env=env, capture_output=True, text=True, check=False
    )
    assert other.returncode == 1
    assert "pip install '.[lab]' in a clone of evenhand" in other.stderr


def test_no_command_prints_help(evenhand):
    done = evenhand()
    assert "simulate" in done.stdout + done.stderr


def test_an_unknown_command_is_refused(evenhand):
    assert evenhand("simulat").returncode == 2
