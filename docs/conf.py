"""How the documentation is built: ``make docs``; nothing is fetched, to build it or to read it."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

import evenhand

HERE = Path(__file__).parent
REFERENCE = HERE / "reference"
# Classes of other people, whose methods are not repeated.
FOREIGN = "tuple, dict, ImportError, BaseException, ABC, Env"

project = "evenhand"
author = "The evenhand authors"
project_copyright = "the evenhand authors"
version = release = version_of("evenhand")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build"]
# A session in a shell is no program of one language; many classes have rounds and plays.
suppress_warnings = ["misc.highlighting_failure", "ref.python"]
html_theme = "furo"
html_title = f"evenhand {version}"
html_static_path = ["_static"]
html_favicon = "_static/icon.svg"
html_css_files = ["evenhand.css"]
html_show_sphinx = False
html_copy_source = False
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
napoleon_use_ivar = True


def public_modules() -> list[str]:
    """Return what users import from: the package, and its parts that have an ``__all__``."""
    names = [
        module.name
        for module in pkgutil.iter_modules(evenhand.__path__, "evenhand.")
        if not module.name.startswith("evenhand._")
    ]
    return ["evenhand", *(name for name in names if hasattr(import_module(name), "__all__"))]


def write_reference(_app: Any) -> None:
    """Write a page of reference for every public module: they come from the docstrings alone."""
    REFERENCE.mkdir(exist_ok=True)
    names = public_modules()
    lines = [
        "# Reference",
        "",
        "From the docstrings; every example in them is run by the tests.",
        "",
    ]
    lines += ["```{toctree}", ":maxdepth: 1", "", *names, "```", ""]
    write_if_new(REFERENCE / "index.md", "\n".join(lines))
    for name in names:
        write_if_new(REFERENCE / f"{name}.rst", reference_of(name))


def reference_of(name: str) -> str:
    """Return the page of a module; the package itself says where each of its names is at home."""
    title = f"{name}\n{'=' * len(name)}\n\n.. automodule:: {name}\n"
    if name != "evenhand":
        # Where a class is made of parts, as the agent is, all of them are its own.
        return f"{title}   :imported-members:\n   :inherited-members: {FOREIGN}\n"
    homes = {home: import_module(home).__all__ for home in public_modules()[1:]}
    rows = [
        f"* :py:obj:`{public} <{home}.{public}>`\n"
        for public in evenhand.__all__
        for home in [next((home for home, names in homes.items() if public in names), "")]
        if home
    ]
    return f"{title}   :no-members:\n\nIts names, each at home in a module:\n\n" + "".join(rows)


def write_if_new(path: Path, text: str) -> None:
    """Write a page unless it is there already: what is not touched is not built again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Any) -> None:
    """Let the reference be written before anything is read."""
    app.connect("builder-inited", write_reference)
