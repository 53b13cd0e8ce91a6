"""The movie experiment: rounds are users, and the optimum is computed in two ways."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand import InfeasibleFloors, InputError
from evenhand.lab.paper.movielens import Choices, load_items, load_release, run_movies
from evenhand.lab.paper.movielens.drawing import belief


@pytest.fixture(scope="module")
def outcome(generated):
    return run_movies(load_release(generated), Choices(replications=4, seed=2))


def test_rounds_are_the_users_and_rewards_their_ratings(outcome):
    table = outcome.data.table
    assert outcome.results.horizon == table.users.size
    means = np.nanmean(table.ratings, axis=0) / 5
    told = [movie["mean_reward"] for movie in outcome.as_json()["movies"]]
    assert told == pytest.approx(means)


def test_min_max_scales_from_the_lowest_to_the_highest(generated):
    data = load_release(generated)
    assert np.nanmin(data.rewards("minmax")) >= 0.0
    assert data.rewards("minmax") == pytest.approx((data.table.ratings - 0.5) / 4.5, nan_ok=True)


def test_both_algorithms_both_debts_and_both_etas_are_run(outcome):
    labels = outcome.results.labels
    assert len(labels) == 8
    assert labels[0] == "TSCSF-B, cumulative, η paper"
    assert labels[-1] == "LFG, reflected, η ∞"


def test_floors_of_0_3_are_feasible_in_the_sets_that_occur(outcome):
    assert outcome.joint.floor_headroom > 1
    assert max(outcome.results.shortfall("TSCSF-B, cumulative, η paper").values()) < 0.005


def test_genre_shares_cannot_give_what_is_promised(outcome):
    """They add up to one, and the floors to 1.5."""
    assert isinstance(outcome.paper, InfeasibleFloors)
    assert outcome.paper.certificate.promised == pytest.approx(1.5)
    assert outcome.paper.certificate.possible < 1
    assert 0 < outcome.paper_scaled < 1


def test_lfgs_bound_is_its_formula(outcome):
    results, label = outcome.results, "LFG, reflected, η paper"
    index = results.labels.index(label)
    played = results.played[index].astype(float)
    means = (results.estimates[index] * (2 + played) - 1) / played
    radius = np.sqrt(3 * np.log(results.horizon + 1) / (2 * played))
    wanted = np.minimum(1.0, means + radius).mean(axis=0)
    assert belief(results, label, optimistic=True) == pytest.approx(wanted)


def test_shuffled_users_give_other_curves_but_the_same_optimum(generated, outcome):
    data = load_release(generated)
    shuffled = run_movies(data, Choices(order="shuffled", replications=3, seed=2))
    assert shuffled.joint.with_floors == pytest.approx(outcome.joint.with_floors)
    curves = shuffled.results.expected[0]
    assert not np.array_equal(curves[0], curves[1])
    assert shuffled.results.replications == 3


def test_the_same_seed_gives_the_same_results(generated):
    one, two = (
        run_movies(load_release(generated), Choices(replications=2, seed=5)).results.expected
        for _ in range(2)
    )
    assert np.array_equal(one, two)


def test_a_wrong_order_or_scale_is_refused(generated):
    data = load_release(generated)
    with pytest.raises(InputError, match="order must be one of"):
        run_movies(data, Choices(order="random"))
    with pytest.raises(InputError, match="scale must be one of"):
        run_movies(data, Choices(scale="ten"))


# Other people's ratings


def test_anybodys_ratings(tmp_path):
    file = tmp_path / "songs.csv"
    file.write_text("user,item,rating\nann,x,10\nbob,x,20\nbob,y,40\ncid,z,30\n")
    data = load_items(file)
    assert [movie.title for movie in data.movies] == ["x", "y", "z"]
    assert np.nanmax(data.rewards("minmax")) == 1.0
    outcome = run_movies(data, Choices(plays=1, floor=0.1, scale="minmax", replications=2))
    assert outcome.paper is None
    assert outcome.results.horizon == 3


def test_chosen_items_of_anybodys_ratings(tmp_path):
    file = tmp_path / "songs.csv"
    file.write_text("user,item,rating,timestamp\nann,x,1,5\nann,x,3,4\nbob,y,2,1\n")
    data = load_items(file, ["x"])
    assert data.table.ratings.tolist() == [[1.0]]
    assert data.table.duplicates == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user,rating\na,1\n", "must have the columns user, item and rating, got user, rating"),
        ("user,item,rating\na,x,1\nb,y,bad\n", "line 3 of .* got 'b,y,bad'"),
        ("user,item,rating\n", "must have at least one rating, got none"),
        ("user,item,rating\na,x,NaN\n", "line 2 of .* must have a user"),
        ("user,item,rating,timestamp\na,x,1,9\nb,y,2,z\n", "line 3 of .* timestamp"),
        ("user,item,rating\na,x,1\nb,,2\n", "line 3 of .* must have a user, an item"),
        ("user,item,rating\na,x,-1\n", "line 2 of .* a rating of at least 0"),
        ("", "cannot read"),
    ],
)
def test_bad_files_of_anybody(tmp_path, text, message):
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        load_items(tmp_path / "r.csv")


def test_halves_after_many_whole_ratings(tmp_path):
    lines = [f"u{i},x,{1 + i % 5}" for i in range(300)]
    (tmp_path / "r.csv").write_text("\n".join(["user,item,rating", *lines, "z,x,3.5"]) + "\n")
    assert load_items(tmp_path / "r.csv").table.ratings[-1, 0] == 3.5


def test_an_unknown_item_is_refused(tmp_path):
    (tmp_path / "r.csv").write_text("user,item,rating\na,song,1\n")
    with pytest.raises(InputError, match="unknown item 'sonk'; did you mean 'song'"):
        load_items(tmp_path / "r.csv", ["sonk"])
