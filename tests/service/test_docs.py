"""docs/service.md and docs/dashboard.md are true: they are walked through, and programs run."""

from __future__ import annotations

import re
import subprocess
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path

import pytest

from evenhand.service import read_config
from tests.service.servers import Server

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "service.md").read_text(encoding="utf-8")


def blocks(language, page=PAGE):
    return re.findall(rf"```{language}\n(.*?)```", page, flags=re.DOTALL)


def commands(page):
    """Yield commands with what they should print, from blocks of a console."""
    for block in blocks("console", page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.splitlines(keepends=True)
            length = 1
            while lines[length : length + 1] and lines[length].startswith("    "):
                length += 1
            yield "".join(lines[:length]).strip(), "".join(lines[length:])


@pytest.fixture
def server(tmp_path):
    server = Server("--database", f"sqlite:///{tmp_path}/walk.db")
    yield server
    server.kill()


@pytest.mark.parametrize(("name", "steps"), [("service", 12), ("dashboard", 9)])
def test_the_walk_through_can_be_walked(name, steps, server):
    checker, flags, walked = OutputChecker(), ELLIPSIS | NORMALIZE_WHITESPACE, 0
    for command, wanted in commands((DOCS / f"{name}.md").read_text(encoding="utf-8")):
        here = command.replace("localhost:8321", f"localhost:{server.port}")
        done = subprocess.run(["bash", "-c", here], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (command, done.stderr)
        assert checker.check_output(wanted, done.stdout.rstrip("\n") + "\n", flags), (
            command, wanted, done.stdout,
        )  # fmt: skip
        walked += 1
    assert walked >= steps


def test_its_programs_run(server, capsys):
    for program in blocks("python"):
        here = program.replace("http://127.0.0.1:8321", server.url)
        exec(compile(here, "service.md", "exec"), {})
    assert "'applied': 1" in capsys.readouterr().out


def test_its_settings_are_understood(tmp_path):
    file = tmp_path / "evenhand.toml"
    [text] = blocks("toml")
    file.write_text(text, encoding="utf-8")
    config = read_config(file)
    assert config.host == "0.0.0.0"
    assert config.uvicorn["ssl_certfile"]


def test_its_commands_are_there():
    from evenhand.cli import _COMMANDS

    named = set(re.findall(r"^evenhand (\w+)", PAGE, flags=re.MULTILINE))
    assert named == {"serve", "keys", "verify", "compact", "export", "import"}
    assert named <= set(_COMMANDS)
