"""evenhand compare and evenhand lab study, as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from docs.blocks import with_block

BLOCKS = Path(__file__).parents[2] / "docs" / "blocks.py"


def test_the_frontier_as_table_json_and_figure(evenhand, file, tmp_path):
    out = tmp_path / "out"
    done = evenhand("compare", file, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "worst shortfall" in done.stdout
    assert (out / "frontier.png").exists()
    assert (out / "frontier.svg").exists()
    rows = json.loads((out / "compare.json").read_text(encoding="utf-8"))["policies"]
    assert [row["words"] for row in rows] == ["TS [red], reflected", "uniform"]
    assert all(row["regret_margin"] > 0 for row in rows)


def test_a_comparison_that_was_stopped_goes_on(evenhand, file, tmp_path):
    out = tmp_path / "out"
    assert evenhand("compare", file, "--out", out).returncode == 0
    before = (out / "compare.json").read_bytes()
    next((out / "parts").iterdir()).unlink()
    (out / "compare.json").unlink()
    done = evenhand("compare", file, "--out", out)
    assert done.returncode == 2
    assert "holds a sweep already; to go on with it, resume it" in done.stderr
    options = ("--resume", "--backend", "local", "--workers", 1)
    assert evenhand("compare", file, "--out", out, *options).returncode == 0
    assert (out / "compare.json").read_bytes() == before


def test_without_policies_the_usual_ones_are_compared(evenhand, file):
    file.write_text(file.read_text().partition("[[policies]]")[0])
    document = json.loads(evenhand("compare", file, "--json").stdout)
    names = [row["policy"] for row in document["policies"]]
    assert names == ["priced"] + ["tscsf-b"] * 4 + ["lfg"] * 4
    assert document["optimum"]["with_floors"] > 0


def test_infeasible_floors_are_refused_with_their_certificate(evenhand, file):
    file.write_text(file.read_text().replace("floor = 0.5", "floor = 0.95"))
    done = evenhand("compare", file)
    assert done.returncode == 3
    assert "cannot all be kept" in done.stderr


def test_a_study_of_one_world_plays_no_other(evenhand, tmp_path):
    options = ("--instances", 2, "--replications", 2, "--horizon", 300, "--world", "contexts")
    done = evenhand("lab", "study", "--out", tmp_path / "out", *options)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out" / "study.md").read_text(encoding="utf-8")
    assert "Contexts: 1 instances, T = 300." in text
    assert "Independent arms" not in text
    assert (tmp_path / "out" / "frontier-contexts.svg").exists()
    wrong = evenhand("lab", "study", "--world", "context")
    assert wrong.returncode == 2
    assert "did you mean 'contexts'" in wrong.stderr


def test_a_small_study_becomes_the_block_of_a_page(evenhand, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- study -->\nold\n<!-- end of study -->\nafter\n")
    options = ("--instances", 1, "--horizon", 300, "--replications", 2)
    done = evenhand("lab", "study", "--out", tmp_path / "out", *options)
    assert done.returncode == 0, done.stderr
    assert "better than priced in both" in done.stdout
    block = tmp_path / "out" / "study.md"
    subprocess.run([sys.executable, BLOCKS, page, "study", block], check=True)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- study -->\nWho wins where, 2 replications")
    for world in ("arms that exclude each other", "latent states", "drift", "many arms"):
        assert f"| {world} | 300 | priced |" in text
    assert "| feedback 50 rounds late | 300 | pessimistic |" in text
    assert "| drift | 300 | priced, forgetting |" in text
    assert "old" not in text
    assert text.endswith("<!-- end of study -->\nafter\n")
    assert (tmp_path / "out" / "frontier.svg").read_text().startswith("<?xml")
    found = json.loads((tmp_path / "out" / "study.json").read_text(encoding="utf-8"))
    # Three horizons of independent arms, one of them with all; drift has one more, contexts two;
    # three worlds have promises.
    assert len(found["scores"]) == 25 + 2 * 10 + 8 * 10 + 1 + 12 + 2 * 3 + 3 * 10
    assert {row["world"] for row in found["winners"]} >= {"independent arms", "drift"}
    rivals = {row["label"] for row in found["policies"]}
    assert rivals >= {"fair-learn", "pessimistic", "ucb-lp", "simplex-mixture", "strict-rate"}


def test_a_page_without_marks_is_refused(tmp_path):
    (tmp_path / "page.md").write_text("no marks")
    with pytest.raises(ValueError, match="must have the marks"):
        with_block(tmp_path / "page.md", "block", "study")
