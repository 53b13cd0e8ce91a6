"""Other people's ratings: any CSV with the columns user, item and rating."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evenhand.checks import known
from evenhand.errors import InputError
from evenhand.extras import load
from evenhand.paper.movielens.catalogue import Movie
from evenhand.paper.movielens.reader import RatingTable

FIVE = 5


def read_items(path: Path, wanted: Sequence[str]) -> tuple[list[Movie], RatingTable, float, float]:
    """Return the items chosen, their per-user table, and the lowest and highest rating.

    A column ``timestamp`` is optional; without it, the last of several ratings in the file's
    order of users, items and values counts.
    """
    pl = load("polars")
    try:
        rows = pl.read_csv(path, schema_overrides={"user": pl.String, "item": pl.String})
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"cannot read {path.name} as CSV: {reason}") from None
    for column in ("user", "item", "rating"):
        if column not in rows.columns:
            raise InputError(
                f"{path.name} must have the columns user, item and rating, got "
                f"{', '.join(rows.columns)}"
            )
    _check_rows(path, rows)
    counts = dict(rows.group_by("item").len().sort("len", "item", descending=[True, False]).rows())
    known("item", wanted, counts)
    chosen = list(wanted) or list(counts)[:FIVE]
    by = ["user", "item", *(["timestamp"] if "timestamp" in rows.columns else []), "rating"]
    some = rows.filter(pl.col("item").is_in(chosen)).sort(by)
    kept = some.unique(["user", "item"], keep="last", maintain_order=True)
    users, place = np.unique(kept["user"].to_numpy(), return_inverse=True)
    table = np.full((users.size, len(chosen)), np.nan)
    column_of = {item: j for j, item in enumerate(chosen)}
    table[place, [column_of[item] for item in kept["item"]]] = kept["rating"].to_numpy()
    movies = [Movie(j, item, ()) for j, item in enumerate(chosen)]
    per_movie = {j: counts[item] for j, item in enumerate(chosen)}
    found = RatingTable(np.arange(users.size), table, per_movie, len(some) - len(kept))
    low, high = float(rows["rating"].min()), float(rows["rating"].max())
    return movies, found, low, high


def _check_rows(path: Path, rows: object) -> None:
    pl = load("polars")
    ratings = rows["rating"]  # type: ignore[index]
    if not ratings.dtype.is_numeric():
        bad = ratings.cast(pl.Float64, strict=False).is_null().arg_true()
        raise InputError(
            f"line {bad[0] + 2} of {path.name} must have a number as rating, got "
            f"{ratings[int(bad[0])]!r}"
        )
    wrong = rows.select(  # type: ignore[attr-defined]
        pl.any_horizontal(pl.col("user", "item", "rating").is_null())
        | ~pl.col("rating").is_finite()
        | (pl.col("rating") < 0)
    ).to_series()
    if wrong.fill_null(True).any():
        line = int(wrong.fill_null(True).arg_true()[0]) + 2
        raise InputError(
            f"line {line} of {path.name} must have a user, an item and a rating of at least 0"
        )
