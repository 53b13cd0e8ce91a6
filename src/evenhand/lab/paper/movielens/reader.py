"""From a release's files to one row a user: which of the chosen movies they rated, and how.

Polars scans the ratings in a stream, so that 20 million of them need some hundred megabytes.
"""

from __future__ import annotations

import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.extras import load
from evenhand.errors import InputError
from evenhand.lab.paper.movielens._catalogue import Movie
from evenhand.lab.paper.movielens.releases import LAYOUTS, MARK, Layout

if TYPE_CHECKING:
    import polars


HEADER = "userId,movieId,rating,timestamp"


@dataclass(frozen=True)
class RatingTable:
    """The users who rated at least one of the movies, in ascending order of their ids.

    ``ratings`` has a row a user and a column a movie, NaN where there is none; ``counts`` tells
    how many ratings each movie of the release has; ``duplicates`` how many were superseded.
    """

    users: Integers
    ratings: Floats
    counts: dict[int, int]
    duplicates: int


@contextmanager
def open_release(path: Path) -> Iterator[tuple[Path, Path, Layout]]:
    """Give the ratings file, the movies file and their layout, from a folder or a zip."""
    if not path.exists():
        raise InputError(f"path must be a folder or zip of a MovieLens release, got {str(path)!r}")
    if path.is_dir():
        yield _in_folder(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        try:
            with zipfile.ZipFile(path) as archive:
                _unpack(archive, Path(folder))
        except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, EOFError) as error:
            raise InputError(f"cannot read {path.name}: {error}") from None
        yield _in_folder(Path(folder), path.name)


def _unpack(archive: zipfile.ZipFile, folder: Path) -> None:
    """Unpack what the reader may want, each file in its own folder as in the archive."""
    wanted = {name for layout in LAYOUTS for name in (layout.ratings, layout.movies)} | {MARK}
    for member in archive.infolist():
        if Path(member.filename).name in wanted:
            archive.extract(member, folder)


def _in_folder(folder: Path, shown: str = "") -> tuple[Path, Path, Layout]:
    """Return the pair of files that lies least deep."""
    for layout in LAYOUTS:
        found = sorted(folder.glob(f"**/{layout.ratings}"), key=lambda p: (len(p.parts), str(p)))
        for ratings in found:
            if (movies := ratings.with_name(layout.movies)).exists():
                return ratings, movies, layout
    known = ", ".join(f"{layout.ratings} and {layout.movies}" for layout in LAYOUTS)
    raise InputError(f"{shown or str(folder)!r} must hold {known.replace(', ', ', or ')}")


def read_ratings(path: Path, layout: Layout, movies: Sequence[Movie]) -> RatingTable:
    """Return the per-user table of some movies."""
    pl = load("polars")
    _check_header(path, layout)
    kinds = {"user": pl.Int64, "movie": pl.Int64, "rating": pl.Float64, "timestamp": pl.Int64}
    scan = pl.scan_csv(
        path,
        has_header=False,
        skip_rows=int(layout.header),
        separator=layout.separator,
        schema={name: kinds.get(name, pl.String) for name in layout.columns},
    )
    broken = pl.any_horizontal(pl.col(*kinds).is_null())
    gaps = [name for name in layout.columns if name not in kinds]
    if gaps:
        broken |= pl.any_horizontal(pl.col(*gaps).is_not_null())
    wanted = scan.filter(pl.col("movie").is_in([movie.id for movie in movies]) | broken)
    try:
        rows, counts = pl.collect_all([wanted, scan.group_by("movie").len()], engine="streaming")
    except pl.exceptions.PolarsError:
        raise _malformed(path, layout) from None
    if rows.select(broken.any()).item():
        raise _malformed(path, layout)
    return _per_user(rows, dict(counts.iter_rows()), layout, movies)


def _per_user(
    rows: polars.DataFrame, counts: dict[int, int], layout: Layout, movies: Sequence[Movie]
) -> RatingTable:
    pl = load("polars")
    off = rows.filter(~pl.col("rating").is_between(layout.lowest, layout.highest))
    if len(off):
        row = off.sort("user", "movie").row(0, named=True)
        raise InputError(
            f"rating of movie {row['movie']} by user {row['user']} must be in "
            f"[{layout.lowest:g}, {layout.highest:g}], got {row['rating']:g}"
        )
    kept = rows.sort("user", "movie", "timestamp", "rating").unique(
        ["user", "movie"], keep="last", maintain_order=True
    )
    for movie in movies:
        if not counts.get(movie.id):
            raise InputError(f"movie {movie.title!r} must have been rated by somebody, got nobody")
    users, place = np.unique(kept["user"].to_numpy(), return_inverse=True)
    column = {movie.id: j for j, movie in enumerate(movies)}
    table = np.full((users.size, len(movies)), np.nan)
    table[place, [column[movie] for movie in kept["movie"].to_list()]] = kept["rating"].to_numpy()
    return RatingTable(users.astype(np.int64), table, counts, len(rows) - len(kept))


def _check_header(path: Path, layout: Layout) -> None:
    """Raise if the first line is not the layout's."""
    if not layout.header:
        return
    with path.open("rb") as file:
        first = file.readline().decode("utf-8-sig", "replace").strip()
    if first.replace('"', "") != HEADER:
        raise InputError(f"line 1 of {path.name} must be {HEADER!r}, got {first!r}")


def _malformed(path: Path, layout: Layout) -> InputError:
    """Find the first line that is not four numbers; only ever needed once there is one."""
    gap = re.escape("::" if layout.separator == ":" else layout.separator)
    number = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
    pattern = re.compile(rf"-?\d+{gap}-?\d+{gap}{number}{gap}-?\d+\s*".encode())
    with path.open("rb") as file:
        for place, line in enumerate(file, start=1):
            if (place > 1 or not layout.header) and not pattern.fullmatch(line):
                shown = line.decode(layout.encoding, "replace").rstrip("\r\n")
                return InputError(
                    f"line {place} of {path.name} must be user, movie, rating and timestamp, "
                    f"got {shown!r}"
                )
    return InputError(f"{path.name} must be readable as ratings")
