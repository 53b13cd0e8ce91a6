"""A release's list of movies: found by id, or by title and year."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from evenhand.errors import InputError
from evenhand.lab.paper.movielens.releases import GENRES_100K, Layout


class Movie(NamedTuple):
    """A movie's id in its release, its title with the year, and its genres."""

    id: int
    title: str
    genres: tuple[str, ...]


def read_movies(path: Path, layout: Layout) -> list[Movie]:
    """Read ``movies.csv``, ``movies.dat`` or ``u.item``: UTF-8, or Latin-1 as older ones are."""
    for encoding in ("utf-8-sig", "latin-1"):
        try:
            with path.open(newline="", encoding=encoding) as file:
                return [_movie(path, number, row) for number, row in _rows(file, layout)]
        except UnicodeDecodeError:
            continue
        except (OSError, csv.Error) as error:
            raise InputError(f"cannot read {path.name}: {error}") from None
    raise InputError(f"cannot read {path.name}: neither UTF-8 nor Latin-1")


def _rows(file: Iterable[str], layout: Layout) -> Iterable[tuple[int, list[str]]]:
    if layout.separator == ",":
        rows: Iterable[list[str]] = csv.reader(file)
    elif layout.separator == ":":
        rows = (line.rstrip("\r\n").split("::") for line in file)
    else:
        rows = (line.rstrip("\r\n").split("|") for line in file)
    numbered = enumerate(rows, start=1)
    return ((n, row) for n, row in numbered if row and not (layout.header and n == 1))


def _movie(path: Path, number: int, row: list[str]) -> Movie:
    try:
        flags = row[5:]
        if len(flags) == len(GENRES_100K):
            pairs = zip(GENRES_100K, flags, strict=True)
            return Movie(int(row[0]), row[1], tuple(g for g, flag in pairs if flag == "1"))
        return Movie(int(row[0]), row[1], tuple(row[2].split("|")))
    except (IndexError, ValueError):
        raise InputError(
            f"line {number} of {path.name} must be an id, a title and genres, got {row!r}"
        ) from None


def find_movies(movies: Sequence[Movie], wanted: Sequence[str]) -> list[Movie]:
    """Return the movies wanted, each by id or by title (with or without the year).

    >>> shelf = [Movie(1, "Toy Story (1995)", ("Comedy",)), Movie(7, "Heat (1995)", ("Crime",))]
    >>> [movie.id for movie in find_movies(shelf, ["heat (1995)", "1"])]
    [7, 1]
    """
    found = [_find(movies, text.strip()) for text in wanted]
    for movie in found:
        if found.count(movie) > 1:
            raise InputError(f"movies must be different, got {movie.title!r} twice")
    return found


def _find(movies: Sequence[Movie], text: str) -> Movie:
    low = text.casefold()
    matches = (
        [movie for movie in movies if text.isdecimal() and movie.id == int(text)]
        or [movie for movie in movies if movie.title.casefold() == low]
        or [movie for movie in movies if movie.title.casefold().startswith(low + " (")]
    )
    if len(matches) == 1:
        return matches[0]
    if matches:
        listed = "; ".join(f"{movie.id}: {movie.title}" for movie in matches)
        raise InputError(f"movie {text!r} must be one movie, got several: {listed}")
    near = get_close_matches(text, [movie.title for movie in movies], n=3)
    hint = f"; did you mean {', '.join(map(repr, near))}?" if near else ""
    raise InputError(f"movie {text!r} must be in the release{hint}")
