"""Reading releases: every layout, folder or zip, whatever the order of lines; bad lines named."""

from __future__ import annotations

import random
import zipfile

import numpy as np
import pytest

from evenhand import InputError
from evenhand.lab.paper.movielens import load_release
from tests.lab.paper.movielens import conftest as files

NAN = float("nan")
WANTED = [
    [4.0, 5.0, NAN, NAN, NAN],
    [NAN, NAN, 3.0, 4.5, NAN],
    [5.0, NAN, NAN, NAN, 2.0],
    [NAN, 0.5, NAN, NAN, NAN],
]


def test_one_row_a_user_who_rated_any_of_the_movies(small):
    data = load_release(small)
    assert data.table.users.tolist() == [1, 2, 3, 5]
    assert np.array_equal(data.table.ratings, WANTED, equal_nan=True)
    assert data.table.duplicates == 0


@pytest.mark.parametrize("write", [files.write_csv, files.write_dat, files.write_100k])
def test_every_layout_gives_the_same_users_and_movies(tmp_path, write):
    write(tmp_path)
    data = load_release(tmp_path)
    assert data.table.users.tolist() == [1, 2, 3, 5]
    assert [movie.title for movie in data.movies][3] == "Godfather, The (1972)"
    rated = ~np.isnan(data.table.ratings)
    assert np.array_equal(rated, ~np.isnan(np.array(WANTED)))


def test_genres_of_100k_are_flags(tmp_path):
    files.write_100k(tmp_path)
    assert load_release(tmp_path).movies[0].genres == ("Comedy",)


def test_a_zip_and_its_folder_are_the_same(small, tmp_path):
    packed = load_release(files.pack(small, tmp_path / "ml-small.zip"))
    assert np.array_equal(packed.table.ratings, load_release(small).table.ratings, equal_nan=True)
    assert packed.release == "ml-small"


def test_the_order_of_lines_does_not_matter(small, tmp_path):
    shuffled = files.RATINGS.copy()
    random.Random(4).shuffle(shuffled)
    files.write_csv(tmp_path, shuffled)
    one, two = load_release(small).table, load_release(tmp_path).table
    assert np.array_equal(one.ratings, two.ratings, equal_nan=True)
    assert one.counts == two.counts


def test_of_two_ratings_the_later_one_counts_and_the_number_is_told(small):
    files.write_csv(small, [*files.RATINGS, (1, 1, 1.0, 99), (1, 110, 0.5, 1)])
    table = load_release(small).table
    assert table.ratings[0, :2].tolist() == [1.0, 5.0]
    assert table.duplicates == 2


def test_genre_shares_count_all_ratings_of_the_genres(small):
    """Adventure 2, Action 2, Comedy 2 + 1 + 1, Crime 1 + 1, Horror 1: eleven in all."""
    assert load_release(small).genre_shares == pytest.approx(np.array([2, 2, 4, 2, 1]) / 11)


def test_movies_are_found_by_id_and_by_title(small):
    data = load_release(small, ["858", "toy story", "Sabrina (1995)"])
    assert [movie.id for movie in data.movies] == [858, 1, 7]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (["alien"], r"must be one movie, got several: 1214: Alien \(1979\); 900: Alien \(1992\)"),
        (["Toy Stori (1995)"], r"must be in the release; did you mean 'Toy Story \(1995\)'"),
        (["12345"], "movie '12345' must be in the release"),
        (["1", "Toy Story (1995)"], r"must be different, got 'Toy Story \(1995\)' twice"),
        (["Alien (1992)"], r"'Alien \(1992\)' must have been rated by somebody, got nobody"),
    ],
)
def test_movies_that_cannot_be_chosen(small, wanted, message):
    with pytest.raises(InputError, match=message):
        load_release(small, wanted)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("9,7", "line 10 of ratings.csv must be user, movie, rating and timestamp, got '9,7'"),
        ("9,x,3,4", "line 10 of ratings.csv must be"),
        ("9,1,3.5,4,5", "line 10 of ratings.csv must be"),
        ("9,1,7.5,4", r"rating of movie 1 by user 9 must be in \[0.5, 5\], got 7.5"),
        ("9,1,0,4", "rating of movie 1 by user 9 must be in"),
    ],
)
def test_bad_lines_are_named(small, line, message):
    with (small / "ratings.csv").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InputError, match=message):
        load_release(small)


def test_a_bad_line_of_a_dat_file_is_named(tmp_path):
    files.write_dat(tmp_path)
    with (tmp_path / "ratings.dat").open("a") as file:
        file.write("9::1::oops::4\n")
    with pytest.raises(InputError, match=r"line 9 of ratings.dat must be .* got '9::1::oops::4'"):
        load_release(tmp_path)


def test_a_folder_without_a_release_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"must hold ratings.csv and movies.csv, or"):
        load_release(tmp_path)


def test_a_broken_zip_is_refused(tmp_path):
    (tmp_path / "ml-1m.zip").write_bytes(b"PK no")
    with pytest.raises(InputError, match=r"cannot read ml-1m.zip"):
        load_release(tmp_path / "ml-1m.zip")


def test_a_bad_movie_list_is_named(small):
    (small / "movies.csv").write_text("movieId,title,genres\nx,Toy\n")
    with pytest.raises(InputError, match=r"line 2 of movies.csv must be an id, a title and genres"):
        load_release(small)


def test_the_header_must_be_the_layouts(small):
    text = (small / "ratings.csv").read_text().replace("userId,movieId", "movieId,userId")
    (small / "ratings.csv").write_text(text)
    with pytest.raises(InputError, match=r"line 1 of ratings.csv must be 'userId,movieId"):
        load_release(small)


def test_single_colons_are_not_double_ones(tmp_path):
    files.write_dat(tmp_path)
    with (tmp_path / "ratings.dat").open("a") as file:
        file.write("7:9:1:8:3.0:7:5\n")
    with pytest.raises(InputError, match=r"line 9 of ratings.dat must be"):
        load_release(tmp_path)


def test_the_least_deep_files_count_in_a_folder_and_in_a_zip(small, tmp_path):
    deep = small / "old"
    deep.mkdir()
    files.write_csv(deep, [(9, 1, 1.0, 1)])
    with zipfile.ZipFile(tmp_path / "deep.zip", "w") as archive:
        for path in sorted(small.rglob("*.csv")):
            archive.write(path, f"ml/{path.relative_to(small)}")
    for release in (small, tmp_path / "deep.zip"):
        assert load_release(release).table.users.tolist() == [1, 2, 3, 5]


def test_a_damaged_stream_in_a_zip_is_refused(generated, tmp_path):
    packed = files.pack(generated, tmp_path / "s.zip")
    content = bytearray(packed.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 40] = bytes(40)
    packed.write_bytes(content)
    with pytest.raises(InputError, match=r"cannot read s.zip"):
        load_release(packed)


def test_titles_are_read_as_utf_8_where_they_are(tmp_path):
    files.write_dat(tmp_path)
    text = (tmp_path / "movies.dat").read_text().replace("Sabrina", "Amélie")
    (tmp_path / "movies.dat").write_text(text, encoding="utf-8")
    assert load_release(tmp_path, ["amélie (1995)"]).movies[0].id == 7
