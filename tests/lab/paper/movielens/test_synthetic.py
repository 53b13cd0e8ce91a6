"""The generated sample: MovieLens' format, the wanted shares and means, and never mistaken."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from evenhand.lab.paper.movielens import load_release, write_synthetic
from tests.lab.paper.movielens.conftest import pack


def test_shares_and_means_are_near_what_was_wanted(tmp_path):
    write_synthetic(tmp_path / "s", ratings=300_000, users=50_000, seed=1)
    table = load_release(tmp_path / "s").table
    rated = ~np.isnan(table.ratings)
    assert rated.mean(axis=0) == pytest.approx([0.44, 0.52, 0.46, 0.48, 0.43], abs=0.02)
    means = np.nanmean(table.ratings, axis=0)
    assert means == pytest.approx([4.15, 4.24, 4.28, 4.53, 4.16], abs=0.03)
    assert len(pl.read_csv(tmp_path / "s" / "ratings.csv")) == 300_000


def test_users_tastes_make_awake_sets_dependent(generated):
    rated = ~np.isnan(load_release(generated).table.ratings)
    assert np.corrcoef(rated.T)[0, 1] != pytest.approx(0.0, abs=0.02)


def test_it_says_what_it_is_also_from_a_zip(generated, tmp_path):
    assert load_release(generated).note == "synthetic sample, not MovieLens"
    zipped = load_release(pack(generated, tmp_path / "s.zip"))
    assert zipped.note == "synthetic sample, not MovieLens"


def test_the_same_seed_writes_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        write_synthetic(tmp_path / name, ratings=5_000, seed=7)
    one, two = ((tmp_path / name / "ratings.csv").read_bytes() for name in ("one", "two"))
    assert one == two


def test_no_pair_of_user_and_movie_comes_twice(generated):
    rows = pl.read_csv(generated / "ratings.csv")
    assert len(rows.unique(["userId", "movieId"])) == len(rows)
