"""evenhand lab movielens, as a user runs it."""

from __future__ import annotations

import json

import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from evenhand.lab.paper.movielens import write_synthetic

    path = tmp_path_factory.mktemp("cli") / "sample"
    write_synthetic(path, ratings=20_000, users=3_000)
    return path


def test_json_has_the_promised_keys(evenhand, folder):
    done = evenhand("lab", "movielens", "run", "--path", folder, "--replications", 2, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert {"release", "users", "movies", "optimum", "policies"} <= set(document)
    assert document["note"] == "synthetic sample, not MovieLens"
    assert {"title", "ratings", "mean", "availability"} <= set(document["movies"][0])
    assert set(document["policies"][0]) == {"label", "regret", "rates", "estimates", "shortfall"}
    assert document["optimum"]["joint"]["feasible"] is True
    assert document["optimum"]["paper"]["feasible"] is False


def test_tables_and_three_figures_go_to_the_folder(evenhand, folder, tmp_path):
    out = tmp_path / "out"
    done = evenhand("lab", "movielens", "run", "--path", folder, "--replications", 2, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "synthetic sample, not MovieLens" in done.stdout
    assert "cannot all be kept" in done.stdout
    assert len(list((out / "figures").glob("*.png"))) == 3
    assert (out / "movies.json").exists()
    assert (out / "rounds.parquet").exists()


def test_titles_and_other_numbers_may_be_given(evenhand, folder):
    chosen = "Toy Story; Godfather, The (1972); 1214"
    options = ("--movies", chosen, "--plays", 1, "--floor", 0.1, "--eta", 10, "--json")
    done = evenhand("lab", "movielens", "run", "--path", folder, "--replications", 2, *options)
    document = json.loads(done.stdout)
    assert [movie["title"] for movie in document["movies"]] == [
        "Toy Story (1995)",
        "Godfather, The (1972)",
        "Alien (1979)",
    ]
    assert document["optimum"]["paper"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "exactly one of --path, --release and --ratings must be given"),
        (("--path", "/nowhere"), "must be a folder or zip"),
        (("--release", "ml-3m"), "unknown release"),
        (("--ratings", "/nowhere.csv"), "cannot read nowhere.csv"),
    ],
)
def test_bad_input_is_one_line_and_a_code_of_2(evenhand, options, message):
    done = evenhand("lab", "movielens", "run", *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--eta", "big"), "eta must be a number above 0"),
        (("--floor", "1.5"), "floor of arm"),
        (("--plays", "0"), "plays must be"),
        (("--order", "random"), "order must be one of"),
        (("--movies", "1,2,3"), "movie '2' must be in the release"),
    ],
)
def test_bad_choices_are_refused(evenhand, folder, options, message):
    done = evenhand("lab", "movielens", "run", "--path", folder, *options)
    assert done.returncode == 2
    assert message in done.stderr


def test_the_scale_counts_for_anybodys_ratings_too(evenhand, tmp_path):
    file = tmp_path / "r.csv"
    file.write_text("user,item,rating\na,x,2\nb,x,4\nb,y,1\nc,y,3\n")
    options = ("--ratings", file, "--plays", 1, "--floor", 0.1, "--replications", 2, "--json")
    means = {}
    for scale in ("five", "minmax"):
        done = evenhand("lab", "movielens", "run", *options, "--scale", scale)
        means[scale] = json.loads(done.stdout)["movies"][0]["mean_reward"]
    assert means == pytest.approx({"five": 0.6, "minmax": 2 / 3})
    assert (
        "scale must be one of"
        in evenhand("lab", "movielens", "run", *options, "--scale", "x").stderr
    )
    file.write_text("user,item,rating\na,x,9\nb,x,4\n")
    done = evenhand("lab", "movielens", "run", *options, "--scale", "five")
    assert "must be at most 5, got 9" in done.stderr


def test_a_sample_can_be_written_and_used(evenhand, tmp_path):
    done = evenhand("lab", "movielens", "generate", tmp_path / "s", "--ratings", 5_000)
    assert done.returncode == 0
    assert (tmp_path / "s" / "SYNTHETIC.txt").exists()
    assert evenhand("lab", "movielens", "generate", tmp_path / "s").returncode == 2
