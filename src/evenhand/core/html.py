"""One self-contained HTML page: no network, pleasant on a phone and on paper."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

STYLE = """
:root { color-scheme: light; --ink: #1c1f23; --soft: #5c6670; --line: #d9dee3; --wash: #f5f7f9;
  --good: #0b6b3a; --warn: #8a5a00; --bad: #a4161a; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2rem 1rem 4rem; max-width: 72rem; color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: .4rem 0; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid var(--line); }
p.lead { color: var(--soft); margin-top: 0; }
.banner { background: #fde8e8; color: #a4161a; padding: .6rem .8rem; border-radius: .4rem;
  font-weight: 600; }
.grid { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); }
.grid.wide { grid-template-columns: repeat(auto-fit, minmax(min(34rem, 100%), 1fr));
  margin-top: 1rem; }
figure { margin: 0; max-width: 36rem; border: 1px solid var(--line); border-radius: .4rem;
  padding: .5rem; break-inside: avoid; background: #fff; }
figure img { width: 100%; height: auto; display: block; }
.wide figure { max-width: 54rem; }
figcaption { color: var(--soft); font-size: .85rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .45rem .6rem .45rem 0;
  border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
.good { color: var(--good); font-weight: 600; } .warn { color: var(--warn); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; } .open { color: var(--soft); font-weight: 600; }
.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.claims { font-size: .84rem; line-height: 1.3; }
.claims td { padding: .22rem .8rem .22rem 0; }
.claims td:first-child { white-space: nowrap; }
.claims td:nth-child(2) { width: 100%; }
summary { cursor: pointer; }
details p, details ul { color: var(--soft); margin: .3rem 0 .3rem 1rem; }
ul.numbers { margin: 0; padding-left: 1rem; font-variant-numeric: tabular-nums; }
@media (max-width: 46rem) {
  table, tbody, tr, td { display: block; width: 100%; }
  thead { display: none; }
  tr { border: 1px solid var(--line); border-radius: .4rem; padding: .4rem .6rem; margin: .6rem 0; }
  td { border: 0; padding: .2rem 0; }
  td::before { content: attr(data-head); display: block; color: var(--soft); font-size: .75rem; }
}
@media print { body { max-width: none; font-size: 10pt; } h2 { break-after: avoid; }
  tr { break-inside: avoid; } }
"""


class TableCell(NamedTuple):
    """A cell of a table: ready-made HTML, and a style class if any."""

    html: str
    style: str = ""


class Section(NamedTuple):
    """A heading and the HTML below it."""

    heading: str
    html: str


def page(title: str, lead: str, sections: Sequence[Section], banner: str = "") -> str:
    """Return the whole page.

    >>> page("A title", "A lead", [])[:15]
    '<!doctype html>'
    """
    warning = f'<p class="banner">{escape(banner)}</p>' if banner else ""
    body = "".join(f"<h2>{escape(part.heading)}</h2>\n{part.html}\n" for part in sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'{warning}<h1>{escape(title)}</h1>\n<p class="lead">{escape(lead)}</p>\n{body}'
        "</body>\n</html>\n"
    )


def table(
    headings: Sequence[str], rows: Sequence[Sequence[TableCell | str]], *, style: str = ""
) -> str:
    """Return a table that turns into cards on a narrow screen; strings are escaped.

    >>> table(["a"], [["x < y"]])
    '<table class=""><thead><tr><th>a</th></tr></thead><tbody>...x &lt; y</td></tr>...'
    """
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = ""
    for row in rows:
        cells = [TableCell(escape(cell)) if isinstance(cell, str) else cell for cell in row]
        body += "<tr>" + "".join(
            f'<td data-head="{escape(heading)}" class="{cell.style}">{cell.html}</td>'
            for heading, cell in zip(headings, cells, strict=True)
        )
        body += "</tr>"
    return f'<table class="{style}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def bullets(lines: Sequence[str]) -> TableCell:
    """Return a cell with one line below the other."""
    return TableCell(
        '<ul class="numbers">' + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"
    )


def gallery(figures: Sequence[tuple[bytes, str]], *, wide: bool = False) -> str:
    """Return SVG pictures with captions, embedded, as many beside each other as there is room for.

    Wide ones are two columns of a paper wide, and get twice the room.
    """
    shown = "".join(
        f'<figure><img alt="{escape(caption)}" src="data:image/svg+xml;base64,{_encoded(svg)}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
        for svg, caption in figures
    )
    return f'<div class="grid{" wide" if wide else ""}">{shown}</div>'


def _encoded(svg: bytes) -> str:
    return base64.b64encode(svg).decode("ascii")
