"""Files that appear whole or not at all, and folders that one process at a time writes into."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from evenhand import InputError
from evenhand.core.storage import (
    LOCK,
    check_folder,
    claimed,
    staged,
    write_bytes,
    write_set,
    write_text,
)

HOLD = """
import sys, time
from pathlib import Path
from evenhand.core.storage import claimed
with claimed(Path(sys.argv[1]), overwrite=True):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def full_disk(monkeypatch):
    """Let the disk be full from the second file on: a file is synced, and so is its folder."""
    synced = []

    def sync(handle):
        synced.append(handle)
        if len(synced) > 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("evenhand.core.storage.os.fsync", sync)


# Files


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path, full_disk):
    file = tmp_path / "table"
    write_text(tmp_path / "table", "old")
    with pytest.raises(InputError, match=r"with room, got .*: No space left on device"):
        write_text(file, "new")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_set_of_files_is_all_there_or_as_it_was(tmp_path, monkeypatch):
    write_set(tmp_path, {"a": b"old", "b": b"old"})
    with monkeypatch.context() as patch:
        patch.setattr("evenhand.core.storage.os.fsync", _no_room)
        with pytest.raises(InputError, match="No space left"):
            write_set(tmp_path, {"a": b"new", "b": b"new"})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "a": b"old",
        "b": b"old",
    }


def _no_room(handle):
    raise OSError(28, "No space left on device")


def test_a_set_that_is_interrupted_half_way_has_lost_the_file_that_vouches_for_it(
    tmp_path, monkeypatch
):
    write_set(tmp_path, {"a": b"old", "b": b"old"})
    move = Path.replace

    def interrupt(path, target):
        if target.parent == tmp_path:
            raise KeyboardInterrupt
        return move(path, target)

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_set(tmp_path, {"a": b"new", "b": b"new"})
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_mode_that_the_umask_says(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write_bytes(tmp_path / "file", b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode


def test_an_old_file_keeps_its_mode(tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "file").chmod(0o640)
    write_text(tmp_path / "file", "new")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_a_link_is_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "file")
    write_text(tmp_path / "link", "first")
    write_text(tmp_path / "link", "second")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "elsewhere" / "file").read_text() == "second"


def test_a_link_to_itself_gives_way(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    write_text(tmp_path / "loop", "x")
    assert (tmp_path / "loop").read_text() == "x"


def write_halfway(folder):
    with staged(folder, "c") as place:
        write_text(place / "c", "x")
        write_text(place, "a folder is no file")


def test_what_is_staged_arrives_together_or_not_at_all(tmp_path):
    with staged(tmp_path, "b") as place:
        write_text(place / "b", "vouches")
        write_text(place / "deep" / "a", "x")
        assert [path.name for path in tmp_path.iterdir()] == [place.name]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "deep"]
    with pytest.raises(InputError, match="output must go into a file"):
        write_halfway(tmp_path / "deep")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["a"]


def test_content_is_on_disk_before_it_takes_its_place(tmp_path, monkeypatch):
    events = []
    real_sync, real_replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (events.append("sync"), real_sync(handle)))
    monkeypatch.setattr(os, "replace", lambda *a: (events.append("rename"), real_replace(*a)))
    write_bytes(tmp_path / "file", b"x")
    assert events == ["sync", "rename", "sync"]


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(InputError, match="output must go into a file, got"):
        write_bytes(tmp_path, b"x")


# Folders


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "out").write_text("x")
    with pytest.raises(InputError, match="must be a folder, got the file"):
        check_folder(tmp_path / "out", overwrite=True)


def test_a_place_below_a_file_is_not_writable(tmp_path):
    (tmp_path / "out").write_text("x")
    with pytest.raises(InputError, match="must be in a writable place"):
        check_folder(tmp_path / "out" / "deeper", overwrite=False)


def test_a_new_or_empty_folder_is_fine(tmp_path):
    check_folder(tmp_path, overwrite=False)
    check_folder(tmp_path / "new" / "deep", overwrite=False)
    assert not (tmp_path / "new").exists()


def test_a_link_to_nowhere_and_a_name_too_long_are_refused_before_any_work(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere" / "deep")
    for folder in (tmp_path / "link", tmp_path / ("x" * 300)):
        with pytest.raises(InputError, match="must be in a writable place"):
            check_folder(folder, overwrite=False)
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


def test_what_was_written_stays_and_the_lock_does_not(tmp_path):
    with claimed(tmp_path / "out"):
        write_text(tmp_path / "out" / "file", "x")
        assert (tmp_path / "out" / LOCK).exists()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["file"]


def test_a_claim_may_be_made_again_by_whoever_holds_it(tmp_path):
    with claimed(tmp_path / "out"):
        with claimed(tmp_path / "out"):
            pass
        assert (tmp_path / "out" / LOCK).exists()


def test_another_thread_is_refused(tmp_path):
    refused = []

    def claim():
        try:
            with claimed(tmp_path / "out", overwrite=True):
                pass
        except InputError as error:
            refused.append(str(error))

    with claimed(tmp_path / "out"):
        thread = threading.Thread(target=claim)
        thread.start()
        thread.join()
    assert "is being written by another process" in refused[0]


def test_another_process_is_refused_until_the_first_one_is_gone_however_it_goes(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InputError, match="is being written by another process"):
            check_folder(tmp_path / "out", overwrite=True)
        holder.kill()
    check_folder(tmp_path / "out", overwrite=False)


def test_many_that_prepare_one_folder_see_no_false_alarm(tmp_path):
    """They may be told that another one is at it, and nothing else."""
    told = []

    def prepare():
        for _ in range(50):
            try:
                check_folder(tmp_path / "deep" / "out", overwrite=False)
            except InputError as error:
                told.append(str(error))

    threads = [threading.Thread(target=prepare) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("is being written by another process" in line for line in told)
