"""Replace the generated block of a page: ``python docs/blocks.py PAGE NAME FILE``."""

from __future__ import annotations

import sys
from pathlib import Path


def with_block(page: Path, block: str, name: str) -> str:
    """Return the text of a page with the block between its two marks replaced."""
    first, last = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, start, rest = page.read_text(encoding="utf-8").partition(first)
    _, end, after = rest.partition(last)
    if not start or not end:
        raise ValueError(f"{page} must have the marks {first} and {last}")
    return f"{before}{first}\n{block}\n{last}{after}"


if __name__ == "__main__":
    page, name, file = sys.argv[1:]
    text = with_block(Path(page), Path(file).read_text(encoding="utf-8").strip(), name)
    Path(page).write_text(text, encoding="utf-8")
