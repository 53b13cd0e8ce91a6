"""A decision as the caller gets it, and as the decision log keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from evenhand.core.arrays import Floats, Integers
    from evenhand.learner.arm_table import ArmTable

End: TypeAlias = Literal["", "cancelled", "expired"]


@dataclass(frozen=True)
class Reason:
    """One awake arm's part in a decision, given the state before it.

    Attributes
    ----------
    arm, chosen
        Which arm, and whether it was played.
    estimate, low, high
        Its posterior mean, and the middle 95% of its posterior.
    sample
        What was drawn from it; None if nothing was: the policy draws none, all arms could be
        played, or the choice was by exploration.
    debt
        How many plays it was behind.
    price
        The price of its floor; None for policies that know no prices.
    score, rank
        By which it was chosen, and its rank, 1 for the best; None if there was no score.
    probability
        The probability with which it was to be chosen; None if the policy cannot tell.
    contributions
        What each feature, and the intercept, adds to the estimate (with the logistic belief, to its
        log-odds); None without a regression.
    bonuses
        What each promise beyond floors that the arm is in adds to the score; None if there are
        none, or if there was no score.
    """

    arm: str
    chosen: bool
    estimate: float
    low: float
    high: float
    sample: float | None
    debt: float
    price: float | None
    score: float | None
    rank: int | None
    probability: float | None
    contributions: dict[str, float] | None = None
    bonuses: dict[str, float] | None = None


class Decision:
    """The arms to play now, as an agent or the service has chosen them.

    Attributes
    ----------
    id
        What feedback must name: a number from 1 on, or the text that the service knows it by.
    round
        Which round it is: the decisions so far, without those that were cancelled.
    chosen
        The arms to play.
    reasons
        Why: one for every awake arm, if that was asked for.
    """

    __slots__ = ("_awake", "chosen", "id", "reasons", "round")

    def __init__(
        self,
        id: int | str,  # noqa: A002  (the attribute's name)
        round: int,  # noqa: A002
        chosen: tuple[str, ...],
        reasons: tuple[Reason, ...] = (),
        awake: tuple[Sequence[str], Any] = ((), None),
    ) -> None:
        self.id = id
        self.round = round
        self.chosen = chosen
        self.reasons = reasons
        self._awake = awake

    @property
    def awake(self) -> tuple[str, ...]:
        """The arms that could be played; empty where only the service knows them."""
        arms, indices = self._awake
        return tuple(arms) if indices is None else tuple(arms[i] for i in indices)

    def __repr__(self) -> str:
        return f"Decision(id={self.id!r}, round={self.round}, chosen={self.chosen})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decision) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash((self.id, self.round, self.chosen))

    def _facts(self) -> tuple[object, ...]:
        return self.id, self.round, self.chosen, self.awake, self.reasons


def id_of(decision: Decision | int | str) -> int | str:
    """Return the id of a decision, or the id that was given."""
    return decision.id if isinstance(decision, Decision) else decision


class Receipt(NamedTuple):
    """What became of feedback.

    ``learned``: taken in. ``repeated``: told before with the same value, so nothing changed.
    ``ignored``: the arm has retired since the decision.
    ``expired``: too late, for the decision has expired or has been forgotten.
    """

    decision_id: int | str
    learned: tuple[str, ...]
    repeated: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything was learned."""
        return bool(self.learned)


def awaited(chosen: Sequence[str], told: Mapping[str, float]) -> tuple[str, ...]:
    """Return the chosen arms whose rewards have not been told."""
    return tuple(arm for arm in chosen if arm not in told)


@dataclass(slots=True)
class DecisionRecord:
    """A decision as it is remembered.

    ``number`` counts decisions, ``round`` those that were not cancelled, and ``time`` is the round
    if none had been cancelled before, by which its rewards are weighed. ``table``, ``indices`` and
    ``awake`` say which arms were chosen and awake (None: everyone), and ``before`` what was owed to
    the chosen ones, where debts forget plays; ``owed`` is what was owed to promises beyond floors,
    if there are any, and ``context`` is the encoded one, if there was one.
    """

    number: int
    round: int
    time: int
    chosen: tuple[str, ...]
    indices: Integers
    table: ArmTable
    awake: bytes | None = None
    before: Floats | None = None
    context: Floats | None = None
    reasons: tuple[Reason, ...] | None = None
    rewards: list[float | None] | None = None
    end: End = ""
    owed: Floats | None = None

    @property
    def told(self) -> dict[str, float]:
        """The rewards told so far."""
        pairs = zip(self.chosen, self.rewards or (), strict=self.rewards is not None)
        return {arm: reward for arm, reward in pairs if reward is not None}

    def tell(self, rewards: Mapping[str, float]) -> None:
        """Note rewards as told."""
        known = self.rewards or [None] * len(self.chosen)
        pairs = zip(self.chosen, known, strict=True)
        self.rewards = [rewards.get(arm, before) for arm, before in pairs]
