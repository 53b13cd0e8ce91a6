"""Every page is true: its blocks run, its links lead somewhere, its figures have a command."""

from __future__ import annotations

import configparser
import re

import pytest

from evenhand.files import Settings
from evenhand.sweeps import Grid
from tests.docs.pages import (
    PAGES,
    ROOT,
    blocks,
    check_options,
    check_set_up,
    commands,
    of_language,
    programs,
    run,
    workplace,
)

LANGUAGES = {"python", "console", "sh", "toml", "ini", "nginx", "{toctree}"}
# Walked through by tests of their own: with a server, with a cluster, on a copy of the tree.
WALKED = {"service", "dashboard", "over-http", "cluster", "adding-a-policy"}


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_is_and_is_of_a_kind_that_is_run(page):
    assert {block.language for block in blocks(page)} <= LANGUAGES
    assert PAGES[page].count("\n```") == 2 * len(blocks(page))
    outside = re.sub(r"^```.*?^```$", "", PAGES[page], flags=re.DOTALL | re.MULTILINE)
    assert not re.search(r"\n\n    \S", outside), "an indented block would not be run"


@pytest.mark.parametrize("page", [name for name in PAGES if programs(name) and name not in WALKED])
def test_its_programs_run_one_after_the_other(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(workplace(tmp_path))
    scope: dict = {}
    for program in programs(page):
        exec(compile(program, f"{page}.md", "exec"), scope)
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", [name for name in PAGES if commands(name) and name not in WALKED])
def test_its_commands_run_one_after_the_other(page, tmp_path):
    folder = workplace(tmp_path)
    for command in commands(page):
        if command.startswith("curl"):  # said to a server by tests/service/test_docs.py
            continue
        if check_set_up(command) or check_options(command, folder):
            continue
        done = run(command, folder)
        assert done.returncode == 0, (command, done.stderr)


def test_the_files_of_simulations_and_sweeps_are_understood(tmp_path):
    simulation, sweep = tmp_path / "setting1.toml", tmp_path / "sweep.toml"
    first, anytime = of_language("simulate", "toml")
    simulation.write_text(first, encoding="utf-8")
    assert list(Settings.load(simulation).policies) == ["TS, surplus 0"]
    simulation.write_text(f"{first}\n{anytime}", encoding="utf-8")
    assert Settings.load(simulation).anytime.window == 1_000
    simulation.write_text(first, encoding="utf-8")
    [text] = of_language("sweeps", "toml")
    sweep.write_text(text, encoding="utf-8")
    assert Grid.load(sweep).cells == (1 + 2 * 2 * 10) * (4 * 2 + 1) * 2


def test_the_unit_of_the_service_starts_the_service():
    unit = configparser.ConfigParser(strict=False)
    unit.optionxform = str
    [text] = of_language("service", "ini")
    unit.read_string(text)
    assert unit["Service"]["ExecStart"].split()[:2] == ["/opt/evenhand/bin/evenhand", "serve"]
    [proxy] = of_language("service", "nginx")
    assert proxy.count("{") == proxy.count("}")


@pytest.mark.parametrize("page", PAGES)
def test_its_links_and_pictures_lead_somewhere(page):
    here = ROOT if page == "README" else ROOT / "docs"
    for link in re.findall(r"\]\(([^)\s]+)\)", PAGES[page]):
        path, _, anchor = link.partition("#")
        if path.startswith("http"):
            continue
        target = here / path if path else here / f"{page}.md"
        assert target.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}
            assert anchor in slugs, link


def test_every_picture_of_the_guide_has_a_command_that_draws_it():
    drawn = {path.stem for path in (ROOT / "examples").glob("*.py")}
    drawn |= {"dashboard", "frontier", "frontier-contexts", "growth"}
    shown = {
        name
        for text in PAGES.values()
        for name in re.findall(r"!\[[^\]]*\]\((?:docs/)?([\w-]+)\.(?:png|svg)\)", text)
    }
    assert shown <= drawn
    assert "frontier" in shown


def test_every_page_can_be_reached():
    [guide] = [PAGES["index"]]
    listed = set(re.findall(r"^([\w-]+)$", guide, flags=re.MULTILINE))
    assert set(PAGES) - {"README", "index"} <= listed
