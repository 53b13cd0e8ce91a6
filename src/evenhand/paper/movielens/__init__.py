"""The paper's application: movies recommended to MovieLens users."""

from evenhand.paper.movielens._fetch import cached, fetch
from evenhand.paper.movielens.experiment import (
    Choices,
    Data,
    MovieOutcome,
    load_items,
    load_release,
    run_movies,
)
from evenhand.paper.movielens.releases import RELEASES, TERMS
from evenhand.paper.movielens.sample import write_sample

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
