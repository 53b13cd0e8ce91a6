"""evenhand sweep and report, as a user runs them: real processes, some of them killed."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import polars as pl
import psutil
import pytest
from distributed import Client

from evenhand.sweeps import SweepResults
from tests.sweeps.conftest import FILE

LONG = """
horizons = [20_000]
replications = 130
seed = 7

[[instances]]
name = "random"
generate = { arms = 10, plays = 3, tightness = 0.9, seeds = 2 }

[[policies]]
name = "tscsf-b"
eta = [1, 10]

[[policies]]
name = "lfg"
"""
EVENHAND = [sys.executable, "-m", "evenhand"]
THREADS = ["--backend", "threads"]


def write(folder, text):
    path = folder / "grid.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def small(tmp_path):
    return write(tmp_path, FILE)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A sweep of some seconds that nobody disturbed: its file and its results."""
    place = tmp_path_factory.mktemp("undisturbed")
    file = write(place, LONG)
    subprocess.run([*EVENHAND, "sweep", file, "--out", place / "out"], check=True, timeout=300)
    return file, SweepResults(place / "out")


def assert_same(folder, expected):
    found = SweepResults(folder)
    assert found.complete
    assert found.runs().equals(expected.runs())
    assert found.summary().equals(expected.summary())


def wait_for_parts(folder, count, process):
    while len(list(folder.glob("parts/*.parquet"))) < count:
        assert process.poll() is None, "the sweep ended too early"
        time.sleep(0.02)


def test_a_sweep_killed_at_five_random_moments_gives_the_same_tables(undisturbed, tmp_path):
    file, expected = undisturbed
    chance, out = random.Random(7), tmp_path / "out"
    command, left = [*EVENHAND, "sweep", file, "--out", out, "--resume"], [0]
    for new_parts in (0, 1, 0, 1, 1):
        before = len(list(out.glob("parts/*.parquet")))
        process = subprocess.Popen(command)
        wait_for_parts(out, before + new_parts, process)
        time.sleep(chance.uniform(0.0, 0.8))
        orphans = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.wait()
        assert psutil.wait_procs(orphans, timeout=10)[1] == []
        left.append(SweepResults(out).runs_done if (out / "sweep.json").exists() else 0)
    assert left == sorted(left)
    assert 0 < left[-1] < expected.runs_done
    subprocess.run(command, check=True, timeout=300)
    assert_same(out, expected)


def test_a_killed_local_worker_costs_only_time(undisturbed, tmp_path):
    file, expected = undisturbed
    out = tmp_path / "out"
    process = subprocess.Popen([*EVENHAND, "sweep", file, "--out", out, "--workers", "2"])
    wait_for_parts(out, 1, process)
    children = psutil.Process(process.pid).children(recursive=True)
    workers = [child for child in children if "LokyProcess" in " ".join(child.cmdline())]
    assert len(workers) == 2
    workers[0].kill()
    assert process.wait(timeout=300) == 0
    assert_same(out, expected)


@pytest.fixture
def cluster(tmp_path):
    """A dask scheduler and three workers on loopback, each a process of its own."""
    file = tmp_path / "scheduler.json"

    def start(*command):
        shared = ["--scheduler-file", file, "--host", "127.0.0.1", "--no-dashboard"]
        command = [sys.executable, "-m", "dask", *command, *shared]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    processes = [start("scheduler", "--port", "0")]
    while not file.exists():
        time.sleep(0.05)
    processes += [start("worker", "--no-nanny", "--nthreads", "1") for _ in range(3)]
    with Client(scheduler_file=file) as client:
        client.wait_for_workers(3, timeout=60)
    yield json.loads(file.read_text())["address"], processes[1:]
    for process in processes:
        process.kill()
        process.wait()


def test_a_cluster_gives_the_same_tables_though_a_worker_is_killed(undisturbed, cluster, tmp_path):
    file, expected = undisturbed
    (address, workers), out = cluster, tmp_path / "out"
    process = subprocess.Popen(
        [*EVENHAND, "sweep", file, "--out", out, "--backend", "dask", "--scheduler", address]
    )
    wait_for_parts(out, 1, process)
    os.kill(workers[1].pid, signal.SIGKILL)
    assert process.wait(timeout=300) == 0
    assert_same(out, expected)


@pytest.mark.parametrize(
    "options", [["--backend", "local"], ["--backend", "threads"], ["--engine", "dask"]]
)
def test_a_small_sweep_is_told_in_a_table_and_nothing_else(evenhand, small, tmp_path, options):
    """--engine is what --backend was called before; it goes on working."""
    done = evenhand("sweep", small, "--out", tmp_path / "out", *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert "50 of 50 cells complete" in done.stdout
    assert "... and 30 more cells" in done.stdout
    lines = [line for line in done.stdout.splitlines() if "T=" in line]
    assert len(lines) == 20
    assert lines[0].startswith("setting 1 | tscsf-b eta=1 surplus=inf | T=50")


def test_ctrl_c_stops_at_once_and_says_how_to_go_on(tmp_path):
    file, out = write(tmp_path, LONG), tmp_path / "out"
    process = subprocess.Popen(
        [*EVENHAND, "sweep", file, "--out", out], stderr=subprocess.PIPE, text=True
    )
    wait_for_parts(out, 1, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert re.search(r"\d+ of 780 runs are kept in .*: --resume goes on", said)
    assert "Traceback" not in said


def test_a_sweep_plays_though_its_output_is_closed(small, tmp_path):
    command = f"{sys.executable} -m evenhand sweep {small} --out {tmp_path / 'out'} >&-"
    assert subprocess.run(command, shell=True, check=False, timeout=60).returncode == 0
    assert SweepResults(tmp_path / "out").complete


@pytest.mark.parametrize("target", ["a folder", "a pipe"])
def test_a_report_goes_into_a_file_and_replaces_nothing_else(evenhand, small, tmp_path, target):
    assert evenhand("sweep", small, "--out", tmp_path / "out", *THREADS).returncode == 0
    place = tmp_path / target
    place.mkdir() if target == "a folder" else os.mkfifo(place)
    done = evenhand("report", tmp_path / "out", "--format", "csv", "--out", place)
    assert done.returncode == 2
    assert "output must go into a file" in done.stderr
    assert not place.is_file()


def test_a_dry_run_prints_cells_rounds_and_time_and_writes_nothing(evenhand, small, tmp_path):
    before = set(tmp_path.iterdir())
    done = evenhand("sweep", small, "--dry-run")
    assert done.returncode == 0
    assert "50 cells, 6 replications each: 300 runs, 37,500 rounds" in done.stdout
    assert "on one core of this machine" in done.stdout
    assert "setting 1 | tscsf-b eta=1 surplus=inf | T=50" in done.stdout
    assert set(tmp_path.iterdir()) == before


def test_a_dry_run_of_a_resume_plans_what_is_left(evenhand, small, tmp_path):
    assert evenhand("sweep", small, "--out", tmp_path / "out", *THREADS).returncode == 0
    done = evenhand("sweep", small, "--out", tmp_path / "out", "--resume", "--dry-run")
    assert done.returncode == 0
    assert "0 runs are left" in done.stdout


def test_the_exit_code_says_that_a_cell_failed_and_its_error_is_told(evenhand, tmp_path):
    too_much = (
        '[[instances]]\nname = "too much"\nplays = 1\n'
        'arms = [{ name = "a", floor = 0.9, mean = 0.5, availability = 0.1 }]\n'
        '[[policies]]\nname = "opt-f"\n'
    )
    file = write(tmp_path, "horizons = 20\n" + too_much + '[[policies]]\nname = "priced"\n')
    done = evenhand("sweep", file, "--out", tmp_path / "out")
    assert done.returncode == 4
    assert "1 of 2 cells complete" in done.stdout
    assert "failed 3 times: too much | opt-f | T=20, replications 0 to 0: Infeasible" in done.stderr
    page = evenhand("report", tmp_path / "out")
    assert page.returncode == 0
    html = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Not complete: 1 of 2 runs are done. Given up: 1, the first too much | opt-f" in html


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--backend", "spark"], "backend must be one of 'threads', 'local', 'dask', got 'spark'"),
        (["--workers", "0"], "workers must be a whole number of at least 1, got 0"),
        (
            ["--scheduler", "tcp://127.0.0.1:1"],
            "a scheduler must be left out unless the backend is dask",
        ),
        (["--backend", "dask", "--scheduler", "nowhere"], "missing port number"),
        (
            ["--backend", "dask", "--scheduler", "tcp://127.0.0.1:1", "--workers", "2"],
            "workers must be left out where a scheduler is named",
        ),
    ],
)
def test_bad_options_are_one_line_and_leave_nothing(evenhand, small, tmp_path, options, message):
    done = evenhand("sweep", small, "--out", tmp_path / "out", *options)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_scheduler_that_does_not_answer_is_told_within_ten_seconds(evenhand, small, tmp_path):
    start = time.monotonic()
    options = ["--backend", "dask", "--scheduler", "tcp://127.0.0.1:1"]
    done = evenhand("sweep", small, "--out", tmp_path / "out", *options)
    assert time.monotonic() - start < 10
    assert done.returncode == 2
    assert "scheduler must answer within 5 seconds, got none at 'tcp://127.0.0.1:1'" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_resume_onto_results_of_another_file_is_refused(evenhand, small, tmp_path):
    assert evenhand("sweep", small, "--out", tmp_path / "out", *THREADS).returncode == 0
    parts = sorted((tmp_path / "out" / "parts").iterdir())
    write(tmp_path, FILE.replace("seed = 7", "seed = 8"))
    done = evenhand("sweep", small, "--out", tmp_path / "out", "--resume")
    assert done.returncode == 2
    assert "holds results of another sweep: seed is 7 there and 8 here" in done.stderr
    assert sorted((tmp_path / "out" / "parts").iterdir()) == parts


def test_an_edited_source_forbids_to_go_on_unless_any_version_will_do(evenhand, small, tmp_path):
    out = tmp_path / "out"
    assert evenhand("sweep", small, "--out", out, *THREADS).returncode == 0
    about = json.loads((out / "sweep.json").read_text())
    about["matching"]["source"] = "0123456789abcdef"
    (out / "sweep.json").write_text(json.dumps(about))
    next((out / "parts").iterdir()).unlink()
    done = evenhand("sweep", small, "--out", out, "--resume", *THREADS)
    assert done.returncode == 2
    assert "was begun with other code" in done.stderr
    assert "source is '0123456789abcdef' there" in done.stderr
    done = evenhand("sweep", small, "--out", out, "--resume", "--any-version", *THREADS)
    assert done.returncode == 0
    assert "played by different versions of the code: source " in done.stderr
    assert "instead of 0123456789abcdef" in done.stderr
    assert evenhand("report", out).returncode == 0
    html = (out / "report.html").read_text(encoding="utf-8")
    assert "Played by different versions of the code" in html
    assert "also" in json.loads((out / "sweep.json").read_text(encoding="utf-8"))


def test_the_file_of_a_simulation_is_swept_as_it_is(evenhand, file, tmp_path):
    done = evenhand("sweep", file, "--out", tmp_path / "out", "--backend", "threads")
    assert done.returncode == 0, done.stderr
    swept = SweepResults(tmp_path / "out").results("setting", 200)
    alone = json.loads(evenhand("simulate", file, "--json").stdout)
    for row in alone["policies"]:
        assert swept.reward(row["label"]).mean == row["reward"]


def test_the_report_is_one_page_and_the_summary_three_kinds_of_table(evenhand, small, tmp_path):
    out = tmp_path / "out"
    assert evenhand("sweep", small, "--out", out, *THREADS).returncode == 0
    assert evenhand("report", out).returncode == 0
    html = (out / "report.html").read_text(encoding="utf-8")
    for words in ("50 cells", "setting 1", "All cells", "over eta and surplus"):
        assert words in html
    assert html.count("<figure>") >= 10
    assert "http://" not in html.replace("http://www.w3.org", "")
    for form, name in (("csv", "summary.csv"), ("latex", "summary.tex"), ("parquet", "x.parquet")):
        options = ["--out", out / name] if form == "parquet" else []
        assert evenhand("report", out, "--format", form, *options).returncode == 0
    summary = SweepResults(out).summary()
    assert pl.read_parquet(out / "x.parquet").equals(summary)
    with (out / "summary.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["regret"]) for row in rows] == summary["regret"].to_list()
    tex = (out / "summary.tex").read_text(encoding="utf-8")
    assert tex.count(r" \\") == 51


@pytest.mark.parametrize("command", [["report"], ["report", "--format", "csv"]])
def test_a_folder_without_a_sweep_has_no_report(evenhand, tmp_path, command):
    done = evenhand(*command, tmp_path)
    assert done.returncode == 2
    assert "must hold a sweep" in done.stderr
    assert list(tmp_path.iterdir()) == []
