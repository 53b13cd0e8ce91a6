"""The paper's application: movies recommended to MovieLens users."""

from evenhand.lab.paper.movielens._fetch import cached, fetch
from evenhand.lab.paper.movielens.experiment import (
    Choices,
    Data,
    MovieOutcome,
    load_items,
    load_release,
    run_movies,
)
from evenhand.lab.paper.movielens.releases import RELEASES, TERMS
from evenhand.lab.paper.movielens.synthetic import write_synthetic

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
    "write_synthetic",
]
