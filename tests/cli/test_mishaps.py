"""What goes wrong under a user's hands: full disks, closed streams, odd names, Ctrl-C."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest

from evenhand import InputError, Results, SweepResults, cli
from evenhand.cli._screen import Stopped
from evenhand.core.storage import claimed

COMMAND = [sys.executable, "-m", "evenhand"]
THREADS = ["--backend", "threads"]
GRID = """
horizons = [50]
[[instances]]
name = "it"
generate = { arms = 4, plays = 2, tightness = 0.5, seeds = 2 }
[[policies]]
name = "uniform"
"""


def run(*arguments, **options):
    """Run the real command, with options for the process."""
    command = [*COMMAND, *arguments]
    return subprocess.run(
        command, capture_output=True, check=False, timeout=120, **{"text": True, **options}
    )


def limited_to(size):
    """Return what lets no file of a process grow beyond so many bytes, as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


no_room = limited_to(1_000)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """A small sweep that is complete."""
    place = tmp_path_factory.mktemp("sweep")
    (place / "grid.toml").write_text(GRID)
    done = run("sweep", str(place / "grid.toml"), "--out", str(place / "out"), *THREADS)
    assert done.returncode == 0
    return place / "out"


# A full disk


@pytest.mark.parametrize(
    ("command", "size"), [("simulate", 1_000), ("compare", 1_000), ("compare", 30_000)]
)
def test_a_full_disk_costs_the_files_but_not_the_table(file, tmp_path, command, size):
    """At 30,000 bytes there is room for the runs, which are kept, but not for the figure."""
    assert run(command, str(file)).returncode == 0
    done = run(command, str(file), "--out", str(tmp_path / "out"), preexec_fn=limited_to(size))
    assert done.returncode == 2
    assert "TS [red], reflected" in done.stdout
    assert done.stderr.count("\n") == 1
    assert "output must be in a writable place with room" in done.stderr
    kept = {"sweep.json", "parts"} if size == 30_000 else set()
    assert {path.name for path in (tmp_path / "out").glob("*")} == kept


def test_results_that_are_to_be_replaced_survive_a_full_disk(file, tmp_path):
    out = tmp_path / "out"
    assert run("simulate", str(file), "--out", str(out)).returncode == 0
    before = Results.load(out).provenance["created"]
    done = run("simulate", str(file), "--out", str(out), "--overwrite", preexec_fn=no_room)
    assert done.returncode == 2
    assert Results.load(out).provenance["created"] == before
    assert len(list(out.iterdir())) == 3


@pytest.mark.parametrize("form", ["html", "csv", "parquet", "latex"])
def test_a_report_on_a_full_disk_ends_in_a_sentence(sweep, tmp_path, form):
    path = str(tmp_path / "report")
    done = run("report", str(sweep), "--format", form, "--out", path, preexec_fn=limited_to(10))
    assert done.returncode == 2
    assert "with room" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_sweep_on_a_full_disk_ends_in_a_sentence_and_can_go_on(sweep, tmp_path):
    grid = str(sweep.parent / "grid.toml")
    done = run("sweep", grid, "--out", str(tmp_path / "out"), preexec_fn=limited_to(4_000))
    assert done.returncode == 2
    assert "with room" in done.stderr
    assert "Traceback" not in done.stderr
    assert run("sweep", grid, "--out", str(tmp_path / "out"), "--resume").returncode == 0
    assert SweepResults(tmp_path / "out").complete


def test_not_enough_memory_is_said(monkeypatch, capsys):
    def hungry():
        raise MemoryError

    monkeypatch.setattr(cli, "_app", hungry)
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit):
            cli.main()
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err == "evenhand: not enough memory\n"


# Streams and signals


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_closed_streams_are_no_reason_to_stop(file, tmp_path, closed):
    out = tmp_path / "out"
    line = f"{sys.executable} -m evenhand simulate {file} --out {out} {closed}"
    assert subprocess.run(["bash", "-c", line], check=False, timeout=60).returncode == 0
    assert Results.load(out).horizon == 200


def test_a_sweep_goes_on_without_standard_error(sweep, tmp_path):
    grid, out = sweep.parent / "grid.toml", tmp_path / "out"
    line = f"{sys.executable} -m evenhand sweep {grid} --out {out} 2>&-"
    assert subprocess.run(["bash", "-c", line], check=False, timeout=60).returncode == 0
    assert SweepResults(out).complete


@pytest.mark.parametrize("seconds", [0.1, 0.2, 0.3, 0.4, 0.5, 0.7])
def test_ctrl_c_while_it_starts_is_one_word(file, seconds):
    file.write_text(file.read_text().replace("horizon = 200", "horizon = 2_000_000_000"))
    with subprocess.Popen(
        [*COMMAND, "simulate", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130
    assert (out, err) == ("", "evenhand: stopped\n")


def test_ctrl_c_within_the_compiler_is_not_lost():
    """An exception that is raised in one of its callbacks would be printed and forgotten."""
    before = signal.signal(signal.SIGALRM, cli._stop)
    program = compile("import sys\ncli._stop(2, sys._getframe())", "llvmlite/callback.py", "exec")
    try:
        exec(program, {"cli": cli})
        with pytest.raises(Stopped):
            time.sleep(5)
    finally:
        signal.signal(signal.SIGALRM, before)


# Names and contents


def test_an_output_name_need_not_be_utf_8(file, sweep, tmp_path):
    base = os.fsencode(tmp_path)
    for arguments in (
        ["simulate", file, "--out", base + b"/tables-\xff"],
        ["compare", file, "--out", base + b"/compare-\xff"],
        ["report", sweep, "--out", base + b"/report-\xff.html"],
        ["report", sweep, "--format", "parquet", "--out", base + b"/summary-\xff"],
        ["sweep", sweep.parent / "grid.toml", "--out", base + b"/sweep-\xff", *THREADS],
    ):
        done = run(*map(os.fsencode, arguments), text=False)
        assert done.returncode == 0, done.stderr.decode()
    assert len(list(tmp_path.iterdir())) == 6


@pytest.mark.parametrize(
    "change",
    [
        {"horizons": 5},
        {"horizons": ["x"]},
        {"instances": []},
        {"instances": {"a": {}}},
        {"instances": [{}]},
        {"instances": [3]},
        {"instances": [{"name": "a", "policies": 3}]},
        {"policies": {"a": 3}},
        {"policies": [{"label": "a"}]},
        {"replications": "many"},
        {"replications": 0},
    ],
)
def test_a_damaged_description_of_a_sweep_is_refused(sweep, tmp_path, change):
    about = json.loads((sweep / "sweep.json").read_text())
    about["settings"].update(change)
    (tmp_path / "sweep.json").write_text(json.dumps(about))
    with pytest.raises(InputError, match=r"sweep\.json is damaged"):
        SweepResults(tmp_path)


def test_a_damaged_description_is_one_line(evenhand, sweep, tmp_path):
    about = json.loads((sweep / "sweep.json").read_text())
    about["settings"]["horizons"] = 5
    (tmp_path / "sweep.json").write_text(json.dumps(about))
    done = evenhand("report", tmp_path)
    assert done.returncode == 2
    assert "sweep.json is damaged" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_damaged_part_is_named_by_the_report_and_played_again_on_resume(sweep, tmp_path):
    grid, out = str(sweep.parent / "grid.toml"), str(tmp_path / "out")
    run("sweep", grid, "--out", out, *THREADS)
    part = next((tmp_path / "out" / "parts").iterdir())
    content = part.read_bytes()
    part.write_bytes(content[:30] + bytes([content[30] ^ 16]) + content[31:])
    done = run("report", out)
    assert done.returncode == 2
    assert f"{str(part)!r} must be an undamaged part of this sweep" in done.stderr
    assert run("sweep", grid, "--out", out, "--resume", *THREADS).returncode == 0
    assert run("report", out).returncode == 0
    assert SweepResults(out).summary().equals(SweepResults(sweep).summary())


def test_damage_beside_the_settings_of_a_sweep_is_no_traceback(evenhand, sweep, tmp_path):
    shutil.copytree(sweep, tmp_path / "out")
    about = json.loads((sweep / "sweep.json").read_text())
    (tmp_path / "out" / "sweep.json").write_text(json.dumps({**about, "versions": 5}))
    assert evenhand("report", tmp_path / "out").returncode == 0
    next((tmp_path / "out" / "parts").iterdir()).unlink()
    (tmp_path / "out" / "failures.json").write_text("{")
    done = evenhand("report", tmp_path / "out", "--format", "csv")
    assert done.returncode == 2
    assert "must hold at least one" in done.stderr or "must be undamaged" in done.stderr


def test_a_dry_run_looks_at_a_sweep_that_is_running(sweep):
    with claimed(sweep, overwrite=True):
        grid = str(sweep.parent / "grid.toml")
        done = run("sweep", grid, "--out", str(sweep), "--resume", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "0 runs are left" in done.stdout


def test_of_two_that_write_into_one_folder_one_is_refused(file, tmp_path):
    file.write_text(file.read_text().replace("horizon = 200", "horizon = 2_000_000"))
    command = [*COMMAND, "simulate", str(file), "--out", str(tmp_path / "out")]
    both = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    ends = [(process.communicate(timeout=120)[1], process.returncode) for process in both]
    assert sorted(code for _, code in ends) == [0, 2]
    refusal = next(error for error, code in ends if code == 2)
    assert "is being written by another process" in refusal or "must be empty or new" in refusal
    Results.load(tmp_path / "out")
