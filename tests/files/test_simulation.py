"""Files for simulations: complete ones are understood, wrong ones refused with the reason."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evenhand import (
    Beta,
    DrawnContexts,
    Geometric,
    InputError,
    Joint,
    Recorded,
    RecordedContexts,
    Trace,
)
from evenhand.files import Settings, describe_environment, environment_from

HEAD = "plays = 1\nhorizon = 50\n"
ARMS = """
[[arms]]
name = "a"
mean = 0.4
availability = 0.9
[[arms]]
name = "b"
mean = 0.6
availability = 0.8
floor = 0.3
weight = 2
"""
BARE = ARMS.replace("availability = 0.9", "").replace("availability = 0.8", "")
POLICY = '[[policies]]\nname = "tscsf-b"\n'


@pytest.fixture
def load(tmp_path):
    def load(text):
        file = tmp_path / "file.toml"
        file.write_text(text, encoding="utf-8")
        return Settings.load(file)

    return load


def test_a_complete_file(load):
    settings = load(
        HEAD
        + "replications = 3\nseed = 7\ndelay = 2\n"
        + ARMS
        + '[[policies]]\nname = "tscsf-b"\neta = inf\ndebt = "reflected"\nlabel = "mine"\n'
        + '[[policies]]\nname = "lfg"\neta = "paper"\n'
    )
    assert settings.environment.problem.floors.tolist() == [0.0, 0.3]
    assert settings.environment.problem.weights.tolist() == [1.0, 2.0]
    assert settings.environment.means.tolist() == [0.4, 0.6]
    assert (settings.horizon, settings.replications, settings.seed) == (50, 3, 7)
    assert settings.delay == 2
    assert list(settings.policies) == ["mine", "lfg eta=paper"]
    assert settings.policies["mine"].eta == math.inf
    assert settings.policies["mine"].surplus == 0.0


def test_a_joint_table_beta_rewards_and_a_geometric_delay(load):
    settings = load(
        HEAD
        + "delay = { geometric = 3.5 }\n"
        + BARE
        + '[availability]\nsets = [["a", "b"], []]\nprobabilities = [0.5, 0.5]\n'
        + '[rewards]\nkind = "beta"\nconcentration = 20\n'
    )
    assert isinstance(settings.environment.availability, Joint)
    assert settings.environment.rewards == Beta(20)
    assert settings.delay == Geometric(3.5)


def test_a_trace_with_recorded_rewards_in_files_beside_it(load, tmp_path):
    (tmp_path / "awake.csv").write_text("\ufeffb,a\n1,0\n1,1\n\n", encoding="utf-8")
    (tmp_path / "rewards.csv").write_text("b,a\n0.5,\n1,0.25\n")
    settings = load(
        'plays = 1\n[[arms]]\nname = "a"\n[[arms]]\nname = "b"\n'
        + '[availability]\ntrace = "awake.csv"\n[rewards]\nrecorded = "rewards.csv"\n'
    )
    assert isinstance(settings.environment.availability, Trace)
    assert isinstance(settings.environment.rewards, Recorded)
    assert settings.environment.awake.members.tolist() == [[False, True], [True, True]]
    assert np.array_equal(settings.environment.means, [0.25, 0.75])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("plays = \n", r"not valid TOML: .*line 1, column 9"),
        (HEAD + "replicatons = 3\n" + ARMS, "unknown key in .* did you mean 'replications'"),
        (HEAD.replace("plays = 1", "plays = 0") + ARMS, "plays must be a whole number"),
        (HEAD + ARMS.replace("0.4", "1.4"), r"mean of arm 'a' must be .* got 1.4"),
        (HEAD + ARMS.replace("mean = 0.4", ""), "arm 'a' must have a value for 'mean'"),
        (HEAD + ARMS.replace("availability = 0.9", ""), "a value for 'availability'"),
        (HEAD + ARMS.replace('"b"', '"a"'), "arms must have different names, got 'a' twice"),
        (HEAD + ARMS.replace('"b"', '""'), "name of arm number 2 must be a non-empty string"),
        (HEAD + ARMS + POLICY + "eta = 0", "eta of policy 'tscsf-b' must be"),
        (HEAD + ARMS + POLICY + "etta = 1", "did you mean 'eta'"),
        (HEAD + ARMS + POLICY * 2, "policies must have different names"),
        (HEAD + ARMS + POLICY + "label = 3", "label of a policy must be a non-empty string"),
        (HEAD + ARMS + POLICY + "label = []", "label of a policy must be a non-empty string"),
        (HEAD + ARMS + '[rewards]\nrecorded = "r.csv"\nkind = "beta"\n', "unknown key of .*kind"),
        (HEAD + ARMS + "[[policies]]\neta = 1", r"each \[\[policies\]\] table must have a name"),
        (HEAD + ARMS + "[[policies]]\nname = 1", "name of a policy must be a string, got 1"),
        (HEAD + 'policies = ["lfg"]\n' + ARMS, "policies must be"),
        (HEAD + "availability = 0.3\n" + BARE, "availability must be a table"),
        (HEAD + BARE + "[availability]\nsets = []\n", "given by sets and probabilities"),
        (HEAD + ARMS + "[availability]\nsets = []\n", "arm 'a' must have no 'availability'"),
        (
            HEAD + BARE + '[availability]\nsets = [["a"]]\nprobabilities = [0.9]\n',
            "sum of the sets' probabilities must be 1, got 0.9",
        ),
        (HEAD + BARE + '[availability]\ntrace = "no.csv"\n', "cannot read .*no.csv"),
        (HEAD + BARE + '[availability]\ntrace = "\\u0000"\n', "cannot read"),
        (HEAD + ARMS + '[rewards]\nkind = "gamma"\n', "kind of .* must be one of"),
        (HEAD + 'rewards = "beta"\n' + ARMS, "rewards must be a table"),
        (HEAD + ARMS + "[rewards]\nconcentration = 3\n", "unknown key of .* 'concentration'"),
        (HEAD + "delay = -1\n" + ARMS, "delay must be"),
        (HEAD + "delay = { geometrc = 3 }\n" + ARMS, "did you mean 'geometric'"),
        (HEAD + "delay = { geometric = 'x' }\n" + ARMS, "mean of a geometric delay must be"),
        (HEAD.replace("50", "0") + ARMS, "horizon must be a whole number of at least 1, got 0"),
    ],
)
def test_wrong_files_are_refused(load, text, message):
    with pytest.raises(InputError, match=message):
        load(text)


@pytest.mark.parametrize(
    ("csv", "message"),
    [
        ("a,c\n1,0\n", "the columns of .* must be the arms a, b, got 'a, c'"),
        ("a,b\n1,0\n1\n", "line 3 of .* must be 2 fields wide, got 1"),
        ("a,b\n1,x\n", "line 2 of .* must be made of numbers"),
        ("a,b\n1,3\n", "entry of arm 'b' in round 1 must be 0 or 1, got 3"),
        ("a,b\n1," + "1" * 140_000, "cannot read"),
        ("a,b\n", "at least one round"),
        ("", "the columns of"),
    ],
)
def test_wrong_traces_are_refused(load, tmp_path, csv, message):
    (tmp_path / "awake.csv").write_text(csv)
    with pytest.raises(InputError, match=message):
        load("plays = 1\n" + BARE + '[availability]\ntrace = "awake.csv"\n')


CONTEXTUAL = """
plays = 1
horizon = 50
[features]
age = [0, 100]
evening = "yes/no"
land = ["de", "fr"]
{contexts}
[[arms]]
name = "news"
mean = {{by = "land", values = {{de = 0.2, fr = 0.6}}}}
availability = 0.9
[[arms]]
name = "film"
mean = {{logistic = {{intercept = -0.5, age = 1.5, "land=fr" = 0.5}}}}
availability = {{by = "evening", values = {{yes = 1.0, no = 0.5}}}}
[[arms]]
name = "local"
mean = {{linear = {{intercept = 0.5, evening = -0.25}}}}
availability = 0.8
"""
DRAWN = "[contexts]\nsample = 500\n[contexts.drawn]\nage = {mean = 40, sd = 20}\nevening = 0.25\n"
LISTED = """[contexts]
order = "resample"
recorded = [{age = 10, evening = true, land = "de"}, {age = 70, evening = false, land = "fr"}]
"""


@pytest.mark.parametrize("contexts", ["", DRAWN, LISTED], ids=["uniform", "drawn", "recorded"])
def test_a_world_with_contexts_is_read_and_written_back(load, tmp_path, contexts):
    environment = load(CONTEXTUAL.format(contexts=contexts)).environment
    kinds = {"": DrawnContexts, DRAWN: DrawnContexts, LISTED: RecordedContexts}
    assert isinstance(environment.contexts, kinds[contexts])
    rows = environment.contextual.coefficients
    assert rows[0].tolist() == [0.0, 0.0, 0.0, 0.2, 0.6]
    assert rows[1].tolist() == [-0.5, 1.5, 0.0, 0.0, 0.5]
    assert environment.contextual.logistic.tolist() == [False, True, False]
    assert environment.contextual.availability[1].tolist() == [0.75, 0.0, 0.25, 0.0, 0.0]
    again = environment_from(describe_environment(environment), tmp_path)
    for mine, theirs in zip(again.contextual, environment.contextual, strict=True):
        assert np.array_equal(mine, theirs)


def test_contexts_are_read_from_a_file_beside_it(load, tmp_path):
    lines = "age,land,evening,id\n25,de,yes,1\n75,fr,FALSE,2\n"
    (tmp_path / "visitors.csv").write_text(lines, encoding="utf-8")
    settings = load(
        CONTEXTUAL.format(contexts='[contexts]\nrecorded = "visitors.csv"').replace(
            "horizon = 50", "horizon = 2"
        )
    )
    assert settings.environment.contextual.recorded.tolist() == [
        [1.0, -0.5, 1.0, 1.0, 0.0],
        [1.0, 0.5, -1.0, 0.0, 1.0],
    ]


@pytest.mark.parametrize(
    ("contexts", "message"),
    [
        ("contexts = 3", "contexts must be a table"),
        ("[contexts]\ndrwan = {}", "unknown key of .contexts. 'drwan'; did you mean 'drawn'"),
        ("[contexts]\ndrawn = {}\nrecorded = []", "unknown key of .* 'drawn'"),
        ("[contexts]\ndrawn = {}\norder = 'replay'", "unknown key of .* 'order'"),
        ("[contexts]\nrecorded = 'none.csv'", "cannot read"),
        ("[contexts]\nrecorded = 'short.csv'", "all of age, evening, land, got 'no land'"),
        ("[contexts]\nrecorded = 'wrong.csv'", "'evening' in line 3 of .* must be one of yes, "),
        ("[contexts]\nrecorded = 'old.csv'", r"row 1 .*'age' of the context must be in .0, 100."),
        ("[contexts]\nsample = 0", "sample of contexts must be a whole number of at least 2"),
    ],
)
def test_wrong_contexts_are_refused(load, tmp_path, contexts, message):
    for name, lines in (
        ("short", "age,evening\n20,yes\n"),
        ("wrong", "age,evening,land\n20,yes,de\n30,maybe,fr\n"),
        ("old", "age,evening,land\n200,yes,de\n"),
    ):
        (tmp_path / f"{name}.csv").write_text(lines, encoding="utf-8")
    where = "" if contexts.startswith("[") else contexts
    text = CONTEXTUAL.format(contexts="" if where else contexts)
    with pytest.raises(InputError, match=message):
        load(f"{where}\n{text}")


def test_a_mean_is_a_number_or_says_how_it_depends(load):
    text = CONTEXTUAL.format(contexts="").replace("logistic =", "logit =")
    with pytest.raises(InputError, match=r"mean of arm 'film' must be a number, .linear"):
        load(text)
