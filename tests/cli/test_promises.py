"""Promises on the command line: tables, JSON, and certificates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "promises.toml"


def test_the_command_line_shows_promises(evenhand, tmp_path):
    done = evenhand("optimum", EXAMPLE)
    assert done.returncode == 0
    assert "0.45 with promises, 0.57864 without" in done.stdout
    assert "ceiling of mall" in done.stdout
    found = json.loads(evenhand("optimum", EXAMPLE, "--json").stdout)
    assert found["promises"]["control"]["price"] == pytest.approx(0.3)
    done = evenhand("simulate", EXAMPLE, "--horizon", 200, "--replications", 2)
    assert "revenue of web" in done.stdout
    out = tmp_path / "out"
    shown = evenhand("compare", short_example(tmp_path), "--out", out)
    assert "worst miss" in shown.stdout
    assert (out / "promises.png").exists()
    rows = json.loads((out / "compare.json").read_text(encoding="utf-8"))["policies"]
    assert rows[0]["promises"]["local"]["at_least"] == 0.2


def short_example(folder):
    path = folder / "short.toml"
    path.write_text(EXAMPLE.read_text(encoding="utf-8").replace("horizon = 5000", "horizon = 300"))
    return path


def test_promises_that_clash_end_with_the_certificate_and_exit_code_3(evenhand, tmp_path):
    path = tmp_path / "clash.toml"
    text = EXAMPLE.read_text(encoding="utf-8")
    path.write_text(text.replace("at_least = 0.2", "at_least = 0.9"))
    for command in ("optimum", "simulate", "compare"):
        done = evenhand(command, path)
        assert done.returncode == 3
        assert "'local'" in done.stdout + done.stderr
    found = json.loads(evenhand("optimum", path, "--json").stdout)
    assert found["feasible"] is False
    assert {"local", "control"} <= set(found["certificate"]["promises"])
    assert found["certificate"]["promised"] > found["certificate"]["possible"]
