"""Files that appear whole or not at all."""

from __future__ import annotations

import pytest

from evenhand import InputError
from evenhand.storage import check_folder, write_whole


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path):
    file = tmp_path / "table"
    file.write_text("old")

    def fail_halfway(path):
        path.write_text("ha")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_whole(file, fail_halfway)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


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
