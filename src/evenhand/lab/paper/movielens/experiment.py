"""The movie experiment: recommend up to m movies to each user, and each movie often enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.availability import Trace
from evenhand.core.arrays import Floats
from evenhand.core.checks import check_choice, check_whole, fail
from evenhand.environment import Environment
from evenhand.errors import InfeasibleFloors, InputError
from evenhand.lab.paper.movielens._catalogue import Movie, find_movies, read_movies
from evenhand.lab.paper.movielens._other import read_items
from evenhand.lab.paper.movielens.reader import RatingTable, open_release, read_ratings
from evenhand.lab.paper.movielens.releases import MARK, PAPER_MOVIES, SYNTHETIC
from evenhand.lab.paper.settings import FORMS, NAMES
from evenhand.optimum import Optimum
from evenhand.optimum.environment import find_optimum
from evenhand.policies import Policy, make_policy
from evenhand.policies.families import Eta
from evenhand.problem import Problem
from evenhand.results import Results
from evenhand.rewards import Recorded
from evenhand.simulation import simulate
from evenhand.simulation.run import MANY_CHECKPOINTS
from evenhand.sweeps import Grid

FIVE = 5.0
MOVIES = "movies"
PAPERS_ETA = "η paper"
NO_FLOORS = "η ∞"


@dataclass(frozen=True)
class Data:
    """Ratings of some movies, what they are called, and the scale they are on."""

    release: str
    note: str
    movies: Sequence[Movie]
    table: RatingTable
    lowest: float
    highest: float
    genre_shares: Floats | None

    def rewards(self, scale: str) -> Floats:
        """Return the ratings as rewards in [0, 1]: r / 5, or from the lowest to the highest."""
        low = self.lowest if scale == "minmax" else 0.0
        width = (self.highest if scale == "minmax" else FIVE) - low
        scaled: Floats = (self.table.ratings - low) / (width if width > 0.0 else 1.0)
        return scaled


@dataclass(frozen=True)
class Choices:
    """How to run the experiment; the defaults are the paper's."""

    plays: int = 2
    floor: float = 0.3
    eta: Eta = "paper"
    order: str = "dataset"
    scale: str = "five"
    replications: int = 20
    seed: int = 1


@dataclass(frozen=True)
class MovieOutcome:
    """What came out: the results, and the optimum in two ways.

    ``paper_scaled`` is the paper's own optimum with floors scaled down as far as it takes.
    """

    data: Data
    results: Results
    joint: Optimum | InfeasibleFloors
    paper: Optimum | InfeasibleFloors | None
    paper_scaled: float | None

    def as_json(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        results = self.results
        return {
            "release": self.data.release,
            "note": self.data.note,
            "users": int(self.data.table.users.size),
            "duplicates": self.data.table.duplicates,
            "movies": self._movies(),
            "optimum": {
                "joint": self.joint.as_json(),
                "paper": None if self.paper is None else self.paper.as_json(),
                "paper_scaled": self.paper_scaled,
            },
            "policies": [
                {
                    "label": label,
                    "regret": None
                    if results.with_floors is None
                    else float(results.regret(label).mean[-1]),
                    "rates": results.rates(label),
                    "estimates": results.mean_estimates(label),
                    "shortfall": results.shortfall(label),
                }
                for label in results.labels
            ],
        }

    def _movies(self) -> list[dict[str, Any]]:
        table = self.data.table
        rated = ~np.isnan(table.ratings)
        means = self.results.means.tolist()
        return [
            {
                "title": movie.title,
                "ratings": int(rated[:, j].sum()),
                "mean": float(np.nanmean(table.ratings[:, j])),
                "mean_reward": means[j],
                "availability": float(rated[:, j].mean()),
            }
            for j, movie in enumerate(self.data.movies)
        ]


def load_release(path: Path, wanted: Sequence[str] = ()) -> Data:
    """Read a release from its folder or zip; the paper's five movies by default."""
    titles = list(wanted) or [movie.title for movie in PAPER_MOVIES]
    with open_release(path) as (ratings, movies, layout):
        shelf = read_movies(movies, layout)
        chosen = find_movies(shelf, titles)
        table = read_ratings(ratings, layout, chosen)
        synthetic = (ratings.parent / MARK).exists()
    shares = None if wanted else genre_shares(shelf, table)
    name = path.name.removesuffix(".zip")
    note = SYNTHETIC if synthetic else ""
    return Data(name, note, chosen, table, layout.lowest, layout.highest, shares)


def load_items(path: Path, wanted: Sequence[str] = ()) -> Data:
    """Read anybody's CSV of user, item and rating; the five most rated items by default."""
    movies, table, lowest, highest = read_items(path, wanted)
    return Data(path.name, "", movies, table, lowest, highest, None)


def genre_shares(shelf: Sequence[Movie], table: RatingTable) -> Floats:
    """Return each of the paper's genres' share of the ratings of the five genres together."""
    counts = np.array(
        [
            sum(table.counts.get(movie.id, 0) for movie in shelf if wanted.genre in movie.genres)
            for wanted in PAPER_MOVIES
        ],
        dtype=np.float64,
    )
    shares: Floats = counts / max(counts.sum(), 1.0)
    return shares


def run_movies(data: Data, choices: Choices) -> MovieOutcome:
    """Run the experiment: both algorithms, both debts, the eta asked for and infinity."""
    check_choice("order", choices.order, ("dataset", "shuffled"))
    check_choice("scale", choices.scale, ("five", "minmax"))
    check_whole("replications", choices.replications, least=1)
    check_whole("seed", choices.seed, least=0)
    if choices.scale == "five" and data.highest > FIVE:
        fail("ratings to be scaled by r/5", f"at most {FIVE:g}", data.highest)
    if not data.table.users.size:
        raise InputError("users must have rated at least one of the movies, got no user")
    return outcome_of(data, choices, _simulate(data, choices))


def outcome_of(data: Data, choices: Choices, results: Results) -> MovieOutcome:
    """Return results together with the optimum in two ways."""
    environment = environment_of(data, choices)
    joint, (paper, scaled) = _optimum(environment), _paper_optimum(data, environment)
    return MovieOutcome(data, results, joint, paper, scaled)


def movie_grid(data: Data, choices: Choices) -> Grid:
    """Return the experiment, users in the order of the data, as a grid of one instance."""
    environment = environment_of(data, choices)
    return Grid(
        {MOVIES: environment},
        policies_of(choices.eta),
        environment.check_horizon(None),
        choices.replications,
        choices.seed,
        checkpoints=MANY_CHECKPOINTS,
    )


def environment_of(data: Data, choices: Choices, order: Any = None) -> Environment:
    """Return users as rounds: awake is what the user rated, the reward is the rating, scaled."""
    rewards = data.rewards(choices.scale)
    rewards = rewards if order is None else rewards[order]
    problem = Problem([m.title for m in data.movies], choices.plays, floors=choices.floor)
    trace = Trace(~np.isnan(rewards))
    return Environment(problem, availability=trace, rewards=Recorded(rewards))


def _simulate(data: Data, choices: Choices) -> Results:
    policies = policies_of(choices.eta)
    if choices.order == "dataset":
        environment = environment_of(data, choices)
        return simulate(environment, policies, replications=choices.replications, seed=choices.seed)
    parts = []
    for sequence in np.random.SeedSequence(choices.seed).spawn(choices.replications):
        order = np.random.default_rng(sequence).permutation(data.table.users.size)
        seed = int(sequence.generate_state(1)[0])
        parts.append(simulate(environment_of(data, choices, order), policies, seed=seed))
    stacked = Results.stacked(parts)
    settings = {
        **stacked.provenance["settings"],
        "replications": choices.replications,
        "seed": choices.seed,
        "order": "shuffled",
    }
    return replace(stacked, provenance={**stacked.provenance, "settings": settings})


def policies_of(eta: Eta) -> dict[str, Policy]:
    """Return TSCSF-B and LFG with both debts, at an eta and without floors."""
    shown = PAPERS_ETA if eta == "paper" else f"η {eta:g}"
    return {
        f"{words}, {debt}, {how}": make_policy(name, eta=value, debt=debt)
        for how, value in ((shown, eta), (NO_FLOORS, math.inf))
        for name, words in NAMES.items()
        for debt in FORMS
    }


def _optimum(environment: Environment) -> Optimum | InfeasibleFloors:
    try:
        return find_optimum(environment)
    except InfeasibleFloors as error:
        return error


def _paper_optimum(
    data: Data, environment: Environment
) -> tuple[Optimum | InfeasibleFloors | None, float | None]:
    """Return the optimum as the paper describes it: genre shares as independent availabilities.

    The second number is its value with the floors scaled down as far as it takes.
    """
    if data.genre_shares is None:
        return None, None
    problem, means = environment.problem, environment.means
    found = _optimum(Environment(problem, means, data.genre_shares))
    if isinstance(found, Optimum):
        return found, found.with_floors
    fitting = problem.floors * found.floor_headroom
    smaller = Problem(problem.arms, problem.plays, floors=fitting)
    return found, find_optimum(Environment(smaller, means, data.genre_shares)).with_floors
