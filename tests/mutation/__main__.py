"""Change the sources in small ways on a copy, one at a time, and list what no test noticed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".hypothesis", ".*_cache")


def mutate(settings: Path) -> str:
    """Run one session in a copy of its own; return the report of what survived."""
    with tempfile.TemporaryDirectory() as place:
        copy, session = Path(place) / "copy", Path(place) / "session.sqlite"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
        (copy / ".venv").symlink_to(BIN.parent)
        for command in (
            ("cosmic-ray", "init", settings, session),
            ("cr-filter-operators", session, settings),
            ("cosmic-ray", "exec", settings, session),
        ):
            program, *arguments = map(str, command)
            subprocess.run([BIN / program, *arguments], cwd=copy, check=True, capture_output=True)
        report = [BIN / "cr-report", "--show-diff", "--surviving-only", session]
        return subprocess.run(report, check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Run every session, two at a time."""
    sessions = sorted(Path(__file__).parent.glob("*.toml"))
    with ThreadPoolExecutor(2) as pool:
        for settings, report in zip(sessions, pool.map(mutate, sessions), strict=True):
            print(f"== {settings.stem}\n{report}")


if __name__ == "__main__":
    main()
