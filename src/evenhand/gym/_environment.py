"""The environment: see who is awake, give every arm a score, and be paid for the best of them."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import gymnasium
import numpy as np
from numpy.typing import NDArray

from evenhand.core.arrays import Floats, Integers
from evenhand.core.checks import Limits, check_choice, check_number, fail
from evenhand.core.contexts import apply_context
from evenhand.core.nature import change_nature, draw_awake, draw_rewards, own_nature
from evenhand.core.promises import PromiseArrays
from evenhand.core.round import StepOptions, learning_of, regress, round_of
from evenhand.core.round import score as keep_scores
from evenhand.environment import Environment
from evenhand.problem import Problem
from evenhand.promise_rows import arrays_of

ENVIRONMENT_ID = "evenhand/FairBandit-v0"
HORIZON = 1_000
MODES: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}
OPTIONS = StepOptions()
Observation: TypeAlias = dict[str, NDArray[Any]]
Action: TypeAlias = NDArray[Any]


class FairBanditEnv(gymnasium.Env[Observation, Action]):
    r"""The combinatorial sleeping bandit with floors, one round a step.

    An action is a score for every arm, any number: the best ``plays`` awake arms are played. The
    reward is

    .. math:: \sum_{i \in A(t)} w_i X_i(t) - c \sum_i \max(t k_i - h_i(t), 0)

    with the plays h_i so far and ``debt_cost`` c: with 0 the reward ignores the floors.
    An episode is truncated after ``horizon`` rounds, and never terminated. Where the problem has
    features, an observation has the encoded ``context`` of the next round, too. Where it promises
    more than floors, it has ``promise_debts``, one for each side of a promise; they count towards
    the sum above, and an arm with a score below 0 is not played.

    Parameters
    ----------
    environment
        Nature, :class:`~evenhand.Environment`; setting 1 of the paper if left out.
    horizon
        Rounds of an episode; 1,000, or those of a trace, if left out.
    debt_cost
        What a play that is owed costs in every round, at least 0.
    render_mode
        None, or ``"ansi"`` for a line a round.

    Examples
    --------
    >>> import gymnasium, evenhand.gym
    >>> env = gymnasium.make("evenhand/FairBandit-v0", horizon=3)
    >>> observation, _ = env.reset(seed=7)
    >>> sorted(observation)
    ['awake', 'debts', 'played', 'reward_sums']
    >>> for _ in range(3):
    ...     _, reward, terminated, truncated, info = env.step(observation["debts"])
    >>> terminated, truncated, len(info["chosen"]) <= 2
    (False, True, True)
    """

    metadata: dict[str, Any] = MODES
    _here: Integers

    def __init__(
        self,
        environment: Environment | None = None,
        horizon: int | None = None,
        debt_cost: float = 0.0,
        render_mode: str | None = None,
    ) -> None:
        nature = usual_environment() if environment is None else environment
        if not isinstance(nature, Environment):
            fail("environment", "an evenhand.Environment", environment)
        if horizon is None and nature.longest_horizon is None:
            horizon = HORIZON
        if render_mode is not None:
            check_choice("render_mode", render_mode, self.metadata["render_modes"])
        self.nature, self.horizon = nature, nature.check_horizon(horizon)
        self.debt_cost = check_number("debt_cost", debt_cost, Limits(0.0))
        self.render_mode = render_mode
        arms = len(nature.problem.arms)
        known = sum(count for _, count in nature.problem.priors.values())
        counts = gymnasium.spaces.Box(0.0, self.horizon + known, (arms,), np.float64)
        parts: dict[str, gymnasium.Space[Any]] = {
            "awake": gymnasium.spaces.MultiBinary(arms),
            "debts": counts,
            "played": counts,
            "reward_sums": counts,
        }
        if nature.problem.features:
            columns = len(nature.problem.features.columns)
            parts["context"] = gymnasium.spaces.Box(-1.0, 1.0, (columns,), np.float64)
        if nature.problem.rows.size:
            shape = (nature.problem.rows.size,)
            parts["promise_debts"] = gymnasium.spaces.Box(0.0, np.inf, shape, np.float64)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (arms,), np.float64)
        self.observation_space = cast("gymnasium.Space[Observation]", gymnasium.spaces.Dict(parts))
        promised = bool(nature.problem.rows.size)
        self._round = round_of(keep_scores, promised=promised, forbids=True)
        self._learn = learning_of(regress, promised=promised)
        self._begin()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        self._begin()
        self._begun = True
        self._wake()
        return self._seen(), self._told(())

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play the best awake arms by their scores, and draw the next round's awake arms."""
        problem, state, now = self.nature.problem, self._state, int(self._state.rounds[0])
        if not self._begun:
            fail("step", "one after a reset", "one before")
        if now >= self.horizon:
            fail("step", f"one of the {self.horizon} of an episode; reset begins another", now + 1)
        try:
            scores = np.asarray(np.asarray(action).real, dtype=np.float64)
        except (TypeError, ValueError):
            fail("action", "numbers", action)
        if scores.shape != (len(problem.arms),):
            fail("action", f"a score for each of the {len(problem.arms)} arms", scores.shape)
        rewards, scratch = np.empty((2, scores.size))
        draw_rewards(rewards, self._payoffs, now, self.np_random)
        given = scratch, state, problem.arrays, scores[self._here], scratch, OPTIONS
        chosen = np.empty_like(self._here)
        promises = self._promises
        count = self._round(chosen, self._here, *given, None, None, None, promises, self.np_random)
        chosen = chosen[:count]
        for arm in chosen:
            told = rewards[arm], now + 1, OPTIONS, None, self._context, promises
            self._learn(state, arm, *told, self.np_random)
        earned = float(problem.weights[chosen] @ rewards[chosen])
        truncated = now + 1 == self.horizon
        self._here = self._here[:0]
        if not truncated:
            self._wake()
        owed = float(np.maximum(state.debts, 0.0).sum() + self._promise_debts().sum())
        paid = earned - self.debt_cost * owed
        self._line = self._words(chosen, earned)
        return self._seen(), paid, False, truncated, self._told(chosen, earned)

    def render(self) -> str | None:
        """Return the last round in words, where that was asked for."""
        return self._line if self.render_mode == "ansi" else None

    def _begin(self) -> None:
        nature = self.nature
        self._awake, self._payoffs = own_nature(nature.awake, nature.payoffs)
        problem = nature.problem
        self._state = problem.first_state()
        self._promises = arrays_of(problem.rows, problem.weights, OPTIONS.surplus)
        self._context = np.ones(len(nature.problem.features.columns))
        self._here = np.empty(0, dtype=np.int64)
        self._line, self._begun = "no round has been played", False

    def _wake(self) -> None:
        """Draw the context and the awake arms of the next round."""
        now, changed, nature = int(self._state.rounds[0]), self.nature.changed, self.nature
        if nature.problem.features:
            given = nature.contextual, nature.problem.weights, now, self.np_random
            apply_context(self._context, self._awake, self._payoffs, *given)
        for number in np.flatnonzero(changed.starts == now).tolist():
            change_nature(self._awake, self._payoffs, changed, number)
        present = np.empty(self._state.debts.size, dtype=np.int64)
        self._here = present[: draw_awake(present, self._awake, now, self.np_random)]

    def _promise_debts(self) -> Floats:
        """Return how far each side of a promise beyond floors is behind."""
        if not isinstance(self._promises, PromiseArrays):
            return np.empty(0)
        debts: Floats = np.maximum(self._promises.debts, 0.0)
        return debts

    def _seen(self) -> Observation:
        awake = np.zeros(self._state.debts.size, dtype=np.int8)
        awake[self._here] = 1
        contextual = bool(self.nature.problem.features)
        return {
            **({"context": self._context.copy()} if contextual else {}),
            **({"promise_debts": debts} if (debts := self._promise_debts()).size else {}),
            "awake": awake,
            "debts": np.maximum(self._state.debts, 0.0),
            "played": self._state.played.astype(np.float64),
            "reward_sums": self._state.reward_sums.copy(),
        }

    def _told(self, chosen: Any, earned: float = 0.0) -> dict[str, Any]:
        arms = self.nature.problem.arms
        return {
            "chosen": [arms[i] for i in chosen],
            "earned": earned,
            "rounds": int(self._state.rounds[0]),
        }

    def _words(self, chosen: Any, earned: float) -> str:
        names = ", ".join(self.nature.problem.arms[i] for i in chosen) or "nobody"
        behind = max(float(self._state.debts.max()), 0.0)
        rounds = int(self._state.rounds[0])
        return f"round {rounds}: played {names}, earned {earned:g}, most behind {behind:.2f} plays"


def usual_environment() -> Environment:
    """Return setting 1 of the paper."""
    problem = Problem(3, plays=2, floors=[0.5, 0.6, 0.4])
    return Environment(problem, means=[0.4, 0.5, 0.7], availability=[0.9, 0.8, 0.7])


gymnasium.register(ENVIRONMENT_ID, entry_point="evenhand.gym:FairBanditEnv")
