"""A generated sample in the ml-20m file format, of any size. It is not MovieLens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core.arrays import Random
from evenhand.core.checks import check_whole, fail
from evenhand.core.extras import load
from evenhand.core.storage import claimed, write_set
from evenhand.lab.paper.movielens.releases import MARK, PAPER_MOVIES, SYNTHETIC

if TYPE_CHECKING:
    import polars

IDS = (1, 110, 296, 858, 1214)
AVAILABILITY = (0.44, 0.52, 0.46, 0.48, 0.43)
MEAN_RATINGS = (4.15, 4.24, 4.28, 4.53, 4.16)
GENRES = (
    "Adventure|Animation|Children|Comedy|Fantasy",
    "Action|Drama|War",
    "Comedy|Crime|Drama|Thriller",
    "Crime|Drama",
    "Horror|Sci-Fi",
)
OTHER_GENRES = ("Drama", "Comedy", "Action", "Thriller", "Adventure", "Horror", "Crime", "Romance")
TASTE = 0.65
ANY = 0.71
OTHER_MOVIES = 5_000


def write_synthetic(
    folder: Path,
    *,
    ratings: int = 200_000,
    users: int | None = None,
    seed: int = 1,
    overwrite: bool = False,
) -> None:
    """Write ``ratings.csv`` and ``movies.csv``, and a file that says what they are.

    A user's taste, a normal number, makes liking (and so having rated) the five movies dependent;
    the thresholds are such that, among users who rated any, the shares are as wanted. Every user
    also rated other movies, until there are as many ratings as asked for. Left out, the number of
    users is in ml-20m's proportion to that of ratings.
    """
    ratings = check_whole("ratings", ratings, least=100)
    users = max(ratings // 144, 20) if users is None else check_whole("users", users, least=20)
    if ratings > users * OTHER_MOVIES:
        fail("ratings", f"at most {OTHER_MOVIES:,} for each of {users:,} users", ratings)
    check_whole("seed", seed, least=0)
    rng = np.random.default_rng(seed)
    with claimed(folder, overwrite=overwrite):
        table = _ratings(rng, ratings, users)
        files = {
            MARK: f"{SYNTHETIC}: {ratings} ratings, seed {seed}\n",
            "movies.csv": _movies(rng),
            "ratings.csv": table.write_csv(),
        }
        write_set(folder, {name: text.encode("utf-8") for name, text in files.items()})


def _ratings(rng: Random, ratings: int, users: int) -> polars.DataFrame:
    """Draw the table of ratings."""
    rows = [_chosen(rng, users), _others(rng, users)]
    table = {name: np.concatenate([part[name] for part in rows]) for name in rows[0]}
    short = ratings - table["userId"].size
    if short > 0:
        filler = _filler(rng, users, short)
        table = {name: np.concatenate([table[name], filler[name]]) for name in table}
    frame: polars.DataFrame = load("polars").DataFrame(table)
    return frame.head(ratings).sort("userId", "movieId")


def _chosen(rng: Random, users: int) -> dict[str, Any]:
    """Return who rated the five movies, and how: the wanted shares are of those who rated any."""
    taste = rng.standard_normal(users)[:, None]
    noise = rng.standard_normal((users, len(IDS)))
    liking = TASTE * taste + np.sqrt(1.0 - TASTE**2) * noise
    share = np.array(AVAILABILITY)
    # The first quarter of the users rated none of them, as most of MovieLens' users have not.
    asleep = users // 4
    awake = liking > np.quantile(liking[asleep:], 1.0 - share * ANY, axis=0).diagonal()
    awake[:asleep] = False
    user, column = np.nonzero(awake)
    steps = rng.binomial(9, (np.array(MEAN_RATINGS)[column] - 0.5) / 4.5)
    return _columns(rng, user, np.array(IDS)[column], 0.5 + 0.5 * steps)


def _others(rng: Random, users: int) -> dict[str, Any]:
    """Give every user at least one rating of another movie."""
    movie = 2_000 + rng.integers(OTHER_MOVIES, size=users)
    return _columns(rng, np.arange(users), movie, 0.5 * rng.integers(1, 11, size=users))


def _filler(rng: Random, users: int, count: int) -> dict[str, Any]:
    """Return further ratings, with no (user, movie) pair twice."""
    pair = rng.choice(users * OTHER_MOVIES, size=count, replace=False, shuffle=False)
    movie = 20_000 + pair % OTHER_MOVIES
    return _columns(rng, pair // OTHER_MOVIES, movie, 0.5 * rng.integers(1, 11, size=count))


def _columns(rng: Random, user: Any, movie: Any, rating: Any) -> dict[str, Any]:
    return {
        "userId": (user + 1).astype(np.int32),
        "movieId": movie.astype(np.int32),
        "rating": rating.astype(np.float64),
        "timestamp": rng.integers(800_000_000, 1_400_000_000, size=user.size),
    }


def _movies(rng: Random) -> str:
    lines = ["movieId,title,genres"]
    for id_, movie, genres in zip(IDS, PAPER_MOVIES, GENRES, strict=True):
        lines.append(f'{id_},"{movie.title}",{genres}')
    for start in (2_000, 20_000):
        drawn = rng.choice(OTHER_GENRES, size=OTHER_MOVIES)
        lines += [f"{start + i},Invented {start + i} (2001),{g}" for i, g in enumerate(drawn)]
    return "\n".join(lines) + "\n"
