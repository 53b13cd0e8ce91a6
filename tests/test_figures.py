"""Figures: the same bytes for the same results, one colour for one policy."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from evenhand import figures, make_policy, simulate
from evenhand.figures import Line, Scaling


@pytest.fixture
def results(setting_1):
    policies = {"ts": make_policy("tscsf-b"), "ucb": make_policy("lfg")}
    return simulate(setting_1, policies, horizon=500, replications=5)


LINES = [Line("ts", "TS", "tscsf-b"), Line("ucb", "LFG", "lfg", "--")]


def test_the_same_results_give_the_same_bytes(results, tmp_path):
    for name in ("one", "two"):
        figures.save(figures.regret_panel(results, LINES, "title"), tmp_path / name)
    for suffix in (".png", ".svg"):
        assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"two{suffix}").read_bytes()


def test_a_panel_has_bands_both_optima_and_an_inset(results):
    figure = figures.regret_panel(results, LINES, "title")
    axes = figure.axes[0]
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["TS", "LFG", "Opt-F", "Opt-NF"]
    assert len(axes.collections) == 2
    assert axes.child_axes[0].get_xlim() == (1, 100)


def test_a_policy_has_the_same_colour_everywhere(results):
    panel = figures.regret_panel(results, LINES, "title").axes[0]
    bars = figures.floor_bars(results, LINES, "title").axes[0]
    assert panel.lines[0].get_color() == figures.COLOURS["tscsf-b"]
    face = bars.patches[0].get_facecolor()
    assert face[:3] == pytest.approx([0, 0x72 / 255, 0xB2 / 255])


def test_bars_show_rates_and_floors(results):
    axes = figures.floor_bars(results, LINES, "title").axes[0]
    heights = [patch.get_height() for patch in axes.patches[:3]]
    assert heights == pytest.approx(list(results.rates("ts").values()))
    floors = [segment[0][1] for segment in axes.collections[0].get_segments()]
    assert floors == pytest.approx([0.5, 0.6, 0.4])


def test_a_negative_regret_is_shown_as_such():
    horizons = np.array([10, 100])
    series = [Scaling("a", "tscsf-b", np.array([0.5, -0.1]))]
    axes = figures.scaling_plot(horizons, series, "title").axes[0]
    assert math.isnan(axes.lines[0].get_ydata()[1])
    assert axes.lines[1].get_xdata().tolist() == [100]
    assert "negative: no logarithm" in axes.texts[0].get_text()


def test_a_note_is_on_the_figure(results):
    figure = figures.regret_panel(results, LINES, "title", note="quick look")
    assert [text.get_text() for text in figure.texts] == ["quick look"]


@pytest.fixture(autouse=True)
def _close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_drawing_leaves_the_callers_figures_and_backend_alone(results, tmp_path):
    code = (
        "import matplotlib; matplotlib.use('svg'); import matplotlib.pyplot as plt; "
        "mine = plt.figure(); from evenhand import Environment, Problem, simulate, figures; "
        "r = simulate(Environment(Problem(3, plays=1), 0.5), ['lfg'], horizon=200, replications=2);"
        "f = figures.regret_panel(r, [figures.Line('lfg', 'LFG', 'lfg')], 'title'); "
        "figures.as_svg(f); print(matplotlib.get_backend(), plt.get_fignums())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "svg [1]"
