"""Policies of one's own: by a function or an entry point, then like the built-in ones."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

import numpy as np
import pytest

from evenhand import (
    Agent,
    Environment,
    Generated,
    Grid,
    InputError,
    Policy,
    Problem,
    make_policy,
    run_sweep,
    simulate,
)
from evenhand.core.arrays import Floats
from evenhand.core.schema import Column
from evenhand.files import policies_from
from evenhand.policies import register_policy, registered_policies, registry
from evenhand.sweeps._versions import matching_of


def score(scores, view, constants, memory, rng):
    for j in range(view.awake.size):
        scores[j] = -view.state.played[view.awake[j]]


@dataclass(frozen=True, kw_only=True)
class LeastPlayed(Policy):
    """Plays the arms that were played least."""

    name = "least played here"
    score = staticmethod(score)
    patience: float = 1.0


@pytest.fixture
def registered(monkeypatch):
    """A registry that forgets what the test puts into it."""
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    return register_policy(LeastPlayed)


def test_it_is_made_by_name_listed_and_read_from_files(registered):
    assert make_policy("least played here", patience=2) == LeastPlayed(patience=2)
    assert registered_policies()["least played here"] is LeastPlayed
    made = policies_from([{"name": "least played here", "patience": [1, 2]}])
    assert list(made) == ["least played here patience=1.0", "least played here patience=2.0"] or (
        list(made) == ["least played here patience=1", "least played here patience=2"]
    )
    with pytest.raises(InputError, match="did you mean 'patience'"):
        make_policy("least played here", patiense=1)


def test_an_agent_with_it_is_restored_from_its_snapshot(registered):
    agent = Agent(Problem(3, plays=1), "least played here", seed=1)
    for _ in range(5):
        agent.ask()
    again = Agent.restore(agent.snapshot())
    assert again.policy == LeastPlayed()
    assert [again.ask().chosen for _ in range(5)] == [agent.ask().chosen for _ in range(5)]


def test_it_is_swept_and_its_code_counts_when_a_sweep_is_resumed(registered, tmp_path):
    grid = Grid({"x": Generated(4, 2, 0.5, 1)}, ["least played here"], 50)
    assert run_sweep(grid, tmp_path / "out", backend="threads").complete
    about = json.loads((tmp_path / "out" / "sweep.json").read_text(encoding="utf-8"))
    assert "policy least played here" in about["matching"]
    about["matching"]["policy least played here"] = "edited"
    (tmp_path / "out" / "sweep.json").write_text(json.dumps(about))
    with pytest.raises(InputError, match=r"versions\.policy least played here is 'edited' there"):
        run_sweep(grid, tmp_path / "out", backend="threads", resume=True)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_is_no_number_counts_as_the_lowest_score(registered):
    """Reward over feedback is 0 / 0 at first: both arms are played all the same."""

    def mean(scores, view, constants, memory, rng):
        for j in range(view.awake.size):
            i = view.awake[j]
            scores[j] = view.state.reward_sums[i] / view.state.feedbacks[i]

    kind = register_policy(made(score=staticmethod(mean)))
    environment = Environment(Problem(3, plays=1), [0.2, 0.5, 0.8], 1.0)
    one, two = (
        simulate(environment, [kind()], horizon=60, seed=3, engine=engine)
        for engine in ("compiled", "reference")
    )
    assert one.played.sum() == 60
    np.testing.assert_array_equal(one.played, two.played)


def test_the_code_of_its_class_counts_too():
    plain, other = made(), made(constants=lambda self, situation: Patience(2.0))
    codes = {
        matching_of(Grid({"x": Generated(4, 2, 0.5, 1)}, [kind()], 5))["policy made"]
        for kind in (plain, other)
    }
    assert len(codes) == 2


class Patience(NamedTuple):
    rounds: float


class Taken(NamedTuple):
    played: Annotated[Floats, Column("arm")]


class Fading(NamedTuple):
    seen: Annotated[Floats, Column("arm", fades=True)]


def made(**changes):
    """A class like the good one, but for something."""
    return dataclass(frozen=True, kw_only=True)(
        type(
            "Made",
            (Policy,),
            {"name": "made", "score": staticmethod(score), "__module__": __name__, **changes},
        )
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: 3, "must be a class derived from Policy, got 3"),
        (lambda: int, "must be a class derived from Policy"),
        (lambda: type("Bare", (Policy,), {"name": "bare"}), "must be a frozen dataclass"),
        (lambda: made(name=""), "must be a non-empty string"),
        (lambda: made(name="priced"), "must be not that of evenhand.policies.priced.Priced"),
        (lambda: made(score=staticmethod(lambda scores: None)), "must be a function of"),
        (lambda: made(score=score), "must be a staticmethod"),
        (lambda: made(memory=list), "must be a NamedTuple whose arrays are Annotated"),
        (lambda: made(memory=Patience), "must be a NamedTuple whose arrays are Annotated"),
        (lambda: made(memory=Taken), "of names that the state does not have, got 'played'"),
        (lambda: made(memory=Fading), "of arrays that do not fade, got 'seen'"),
        (
            lambda: made(label="x", __annotations__={"label": str}),
            "not called name or label",
        ),
        (
            lambda: made(x=field(), __annotations__={"x": float}),
            "a score and a default for every parameter",
        ),
    ],
)
def test_what_is_no_policy_is_refused(registered, wrong, message):
    with pytest.raises(InputError, match=message):
        register_policy(wrong())


ENTRY = """
from dataclasses import dataclass
from evenhand import Policy

def score(scores, view, constants, memory, rng):
    for j in range(view.awake.size):
        scores[j] = rng.random()

@dataclass(frozen=True, kw_only=True)
class Chance(Policy):
    '''Plays whatever chance says.'''

    name = "chance"
    score = staticmethod(score)
"""


def test_an_installed_package_adds_its_policies_to_the_command_line(tmp_path):
    """Installed as pip would: a module, and metadata that names the entry points."""
    (tmp_path / "chances.py").write_text(ENTRY)
    info = tmp_path / "chances-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: chances\nVersion: 1.0\n")
    names = "chance = chances:Chance\nbroken = chances:NotThere\n"
    (info / "entry_points.txt").write_text(f"[evenhand.policies]\n{names}")
    file = tmp_path / "file.toml"
    file.write_text(
        "plays = 1\nhorizon = 50\n[[arms]]\nname = 'a'\nmean = 0.5\navailability = 0.9\n"
        "[[arms]]\nname = 'b'\nmean = 0.5\navailability = 0.9\n[[policies]]\nname = 'chance'\n"
    )
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); "
        "from evenhand.__main__ import main; main()"
    )

    def run(*arguments):
        command = [sys.executable, "-c", program, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    listed = run("policies")
    assert "Plays whatever chance says" in listed.stdout
    assert "policy 'broken' of 'chances:NotThere' is left out" in listed.stderr
    assert run("simulate", file).returncode == 0
    out = tmp_path / "out"
    done = run("sweep", file, "--out", out)
    assert done.returncode == 0, done.stderr
