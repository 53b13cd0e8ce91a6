"""evenhand policies, and the command as a whole."""

from __future__ import annotations

import re

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


def test_no_command_prints_help(evenhand):
    done = evenhand()
    assert "simulate" in done.stdout + done.stderr


def test_an_unknown_command_is_refused(evenhand):
    assert evenhand("simulat").returncode == 2
