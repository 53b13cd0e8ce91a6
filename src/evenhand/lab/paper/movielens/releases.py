"""The MovieLens releases as GroupLens publishes them, and the paper's five movies."""

from __future__ import annotations

from dataclasses import dataclass

ADDRESS = "https://files.grouplens.org/datasets/movielens"
RELEASES = (
    "ml-20m",
    "ml-25m",
    "ml-32m",
    "ml-latest",
    "ml-latest-small",
    "ml-10m",
    "ml-1m",
    "ml-100k",
)
MD5 = {
    "ml-25m": "6b51fb2759a8657d3bfcbfc42b592ada",
    "ml-20m": "cd245b17a1ae2cc31bb14903e1204af3",
    "ml-10m": "ce571fd55effeba0271552578f2648bd",
    "ml-1m": "c4d9eecfca2ab87c1945afe126590906",
    "ml-100k": "0e33842e24a9c977be4e0107933c0723",
}
TERMS = (
    "MovieLens data are provided by GroupLens at the University of Minnesota for research. You may "
    "not state or imply their endorsement, must acknowledge the use of the data in publications "
    "(Harper and Konstan, The MovieLens Datasets: History and Context, 2015), may not redistribute "
    "them without separate permission, and may not use them for revenue-bearing purposes without "
    "permission. The README of each release has the full terms."
)


SYNTHETIC = "synthetic sample, not MovieLens"
MARK = "SYNTHETIC.txt"


@dataclass(frozen=True)
class Layout:
    """How a family of releases is written: file names, separators, columns, encoding and scale."""

    ratings: str
    movies: str
    separator: str
    header: bool
    columns: tuple[str, ...]
    encoding: str
    lowest: float
    highest: float = 5.0


COLUMNS = ("user", "movie", "rating", "timestamp")
LAYOUTS = (
    Layout("ratings.csv", "movies.csv", ",", True, COLUMNS, "utf-8", 0.5),
    Layout(
        "ratings.dat",
        "movies.dat",
        ":",
        False,
        ("user", "gap1", "movie", "gap2", "rating", "gap3", "timestamp"),
        "latin-1",
        0.5,
    ),
    Layout("u.data", "u.item", "\t", False, COLUMNS, "latin-1", 1.0),
)


@dataclass(frozen=True)
class PaperMovie:
    """One of the paper's arms: its title as GroupLens writes it, and the genre it stands for."""

    title: str
    genre: str


PAPER_MOVIES = (
    PaperMovie("Toy Story (1995)", "Adventure"),
    PaperMovie("Braveheart (1995)", "Action"),
    PaperMovie("Pulp Fiction (1994)", "Comedy"),
    PaperMovie("Godfather, The (1972)", "Crime"),
    PaperMovie("Alien (1979)", "Horror"),
)
PAPER_USERS = 28_356
GENRES_100K = (
    "unknown",
    "Action",
    "Adventure",
    "Animation",
    "Children's",
    "Comedy",
    "Crime",
    "Documentary",
    "Drama",
    "Fantasy",
    "Film-Noir",
    "Horror",
    "Musical",
    "Mystery",
    "Romance",
    "Sci-Fi",
    "Thriller",
    "War",
    "Western",
)
