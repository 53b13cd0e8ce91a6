"""Change the sources in small ways on a copy, one at a time, and list what no test noticed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".hypothesis", ".*_cache")
OF_POLICIES = ("golden", "state", "registry", "steps", "priced")
# One other operator for each: that some of them are nonsense is no news. Unions in annotations are
# no operations at all.
SETTINGS = """
[cosmic-ray]
module-path = ["{source}"]
excluded-modules = []
timeout = 25.0
test-command = "env PYTHONPATH=src NUMBA_DISABLE_JIT={interpreted} .venv/bin/python -m pytest \
-x -q -p no:cacheprovider --hypothesis-profile=quick {tests}"
[cosmic-ray.distributor]
name = "local"
[cosmic-ray.filters.operators-filter]
exclude-operators = [
    "core/ReplaceBinaryOperator_(?!Add_Sub|Sub_Add|Mul_Div|Div_Mul|Mod_Mul|FloorDiv_Mul|Pow_Mul).*",
    "core/ReplaceComparisonOperator_(?!Lt_LtE|LtE_Lt|Gt_GtE|GtE_Gt|Eq_NotEq|NotEq_Eq|Is_IsNot\
|IsNot_Is|In_NotIn|NotIn_In).*",
    "core/ExceptionReplacer",
]
"""


class Session(NamedTuple):
    """Sources to change, the tests that should notice, and whether these need no compiler."""

    source: str
    tests: str
    interpreted: int = 1


SESSIONS = {
    "agent": Session("src/evenhand/agent", "tests/agent"),
    "policies": Session(
        "src/evenhand/policies", " ".join(f"tests/policies/test_{name}.py" for name in OF_POLICIES)
    ),
    "feasibility": Session(
        "src/evenhand/optimum/feasibility.py", "tests/optimum/test_feasibility.py"
    ),
    "results": Session("src/evenhand/results/_results.py", "tests/test_results.py", interpreted=0),
}


def mutate(session: Session) -> str:
    """Run one session in a copy of its own; return the report of what survived."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        copy, settings, found = place / "copy", place / "settings.toml", place / "found.sqlite"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
        (copy / ".venv").symlink_to(BIN.parent)
        settings.write_text(SETTINGS.format(**session._asdict()), encoding="utf-8")
        for command in (
            ("cosmic-ray", "init", settings, found),
            ("cr-filter-operators", found, settings),
            ("cosmic-ray", "exec", settings, found),
        ):
            program, *arguments = map(str, command)
            subprocess.run([BIN / program, *arguments], cwd=copy, check=True, capture_output=True)
        report = [BIN / "cr-report", "--show-diff", "--surviving-only", found]
        return subprocess.run(report, check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Run the sessions that are named, or all, two at a time."""
    wanted = sys.argv[1:] or list(SESSIONS)
    with ThreadPoolExecutor(2) as pool:
        reports = pool.map(mutate, (SESSIONS[name] for name in wanted))
        for name, report in zip(wanted, reports, strict=True):
            print(f"== {name}\n{report}")


if __name__ == "__main__":
    main()
