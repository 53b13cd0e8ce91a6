"""The pages of the documentation as blocks, and commands as they are run in tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PAGES = {
    path.stem: path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
}
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]
# What takes minutes is run, smaller, by tests of its own; here it is held against its --help, and
# so are the examples, which tests/test_examples.py runs.
LONG = ("lab study", "lab verify", "demo", "serve")
# The simulations of pages are run with fewer rounds.
SMALLER = {
    "[2_000, 20_000]": "[500, 2_000]",
    "arms = [10, 30], plays = 3, tightness = [0.7, 0.95], seeds = 2": (
        "arms = 10, plays = 3, tightness = 0.7, seeds = 1"
    ),
    "horizon = 20000": "horizon = 2000",
    "replications = 100": "replications = 3",
    "replications = 20": "replications = 2",
}


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    text: str


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    found = re.findall(r"^```([^\n]*)\n(.*?)^```$", PAGES[page], flags=re.DOTALL | re.MULTILINE)
    return [Block(*one) for one in found]


def of_language(page: str, language: str) -> list[str]:
    """Return the blocks of a page in a language."""
    return [block.text for block in blocks(page) if block.language == language]


def programs(page: str) -> list[str]:
    """Return what is a program of Python's: examples of doctest's are run by pytest itself."""
    return [text for text in of_language(page, "python") if ">>> " not in text]


def commands(page: str) -> list[str]:
    """Return the commands of a page, without their comments."""
    lines = [line for text in of_language(page, "sh") for line in text.splitlines()]
    return [command for line in lines if (command := re.sub(r"(^|\s+)#.*", "", line).strip())]


def workplace(folder: Path) -> Path:
    """Return a folder in which commands find the examples, with smaller simulations."""
    (folder / "examples").mkdir()
    for path in sorted((ROOT / "examples").iterdir()):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            for large, small in SMALLER.items() if path.suffix == ".toml" else ():
                text = text.replace(large, small)
            (folder / "examples" / path.name).write_text(text, encoding="utf-8")
    return folder


def run(command: str, folder: Path | None) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, with this environment's programs first."""
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )


def check_set_up(command: str) -> bool:
    """Say whether a command sets something up; if so, check that what it names is there."""
    if re.match(r"make \S+$", command):
        assert run(f"make -n {command.split()[1]}", ROOT).returncode == 0, command
        return True
    if re.search(r"pip install", command):
        named = re.findall(r"'\.\[([\w,]+)\]'", command)
        assert named, command
        assert all(extra in EXTRAS for extra in named[0].split(",")), command
        return True
    return bool(re.match(r"python3 -m venv \S+$", command))


def check_options(command: str, folder: Path) -> bool:
    """Say whether a command takes too long; if so, check that its options are known."""
    words = command.removesuffix("&").split()
    if words[:2] == ["python", "-m"] and words[2].partition(".")[0] == "benchmarks":
        from benchmarks.__main__ import SUITES

        assert find_spec(words[2]), command
        assert set(words[3:]) <= set(SUITES), command
        return True
    if words[0] == "python":
        assert (ROOT / words[1]).parent == ROOT / "examples", command
        assert (ROOT / words[1]).exists(), command
        return True
    found = [name for name in LONG if command.startswith(f"evenhand {name}")]
    if not found:
        return False
    told = run(f"evenhand {found[0]} --help", folder)
    assert told.returncode == 0
    assert all(word in told.stdout for word in words[2:] if word.startswith("--")), command
    return True
