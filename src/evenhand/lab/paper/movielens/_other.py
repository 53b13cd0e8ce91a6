"""Other people's ratings: any CSV with the columns user, item and rating."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evenhand.core.checks import check_known
from evenhand.core.extras import load
from evenhand.errors import InputError
from evenhand.lab.paper.movielens._catalogue import Movie
from evenhand.lab.paper.movielens.reader import RatingTable

if TYPE_CHECKING:
    import polars

FIVE = 5


def read_items(path: Path, wanted: Sequence[str]) -> tuple[list[Movie], RatingTable, float, float]:
    """Return the items chosen, their per-user table, and the lowest and highest rating.

    A column ``timestamp`` is optional; without it, the last of several ratings in the file's
    order of users, items and values counts.
    """
    pl = load("polars")
    try:
        text = pl.read_csv(path, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"cannot read {path.name} as CSV: {reason}") from None
    for column in ("user", "item", "rating"):
        if column not in text.columns:
            raise InputError(
                f"{path.name} must have the columns user, item and rating, got "
                f"{', '.join(text.columns)}"
            )
    if not len(text):
        raise InputError(f"{path.name} must have at least one rating, got none")
    rows = _numbers(path, text)
    counts = dict(rows.group_by("item").len().sort("len", "item", descending=[True, False]).rows())
    check_known("item", wanted, counts)
    chosen = list(wanted) or list(counts)[:FIVE]
    by = ["user", "item", *(["timestamp"] if "timestamp" in rows.columns else []), "rating"]
    some = rows.filter(pl.col("item").is_in(chosen)).sort(by)
    kept = some.unique(["user", "item"], keep="last", maintain_order=True)
    users, index = np.unique(kept["user"].to_numpy(), return_inverse=True)
    table = np.full((users.size, len(chosen)), np.nan)
    column_of = {item: j for j, item in enumerate(chosen)}
    table[index, [column_of[item] for item in kept["item"]]] = kept["rating"].to_numpy()
    movies = [Movie(j, item, ()) for j, item in enumerate(chosen)]
    per_movie = {j: counts[item] for j, item in enumerate(chosen)}
    found = RatingTable(np.arange(users.size), table, per_movie, len(some) - len(kept))
    every = rows["rating"].to_numpy()
    return movies, found, float(every.min()), float(every.max())


def _numbers(path: Path, text: polars.DataFrame) -> polars.DataFrame:
    """Return the rows with ratings and timestamps as numbers, or name the first bad line."""
    pl = load("polars")
    numeric = [name for name in ("rating", "timestamp") if name in text.columns]
    rows = text.with_columns(pl.col(*numeric).cast(pl.Float64, strict=False))
    good = pl.all_horizontal(
        pl.col("user", "item").is_not_null(),
        pl.col(*numeric).is_not_null() & pl.col(*numeric).is_finite(),
        pl.col("rating") >= 0.0,
    )
    wrong = rows.select(~good.fill_null(False)).to_series().arg_true()
    if len(wrong):
        shown = ",".join("" if entry is None else entry for entry in text.row(int(wrong[0])))
        raise InputError(
            f"line {int(wrong[0]) + 2} of {path.name} must have a user, an item and a rating of at "
            f"least 0 (and a timestamp that is a number, if there are any), got {shown!r}"
        )
    return rows
