"""The README is true: its programs run and its files are understood."""

from __future__ import annotations

import re
import runpy
import shutil
from pathlib import Path

import pytest

from evenhand.files import Settings
from evenhand.sweeps import Grid

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize("position", range(len(blocks("python"))))
def test_its_programs_run(position, capsys, tmp_path, monkeypatch):
    program = blocks("python")[position]
    if "examples/sweep.toml" in program:
        small = (ROOT / "examples" / "sweep.toml").read_text(encoding="utf-8")
        small = small.replace("20_000]", "3_000]").replace("replications = 20", "replications = 2")
        (tmp_path / "examples").mkdir()
        (tmp_path / "examples" / "sweep.toml").write_text(small, encoding="utf-8")
        for name in ("setting1.toml", "setting2.toml"):
            shutil.copy(ROOT / "examples" / name, tmp_path / "examples")
        monkeypatch.chdir(tmp_path)
    exec(compile(program, "README.md", "exec"), {})
    assert capsys.readouterr().out


def test_its_first_program_is_short_and_keeps_its_promise():
    program = blocks("python")[0]
    scope: dict = {}
    exec(program, scope)
    assert len([line for line in program.splitlines() if line.strip()]) <= 10
    assert scope["agent"].rates()["sport"] == pytest.approx(0.3, abs=0.005)


def test_its_files_are_understood(tmp_path):
    simulation, sweep = (tmp_path / name for name in ("setting1.toml", "sweep.toml"))
    for file, text in zip((simulation, sweep), blocks("toml"), strict=True):
        file.write_text(text, encoding="utf-8")
    assert list(Settings.load(simulation).policies) == ["TS, reflected"]
    assert Grid.load(sweep).cells == (1 + 2 * 2 * 10) * (4 * 2 + 1) * 2


@pytest.mark.parametrize(
    "example", sorted((ROOT / "examples").glob("setting*.toml")), ids=lambda p: p.name
)
def test_the_examples_are_understood(example):
    assert Settings.load(example).policies


def test_the_example_of_a_sweep_is_understood():
    assert Grid.load(ROOT / "examples" / "sweep.toml").cells == 240


def test_the_example_of_forgetting_draws_its_figure(tmp_path, capsys):
    example = runpy.run_path(str(ROOT / "examples" / "forgetting.py"))
    example["main"](tmp_path, replications=3)
    before_and_after = re.findall(r"before (\S+)  after (\S+)", capsys.readouterr().out)
    remembers, _, forgets = ((float(x), float(y)) for x, y in before_and_after)
    assert max(remembers[0], forgets[0]) < 0.02
    assert remembers[1] > 0.5
    assert forgets[1] < 0.05
    assert (tmp_path / "forgetting.png").read_bytes()[:4] == b"\x89PNG"


def test_its_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    commands = re.findall(r"^make (\w+)", README, flags=re.MULTILINE)
    assert "test" in commands
    assert all(f"\n{command}:" in makefile for command in commands)


def test_its_links_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert "docs/cluster.md" in links
    assert all((ROOT / link).exists() for link in links)
