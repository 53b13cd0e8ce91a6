"""evenhand optimum, as a user runs it."""

from __future__ import annotations

import json

import pytest


def test_json_when_feasible(evenhand, file):
    done = evenhand("optimum", file, "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["feasible"] is True
    assert document["with_floors"] + document["price_of_fairness"] == pytest.approx(
        document["without_floors"]
    )
    assert set(document["rates"]) == set(document["prices"]) == {"a", "b", "c [x] :cat:"}
    assert document["rates"]["a"] == pytest.approx(0.5)
    assert document["floor_headroom"] > 1
    assert 0 < document["largest_common_floor"] < 0.7


def test_json_when_infeasible_has_the_certificate_and_exit_code_3(evenhand, file):
    file.write_text(file.read_text().replace("floor = 0.5", "floor = 0.95"))
    done = evenhand("optimum", file, "--json")
    assert done.returncode == 3
    document = json.loads(done.stdout)
    assert document["feasible"] is False
    assert set(document["certificate"]) == {"arms", "promised", "possible"}
    assert document["certificate"]["promised"] > document["certificate"]["possible"]
    assert document["floor_headroom"] == pytest.approx(0.9 / 0.95)


def test_without_floors_the_headroom_is_null(evenhand, file):
    file.write_text(file.read_text().replace("floor = 0.5", "").replace("floor = 0.1", ""))
    assert json.loads(evenhand("optimum", file, "--json").stdout)["floor_headroom"] is None


def test_the_table_shows_floors_rates_prices_and_bars(evenhand, file):
    done = evenhand("optimum", file)
    assert done.returncode == 0
    line = next(line for line in done.stdout.splitlines() if line.startswith("a "))
    assert "0.5000  0.5000" in line
    assert "█" in line
    assert "┃" in line


def test_the_sentence_for_people(evenhand, file):
    file.write_text(file.read_text().replace("floor = 0.5", "floor = 0.95"))
    done = evenhand("optimum", file)
    assert done.returncode == 3
    assert "cannot all be kept" in done.stdout
    assert "exceeds its availability" in done.stdout


def test_the_file_needs_no_policies(evenhand, file):
    file.write_text(file.read_text().partition("[[policies]]")[0])
    assert evenhand("optimum", file).returncode == 0


def test_bad_input_is_refused_like_everywhere(evenhand, file):
    file.write_text(file.read_text().replace("mean = 0.4", "mean = 4"))
    done = evenhand("optimum", file)
    assert done.returncode == 2
    assert "mean of arm 'a' must be" in done.stderr
