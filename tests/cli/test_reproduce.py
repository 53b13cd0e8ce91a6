"""evenhand reproduce, as a user runs it."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evenhand import InputError, SweepResults
from evenhand.lab.judging import RunSize
from evenhand.lab.paper import reproduce


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """One quick reproduction for all tests that only look."""
    out = tmp_path_factory.mktemp("quick") / "out"
    command = [sys.executable, "-m", "evenhand", "reproduce", "--quick", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return out, done


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.images, self.links, self.text = [], [], []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "img":
            self.images.append(given)
        self.links += [value for key, value in attributes if key in ("href", "src")]

    def handle_data(self, data):
        self.text.append(data)


def test_every_figure_is_a_png_and_an_svg(quick):
    names = {path.stem for path in (quick[0] / "figures").iterdir()}
    assert len(names) == 12
    for name in names:
        assert (quick[0] / "figures" / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
        assert "<svg" in (quick[0] / "figures" / f"{name}.svg").read_text(encoding="utf-8")


def test_the_claims_are_there_for_machines_and_people(quick):
    document = json.loads((quick[0] / "claims.json").read_text(encoding="utf-8"))
    assert len(document["claims"]) >= 14
    verdicts = {row["verdict"] for row in document["claims"]}
    assert verdicts <= {
        "holds",
        "holds only with the other debt form",
        "undecided",
        "does not hold",
    }
    assert "the paper says" in quick[1].stdout
    assert "verdict" in quick[1].stdout


def test_the_report_is_one_page_that_needs_no_network(quick):
    page = Page()
    page.feed((quick[0] / "report.html").read_text(encoding="utf-8"))
    assert len(page.images) == 12
    assert all(image["alt"] for image in page.images)
    assert all(link.startswith("data:") for link in page.links)


def test_a_first_look_says_so_in_every_output(quick):
    out, done = quick
    note = "quick look: 10 replications, T = 4,000"
    assert note in done.stdout
    assert json.loads((out / "claims.json").read_text(encoding="utf-8"))["note"] == note
    page = (out / "report.html").read_text(encoding="utf-8")
    assert note in page
    assert page.count(note) >= 13, "the banner and every caption"


def test_without_real_data_everything_about_movies_says_so(quick):
    out = quick[0]
    note = "synthetic sample, not MovieLens"
    claims = json.loads((out / "claims.json").read_text(encoding="utf-8"))["claims"]
    movies = [row for row in claims if row["id"].startswith("movies-")]
    assert len(movies) == 5
    assert all(note in row["says"] for row in movies)
    assert (out / "report.html").read_text(encoding="utf-8").count(note) >= 4 + 5
    assert "synthetic sample" in quick[1].stdout


def test_one_claim_runs_what_it_needs_and_shows_how_it_was_decided(evenhand, tmp_path):
    out = tmp_path / "out"
    done = evenhand("reproduce", "--quick", "--out", out, "--claim", "eta-6355")
    assert done.returncode == 0, done.stderr
    assert "eta-6355: √(NT / (m ln T)) is in [63.545, 63.555]." in done.stdout
    assert "arm 1" not in done.stdout.lower(), "other claims of the same cell are not shown"
    assert SweepResults(out / "settings").runs_done == 4 * 10
    assert not (out / "movies").exists()


def test_a_claim_that_cannot_be_judged_is_named_and_an_unknown_one_refused(quick, evenhand):
    done = evenhand("reproduce", "--quick", "--out", quick[0], "--claim", "movies-users")
    assert "not judged: claims on MovieLens need it" in done.stderr
    refused = evenhand("reproduce", "--quick", "--out", quick[0], "--claim", "eta-635")
    assert refused.returncode == 2
    assert "did you mean 'eta-6355'" in refused.stderr


def test_a_release_that_is_not_there_is_refused(evenhand, tmp_path):
    done = evenhand("reproduce", "--out", tmp_path / "out", "--movielens", tmp_path / "no")
    assert done.returncode == 2
    assert "path of MovieLens must exist" in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_same_command_twice_gives_identical_tables(quick, evenhand, tmp_path):
    again = tmp_path / "again"
    only = ("--only", "setting1-eta10")
    assert evenhand("reproduce", "--quick", "--out", again, *only).returncode == 0
    one, two = (SweepResults(folder / "settings") for folder in (quick[0], again))
    assert one.runs("setting1-eta10").equals(two.runs("setting1-eta10"))
    assert not two.complete
    before = (again / "claims.json").read_bytes(), (again / "report.html").read_bytes()
    assert evenhand("reproduce", "--quick", "--out", again, *only).returncode == 0
    assert ((again / "claims.json").read_bytes(), (again / "report.html").read_bytes()) == before


def test_an_unknown_id_lists_the_known_ones(evenhand, tmp_path):
    done = evenhand("reproduce", "--out", tmp_path / "out", "--only", "setting1-eta11")
    assert done.returncode == 2
    assert "did you mean 'setting1-eta1" in done.stderr
    assert "tightness" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_else_in_it_is_refused(evenhand, tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    done = evenhand("reproduce", "--quick", "--out", tmp_path)
    assert done.returncode == 2
    assert "must be empty or new" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_folder_with_a_run_of_another_kind_is_refused(quick, evenhand):
    done = evenhand("reproduce", "--out", quick[0])
    assert done.returncode == 2
    assert "holds results of another sweep" in done.stderr
    assert "horizons[0] is 4000 there and 20000 here" in done.stderr


def test_only_adds_to_what_is_there_and_damage_is_mended(quick, evenhand, tmp_path):
    out = tmp_path / "copy"
    shutil.copytree(quick[0], out)
    part = next((out / "settings" / "parts").iterdir())
    part.write_bytes(part.read_bytes()[:-20] + b"x" * 20)
    next((out / "movies" / "parts").iterdir()).unlink()
    (out / "movies.json").unlink()
    assert evenhand("reproduce", "--quick", "--out", out).returncode == 0
    assert (out / "claims.json").read_bytes() == (quick[0] / "claims.json").read_bytes()


DAMAGE = [b"", b"{}", b"[1]", b"\xff\xfe", b'{"seal": "x"}']


@pytest.mark.parametrize("content", DAMAGE)
def test_whatever_stands_in_a_file_there_is_no_traceback(quick, tmp_path, content):
    out = tmp_path / "copy"
    shutil.copytree(quick[0], out)
    (out / "movies.json").write_bytes(content)
    reproduce(out, RunSize(quick=True), ["setting1-eta1"])
    claims = json.loads((out / "claims.json").read_text(encoding="utf-8"))["claims"]
    assert not [row for row in claims if row["id"].startswith("movies")]
    (out / "settings" / "sweep.json").write_bytes(content)
    with pytest.raises(InputError, match="must hold a sweep"):
        reproduce(out, RunSize(quick=True), ["setting1-eta1"])


def test_results_of_another_grid_are_no_movies(quick, evenhand, tmp_path):
    out = tmp_path / "copy"
    shutil.copytree(quick[0], out)
    shutil.rmtree(out / "movies")
    shutil.copytree(out / "settings", out / "movies")
    done = evenhand("reproduce", "--quick", "--out", out, "--only", "movies")
    assert done.returncode == 2
    assert "holds results of another sweep" in done.stderr


def test_a_place_that_cannot_be_written_is_refused(evenhand, tmp_path):
    (tmp_path / "file").write_text("x")
    done = evenhand("reproduce", "--quick", "--out", tmp_path / "file" / "out")
    assert done.returncode == 2
    assert "writable" in done.stderr


def test_ctrl_c_keeps_what_is_finished_and_the_next_run_goes_on(tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "evenhand", "reproduce", "--out", str(out)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    parts = out / "settings" / "parts"
    deadline = time.monotonic() + 60
    while not list(parts.glob("0*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "stopped" in errors
    assert "Traceback" not in errors
    kept = {part: part.stat().st_mtime_ns for part in parts.glob("0*.parquet")}
    assert kept
    assert not SweepResults(out / "settings").complete
    again = [*command, "--only", "setting1-eta1"]
    subprocess.run(again, check=True, capture_output=True, timeout=60)
    assert all(part.stat().st_mtime_ns == written for part, written in kept.items())
    assert (out / "report.html").exists()


CANNOT_BE_TOLD_IN_TEN_REPLICATIONS = {
    "below-lfg",
    "movies-floors",
    "negative-near-2000",
    "regret-eta10",
    "returns-to-positive",
}


def test_the_verdicts_and_figures_are_those_of_the_version_before(quick):
    """Before there was one machine for all cells, and before a verdict could be undecided."""
    kept = Path(__file__).parents[1] / "lab" / "paper" / "claims-quick.json"
    before = {row["id"]: row for row in json.loads(kept.read_text(encoding="utf-8"))["claims"]}
    document = json.loads((quick[0] / "claims.json").read_text(encoding="utf-8"))
    after = {row["id"]: row for row in document["claims"]}
    assert list(after) == list(before)
    changed = {id_ for id_, row in after.items() if row["verdict"] != before[id_]["verdict"]}
    assert changed == CANNOT_BE_TOLD_IN_TEN_REPLICATIONS
    for id_, row in after.items():
        old = [(entry["words"], entry["value"]) for entry in before[id_]["figures"]]
        new = [(entry["words"], entry["value"]) for entry in row["figures"]]
        new = new[: len(old)] if id_ in changed else new
        assert new == [(words, pytest.approx(value, rel=1e-12)) for words, value in old], id_
