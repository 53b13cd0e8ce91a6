"""What a sweep's page shows: which lines, which axes, and the right numbers at their crossing."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest

from evenhand import InputError, figures, run_sweep
from evenhand.sweeps import _charts as charts
from evenhand.sweeps.latex import as_latex
from evenhand.sweeps.page import write_page
from tests.sweeps.conftest import FILE

TWO_SIZES = FILE.replace("arms = 5,", "arms = [4, 5],")


@pytest.fixture
def found(load, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        return run_sweep(load(TWO_SIZES), tmp_path / "out", executor=pool)


def test_a_map_has_a_cells_numbers_at_the_crossing_of_its_parameters(found):
    first, second = charts.instance_maps(found, found.summary(), "setting 1")
    assert [first.title, second.title] == ["tscsf-b, horizon = 50", "tscsf-b, horizon = 200"]
    heat = second.heat
    assert (heat.column_name, list(heat.columns)) == ("eta", ["1", "10"])
    assert (heat.row_name, list(heat.rows)) == ("surplus", ["0", "inf"])
    results = found.results("setting 1", 200)
    for row, surplus in enumerate(heat.rows):
        for column, eta in enumerate(heat.columns):
            label = f"tscsf-b eta={eta} surplus={surplus}"
            assert heat.regret[row, column] == results.regret(label).mean[-1]
            assert heat.shortfall[row, column] == results.worst_shortfall(label).mean


def test_instances_are_averaged_over_their_seeds(found):
    (first, *_) = charts.overall_maps(found.summary())
    assert first.title == "tscsf-b eta=1 surplus=inf, T = 200, mean over instances"
    assert (first.heat.column_name, first.heat.row_name) == ("arms", "tightness")
    names = [f"random arms=4 tightness=0.5 seed={seed}" for seed in (0, 1)]
    regrets = [
        found.results(name, 200).regret("tscsf-b eta=1 surplus=inf").mean[-1] for name in names
    ]
    assert first.heat.regret[0, 0] == pytest.approx(np.mean(regrets))


def test_policies_without_two_parameters_share_a_map(found):
    lines = [
        {"policy": policy, "eta": eta, "regret": number, "worst_shortfall": 0.0}
        for number, (policy, eta) in enumerate([("a", "1"), ("a", "2"), ("b", "1")])
    ]
    assert charts.maps(lines, ["eta"], "title") == []
    (only,) = charts.maps(lines, ["eta", "policy"], "title")
    assert only.heat.regret[0].tolist() == [0.0, 1.0]
    assert math.isnan(only.heat.regret[1, 1])


def test_many_lines_are_shared_out_to_a_panel_for_each_policy(found):
    (together,) = charts.panels(found, list(found.policies))
    assert [line.style for line in together.lines] == ["-", "--", "-", "--", "--"]
    many = {f"ucb {i}": {"name": "ucb"} for i in range(20)} | {"lfg": {"name": "lfg"}}
    found.policies = many
    ucb, lfg = charts.panels(found, list(many))
    assert (ucb.title, len(ucb.lines), ucb.note) == ("ucb", 8, "8 of 20 shown")
    assert [ucb.lines[0].words, ucb.lines[-1].words] == ["0", "19"]
    assert lfg.note == ""


def test_figures_are_the_same_bytes_each_time_and_show_what_is_missing(found):
    results = found.results("setting 1", 200)
    (panel,) = charts.panels(found, results.labels)
    one, two = (
        figures.as_svg(figures.regret_curves(results, panel.lines, "title")) for _ in range(2)
    )
    assert one == two
    heat = charts.instance_maps(found, found.summary(), "setting 1")[0].heat
    gap = heat._replace(regret=np.array([[0.1, math.nan], [-0.1, 0.2]]))
    left = figures.heat_maps(gap, "title").axes[0]
    assert [text.get_text() for text in left.texts] == ["100", "-100", "200"]


def test_a_page_needs_something_to_show(found, tmp_path):
    parts = sorted((found.folder / "parts").iterdir())
    assert len(parts) == 1
    write_page(found, tmp_path / "whole.html")
    assert "Not complete" not in (tmp_path / "whole.html").read_text(encoding="utf-8")
    parts[0].unlink()
    with pytest.raises(InputError, match="must hold at least one finished part"):
        write_page(type(found)(found.folder), tmp_path / "none.html")
    assert not (tmp_path / "none.html").exists()


def test_latex_has_no_command_in_a_name(found):
    summary = found.summary().head(1).with_columns(instance=pl.lit("50% {a_b}"))
    (line,) = [line for line in as_latex(summary).splitlines() if "tscsf-b" in line]
    assert line.startswith(r"50\% \{a\_b\} & tscsf-b eta=1 surplus=inf & 50 & $")
    assert line.endswith(r"\% \\")


def test_dollars_and_underscores_in_a_label_are_drawn_as_they_are(load, tmp_path):
    text = FILE.replace('name = "lfg"', 'name = "lfg"\nlabel = "_$\\\\x$"')
    with ThreadPoolExecutor(2) as pool:
        found = run_sweep(load(text), tmp_path / "out", executor=pool)
    results = found.results("setting 1", 200)
    (panel,) = charts.panels(found, results.labels)
    figure = figures.regret_curves(results, panel.lines, "$title$")
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words[-1] == r" _\$\x\$"
    assert figures.as_svg(figure).startswith(b"<?xml")
