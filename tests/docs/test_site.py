"""The site: built without a warning, read without a network, searched in full."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

import evenhand
from tests.docs.pages import PAGES, ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "html"
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet", "--builder", "html"]
    done = subprocess.run(
        [*command, str(ROOT / "docs"), str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr.strip()
    return folder


def test_every_page_is_there(site):
    for page in set(PAGES) - {"README"}:
        assert (site / f"{page}.html").exists(), page


def test_nothing_is_loaded_from_anywhere_else(site):
    loaded = re.compile(r"<(?:script|img|iframe)[^>]+src=\"([^\"]+)\"|<link[^>]+href=\"([^\"]+)\"")
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        for source, style in loaded.findall(text):
            where = source or style
            assert not re.match(r"(https?:)?//", where), (path.name, where)


def test_the_reference_has_every_public_name(site):
    pages = "".join(
        path.read_text(encoding="utf-8") for path in (site / "reference").glob("evenhand*.html")
    )
    for name in evenhand.__all__:
        assert re.search(rf'id="evenhand\.[\w.]*\.{name}"', pages), name


def test_the_search_knows_what_is_inside_pages(site):
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    found = json.loads(index.removeprefix("Search.setIndex(").rstrip(")"))
    titles = found["docnames"]
    for word, page in (("headroom", "choosing-floors"), ("polymatroid", "theory")):
        places = found["terms"].get(word, found["titleterms"].get(word))
        places = places if isinstance(places, list) else [places]
        assert page in [titles[place] for place in places], word
