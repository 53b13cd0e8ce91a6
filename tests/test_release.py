"""What is released: a wheel and an sdist that hold what they should, and work where they land."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SMOKE = (ROOT / "tests" / "smoke.py").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the sdist, built with what is installed here."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def test_the_wheel_has_the_package_with_its_page_and_types_and_nothing_else(built):
    names = zipfile.ZipFile(built[0]).namelist()
    assert {"evenhand/py.typed", "evenhand/service/page/index.html"} <= set(names)
    assert all(name.split("/")[0].startswith("evenhand") for name in names)
    assert not any("__pycache__" in name for name in names)


def test_the_sdist_has_what_it_takes_to_test_and_document_it(built):
    with tarfile.open(built[1]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    wanted = {"pyproject.toml", "README.md", "SECURITY.md", "constraints.txt", "Makefile"}
    assert wanted <= names
    assert {"docs/conf.py", "tests/smoke.py", "examples/federated.py"} <= names
    assert not any(".venv" in name or "__pycache__" in name for name in names)


@pytest.mark.parametrize("place", [0, 1], ids=["wheel", "sdist"])
def test_what_was_built_works_where_it_is_installed(built, place, tmp_path):
    """Beside the packages of this environment, but without a look at the sources."""
    target = tmp_path / "installed"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
    ]
    subprocess.run([*install, "--target", str(target), str(built[place])], check=True)
    program = f"import sys; sys.path.insert(0, {str(target)!r})\n{SMOKE}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert str(target) in done.stdout


def test_the_changelog_begins_with_this_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = next(line for line in changelog.splitlines() if line.startswith("## "))
    assert first.startswith(f"## {project['version']} (")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {project['version']}" in citation
