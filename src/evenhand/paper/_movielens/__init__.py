"""The paper's application: movies recommended to MovieLens users."""

from evenhand.paper._movielens._experiment import (
    Choices,
    Data,
    MovieOutcome,
    load_items,
    load_release,
    run_movies,
)
from evenhand.paper._movielens._fetch import cached, fetch
from evenhand.paper._movielens._releases import RELEASES, TERMS
from evenhand.paper._movielens._sample import write_sample

__all__ = [
    "RELEASES",
    "TERMS",
    "Choices",
    "Data",
    "MovieOutcome",
    "cached",
    "fetch",
    "load_items",
    "load_release",
    "run_movies",
    "write_sample",
]
