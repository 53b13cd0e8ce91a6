"""evenhand simulate, as a user runs it."""

from __future__ import annotations

import json

import pytest

from evenhand import Results


def test_json_is_one_object_with_the_promised_keys(evenhand, file):
    done = evenhand("simulate", file, "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    document = json.loads(done.stdout)
    assert set(document) == {"policies", "optimum", "rounds_per_second"}
    best = document["optimum"]
    assert best["with_floors"] <= best["without_floors"]
    assert document["rounds_per_second"] > 0
    first = document["policies"][0]
    assert first["label"] == "TS [red], reflected"
    assert first["name"] == "tscsf-b"
    assert set(first["rates"]) == set(first["shortfall"]) == set(first["estimates"])
    assert set(first["rates"]) == {"a", "b", "c [x] :cat:"}
    assert first["regret"] == pytest.approx(best["with_floors"] - first["reward"])
    assert 0 < first["reward_standard_error"] < first["reward"] < 1.4


def test_json_tells_of_every_moment(evenhand, file):
    options = "--window", 20, "--tolerance", 0.5, "--burn-in", 30
    for given, marks in ((), (3.0, None)), (options, (0.5, 20)):
        done = evenhand("simulate", file, "--json", *given)
        for row in json.loads(done.stdout)["policies"]:
            found = row["anytime"]
            assert list(found) == [
                "largest_debt",
                "largest_debt_after",
                "burn_in",
                "share_behind",
                "tolerance",
                "longest_gap",
                "worst_window_shortfall",
                "window",
            ]
            assert set(found["longest_gap"]) == set(row["rates"])
            assert found["largest_debt"] >= found["largest_debt_after"] >= 0.0
            assert 0.0 <= found["share_behind"] <= 1.0
            assert found["tolerance"] == marks[0]
            assert marks[1] in (None, found["window"])


def test_a_window_longer_than_the_run_is_refused(evenhand, file):
    done = evenhand("simulate", file, "--window", 10**9)
    assert done.returncode == 2
    assert "window must be at most the horizon" in done.stderr


def test_json_says_what_the_tables_say(evenhand, file, tmp_path):
    done = evenhand("simulate", file, "--json", "--out", tmp_path / "out")
    results = Results.load(tmp_path / "out")
    for row in json.loads(done.stdout)["policies"]:
        label = row["label"]
        assert row["rates"] == pytest.approx(results.rates(label))
        assert row["shortfall"] == pytest.approx(results.shortfall(label))
        assert row["estimates"] == pytest.approx(results.mean_estimates(label))


@pytest.mark.parametrize("change", ["seed = 8", "seed = 7\ndelay = 50"])
def test_seed_and_delay_of_the_file_count(evenhand, file, change):
    before = json.loads(evenhand("simulate", file, "--json").stdout)["policies"]
    file.write_text(file.read_text().replace("seed = 7", change))
    after = json.loads(evenhand("simulate", file, "--json").stdout)["policies"]
    assert before[0]["estimates"] != after[0]["estimates"]


def test_many_policies_stay_readable(evenhand, file):
    more = "".join(f'[[policies]]\nname = "uniform"\nlabel = "uniform {i}"\n' for i in range(12))
    file.write_text(file.read_text() + more)
    assert "…" not in evenhand("simulate", file).stdout


def test_the_table_names_policies_and_arms_as_they_are(evenhand, file):
    done = evenhand("simulate", file)
    assert done.returncode == 0
    assert "TS [red], reflected" in done.stdout
    assert "c [x] :cat:" in done.stdout
    assert "shortfall" in done.stdout


def test_the_same_command_twice_gives_the_same_tables(evenhand, file, tmp_path):
    for name in ("one", "two"):
        assert evenhand("simulate", file, "--out", tmp_path / name).returncode == 0
    one, two = Results.load(tmp_path / "one"), Results.load(tmp_path / "two")
    assert one.rounds_table().equals(two.rounds_table())
    assert one.arms_table().equals(two.arms_table())


def test_one_replication_has_null_for_its_standard_error(evenhand, file):
    file.write_text(file.read_text().replace("replications = 4", "replications = 1"))
    document = json.loads(evenhand("simulate", file, "--json").stdout)
    assert document["policies"][0]["reward_standard_error"] is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("floor = 0.5", "floor = 1.5", "floor of arm 'a' must be a number in [0, 1], got 1.5"),
        ("plays = 2", "plays = 0", "plays must be a whole number of at least 1, got 0"),
        ("mean = 0.4", "mean = nan", "mean of arm 'a' must be a number in [0, 1], got nan"),
        ('"tscsf-b"', '"tscsf"', "unknown policy 'tscsf'; did you mean 'tscsf-b'?"),
        ("eta = 10", "eta = -1", "eta of policy 'tscsf-b' must be a number above 0"),
        ("plays = 2", "plays 2", "(at line 2, column 7)"),
    ],
)
def test_bad_input_is_one_line_a_code_of_2_and_nothing_written(
    evenhand, file, tmp_path, old, new, message
):
    file.write_text(file.read_text().replace(old, new, 1))
    done = evenhand("simulate", file, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("evenhand: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_full_output_folder_is_refused_unless_it_may_be_overwritten(evenhand, file, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "keep.txt").write_text("mine")
    done = evenhand("simulate", file, "--out", out)
    assert done.returncode == 2
    assert "must be empty or new" in done.stderr
    assert [path.name for path in out.iterdir()] == ["keep.txt"]
    assert evenhand("simulate", file, "--out", out, "--overwrite").returncode == 0
    assert (out / "rounds.parquet").exists()
    assert (out / "keep.txt").read_text() == "mine"


def test_a_file_without_policies_is_refused(evenhand, file):
    file.write_text(file.read_text().partition("[[policies]]")[0])
    done = evenhand("simulate", file)
    assert done.returncode == 2
    assert "at least one [[policies]] table" in done.stderr


def test_a_missing_file_is_named(evenhand, tmp_path):
    done = evenhand("simulate", tmp_path / "no.toml")
    assert done.returncode == 2
    assert "cannot read" in done.stderr
    assert "no.toml" in done.stderr


def test_options_stand_in_for_what_the_file_says(evenhand, file, tmp_path):
    given = ("--horizon", 30, "--replications", 3, "--seed", 9, "--out", tmp_path / "out")
    assert evenhand("simulate", file, *given).returncode == 0
    results = Results.load(tmp_path / "out")
    assert (results.horizon, results.replications) == (30, 3)
    assert results.provenance["settings"]["seed"] == 9
    for option, rule in (("--horizon", "horizon must be"), ("--replications", "replications must")):
        done = evenhand("simulate", file, option, 0)
        assert done.returncode == 2
        assert rule in done.stderr


def test_a_file_may_say_which_rounds_are_kept(evenhand, file, tmp_path):
    text = file.read_text(encoding="utf-8")
    file.write_text("checkpoints = [2, 3]\n" + text, encoding="utf-8")
    done = evenhand("simulate", file, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert len(Results.load(tmp_path / "out").rounds) <= 6
