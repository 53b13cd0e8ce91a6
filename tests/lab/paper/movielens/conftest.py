from __future__ import annotations

import zipfile

import pytest

from evenhand.lab.paper.movielens import write_synthetic

RATINGS = [
    (1, 1, 4.0, 10),
    (1, 110, 5.0, 11),
    (2, 296, 3.0, 12),
    (2, 858, 4.5, 13),
    (3, 1214, 2.0, 14),
    (3, 1, 5.0, 15),
    (4, 7, 3.0, 16),
    (5, 110, 0.5, 17),
]
MOVIES = [
    (1, "Toy Story (1995)", "Adventure|Comedy"),
    (7, "Sabrina (1995)", "Comedy|Romance"),
    (110, "Braveheart (1995)", "Action|Drama"),
    (296, "Pulp Fiction (1994)", "Comedy|Crime"),
    (858, "Godfather, The (1972)", "Crime|Drama"),
    (1214, "Alien (1979)", "Horror|Sci-Fi"),
    (900, "Alien (1992)", "Sci-Fi"),
]


def write_csv(folder, ratings=RATINGS):
    lines = ["userId,movieId,rating,timestamp"]
    lines += [f"{u},{m},{r},{t}" for u, m, r, t in ratings]
    (folder / "ratings.csv").write_text("\n".join(lines) + "\n")
    titles = [f'{i},"{title}",{genres}' for i, title, genres in MOVIES]
    (folder / "movies.csv").write_text("\n".join(["movieId,title,genres", *titles]) + "\n")


def write_dat(folder, ratings=RATINGS):
    lines = [f"{u}::{m}::{r:g}::{t}" for u, m, r, t in ratings]
    (folder / "ratings.dat").write_text("\n".join(lines) + "\n")
    titles = [f"{i}::{title}::{genres}" for i, title, genres in MOVIES]
    (folder / "movies.dat").write_text("\n".join(titles) + "\n", encoding="latin-1")


def write_100k(folder, ratings=RATINGS):
    whole = [(u, m, max(round(r), 1), t) for u, m, r, t in ratings]
    lines = [f"{u}\t{m}\t{r}\t{t}" for u, m, r, t in whole]
    (folder / "u.data").write_text("\n".join(lines) + "\n")
    flags = "|".join(["0"] * 5 + ["1"] + ["0"] * 13)
    titles = [f"{i}|{title}|01-Jan-1995||http://x|{flags}" for i, title, _ in MOVIES]
    (folder / "u.item").write_text("\n".join(titles) + "\n", encoding="latin-1")


def pack(folder, target, inside="ml"):
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, f"{inside}/{path.name}")
    return target


@pytest.fixture
def small(tmp_path):
    folder = tmp_path / "ml-small"
    folder.mkdir()
    write_csv(folder)
    return folder


@pytest.fixture(scope="session")
def generated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generated") / "sample"
    write_synthetic(folder, ratings=40_000, users=6_000, seed=3)
    return folder
