"""The page: self-contained and escaped."""

from __future__ import annotations

from evenhand.core.html import Section, bullets, gallery, page, table


def test_text_is_escaped_everywhere():
    bad = "<script>alert('x')</script>"
    html = page(bad, bad, [Section(bad, table([bad], [[bad], [bullets([bad])]]))], banner=bad)
    assert "<script" not in html


def test_pictures_are_embedded():
    assert 'src="data:image/svg+xml;base64,PHN2Zy8+"' in gallery([(b"<svg/>", "a caption")])


def test_a_narrow_screen_and_paper_have_rules_of_their_own():
    html = page("t", "l", [])
    assert "@media (max-width" in html
    assert "@media print" in html
    assert 'name="viewport"' in html
