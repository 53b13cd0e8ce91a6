"""The pages about the service are true: they are walked through, and their programs run."""

from __future__ import annotations

import re
import subprocess
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker

import pytest

from evenhand.service import read_config
from tests.docs.pages import (
    PAGES,
    check_options,
    check_set_up,
    commands,
    of_language,
    programs,
    run,
)
from tests.service.servers import Server


def steps_of(page):
    """Yield commands with what they should print, from blocks of a console."""
    for block in of_language(page, "console"):
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


@pytest.mark.parametrize(("page", "steps"), [("service", 12), ("dashboard", 9), ("over-http", 4)])
def test_the_walk_through_can_be_walked(page, steps, server):
    checker, flags, walked = OutputChecker(), ELLIPSIS | NORMALIZE_WHITESPACE, 0
    for command, wanted in steps_of(page):
        here = command.replace("localhost:8321", f"localhost:{server.port}")
        done = subprocess.run(["bash", "-c", here], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (command, done.stderr)
        assert checker.check_output(wanted, done.stdout.rstrip("\n") + "\n", flags), (
            command, wanted, done.stdout,
        )  # fmt: skip
        walked += 1
    assert walked >= steps


def test_the_programs_of_the_service_run(server, capsys):
    for program in programs("service"):
        exec(
            compile(program.replace("http://127.0.0.1:8321", server.url), "service.md", "exec"), {}
        )
    assert "'applied': 1" in capsys.readouterr().out


def test_the_program_goes_on_where_the_walk_has_led(server, capsys):
    for command, _ in steps_of("over-http"):
        run(command.replace("localhost:8321", f"localhost:{server.port}"), None)
    for program in programs("over-http"):
        exec(
            compile(program.replace("http://127.0.0.1:8321", server.url), "over-http.md", "exec"),
            {},
        )
    assert capsys.readouterr().out == "2\n"


@pytest.mark.parametrize("page", ["service", "dashboard", "over-http"])
def test_commands_beside_the_server_run(page, tmp_path):
    made = ""
    for command in commands(page):
        if check_set_up(command) or check_options(command, tmp_path):
            continue
        here = command.replace("URL", "sqlite:///walk.db").replace("revoke ID", f"revoke {made}")
        if "keys" in here:
            here += " --database sqlite:///walk.db"
        if "import" in here:
            here = here.replace("walk.db", "other.db")
        done = run(here, tmp_path)
        assert done.returncode == 0, (here, done.stdout, done.stderr)
        if "keys list" in here:
            made = re.search(r"^(\S+)\s+\S*shop", done.stdout, flags=re.MULTILINE)[1]


def test_the_readme_serves_a_decision(server):
    said = [command for command in commands("README") if command.startswith("curl")]
    for command in said:
        done = run(command.replace("localhost:8321", f"localhost:{server.port}"), None)
        assert done.returncode == 0
    assert '"id":"visit-1","chosen":[' in done.stdout


def test_its_settings_are_understood(tmp_path):
    file = tmp_path / "evenhand.toml"
    [text] = of_language("service", "toml")
    file.write_text(text, encoding="utf-8")
    config = read_config(file)
    assert config.host == "0.0.0.0"
    assert config.uvicorn["ssl_certfile"]


def test_its_commands_are_there():
    from evenhand.cli import _COMMANDS, _GROUPS

    named = set(re.findall(r"^evenhand (?:db )?(\w+)", PAGES["service"], flags=re.MULTILINE))
    assert named == {"serve", "keys", "verify", "compact", "export", "import"}
    assert named <= {*_COMMANDS, *_GROUPS["db"]}
