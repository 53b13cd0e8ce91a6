"""``evenhand lab verify``, as somebody at a terminal meets it."""

from __future__ import annotations

import json

from evenhand.lab.judging import RunSize
from evenhand.lab.measurement import HOLDS
from evenhand.lab.science.verification import sources_of

QUICK = RunSize(quick=True)


def test_a_quick_look_finds_nothing_that_does_not_hold(evenhand, tmp_path):
    done = evenhand("lab", "verify", "--quick", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "quick look" in done.stdout
    assert "does not hold" not in done.stdout
    found = json.loads((tmp_path / "out" / "checks.json").read_text(encoding="utf-8"))
    assert len(found["checks"]) == sum(len(source.claims) for source in sources_of(QUICK))
    assert found["counted"][HOLDS] > 0.7 * len(found["checks"])
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for source in sources_of(QUICK):
        assert source.title in page
        assert source.reference.split(":")[0] in page
    again = evenhand("lab", "verify", "--quick", "--out", tmp_path / "out")
    assert again.returncode == 0


def test_an_unknown_backend_is_refused_before_any_work(evenhand, tmp_path):
    done = evenhand("lab", "verify", "--backend", "abacus", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "backend" in done.stderr
    assert not (tmp_path / "out").exists()
