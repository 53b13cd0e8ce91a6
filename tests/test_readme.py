"""The README is short and true; its blocks are run with those of all other pages."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import PAGES, ROOT, programs

README = PAGES["README"]


def test_it_is_short():
    assert len(README.splitlines()) < 150


def test_its_first_program_is_short_and_keeps_its_promise():
    program = programs("README")[0]
    scope: dict = {}
    exec(program, scope)
    assert len([line for line in program.splitlines() if line.strip()]) <= 10
    assert scope["agent"].rates()["sport"] == pytest.approx(0.3, abs=0.005)


def test_its_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = re.findall(r"^make ([\w-]+)", README, flags=re.MULTILINE)
    assert "test" in named
    assert all(f"\n{command}:" in makefile for command in named)


def test_its_speed_is_what_the_benchmarks_have_found():
    """The figures between the marks are those of the page that is written from the results."""
    from benchmarks.page import speed_block

    assert speed_block() in README
