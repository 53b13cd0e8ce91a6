"""Self-contained HTML reports, from the template beside this file: no network, printable."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core.extras import load

REPORT = Path(__file__).with_name("report.html")


class TableCell(NamedTuple):
    """A cell of a table: ready-made HTML, and a style class if any."""

    html: str
    style: str = ""


class Section(NamedTuple):
    """A heading and the HTML below it."""

    heading: str
    html: str


@cache
def template(path: Path) -> Any:
    """Return the macros of a Jinja template; what they insert is escaped."""
    environment = load("jinja2").Environment(autoescape=True, keep_trailing_newline=True)
    return environment.from_string(path.read_text(encoding="utf-8")).module


def page(title: str, lead: str, sections: Sequence[Section], banner: str = "") -> str:
    """Return the whole page.

    >>> page("A title", "A lead", [])[:15]
    '<!doctype html>'
    """
    return str(template(REPORT).page(title, lead, sections, banner))


def table(
    headings: Sequence[str], rows: Sequence[Sequence[TableCell | str]], *, style: str = ""
) -> str:
    """Return a table that turns into cards on a narrow screen; strings are escaped.

    >>> table(["a"], [["x < y"]])
    '<table class=""><thead><tr><th>a</th></tr></thead><tbody>...x &lt; y</td></tr>...'
    """
    return str(template(REPORT).table(headings, rows, style))


def bullets(lines: Sequence[str]) -> TableCell:
    """Return a cell with one line below the other."""
    return TableCell(str(template(REPORT).bullets(lines)))


def gallery(figures: Sequence[tuple[bytes, str]], *, wide: bool = False) -> str:
    """Return embedded SVG figures with captions; wide ones get twice the width."""
    encoded = [(base64.b64encode(svg).decode("ascii"), caption) for svg, caption in figures]
    return str(template(REPORT).gallery(encoded, wide))
