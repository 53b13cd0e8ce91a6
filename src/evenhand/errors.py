"""Everything that evenhand raises on purpose.

::

    EvenhandError
    ├── InputError (also a ValueError)     something given breaks a stated rule
    │   ├── FeedbackError                  feedback that cannot belong to the decision it names
    │   └── SnapshotError                  a snapshot that is damaged or of another version
    ├── InfeasiblePromises                 promises that no policy could keep, with the proof
    │   └── InfeasibleFloors               floors that no policy could keep
    ├── ServiceError                       the service refused, or could not be reached
    └── MissingExtra (also an ImportError) a feature whose optional packages are not installed

A message names the thing, the rule and the value:
``floor of arm 'alien' must be in [0, 1], got 1.3``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

__all__ = [
    "Certificate",
    "EvenhandError",
    "FeedbackError",
    "InfeasibleFloors",
    "InfeasiblePromises",
    "InputError",
    "MissingExtra",
    "ServiceError",
    "SnapshotError",
]


class EvenhandError(Exception):
    """Base of every exception that evenhand raises on purpose."""


class InputError(EvenhandError, ValueError):
    """Something given breaks a stated rule; nothing was changed or written.

    Attributes
    ----------
    thing, rule, value
        The parts of the message: what must be how, and what it was; empty where it has no parts.
    """

    def __init__(self, message: str, *, thing: str = "", rule: str = "", value: str = "") -> None:
        super().__init__(message)
        self.thing, self.rule, self.value = thing, rule, value


class FeedbackError(InputError):
    """Feedback that cannot belong to the decision it names; nothing was learned."""


class SnapshotError(InputError):
    """A snapshot that is damaged or of a version this release cannot read."""


class MissingExtra(EvenhandError, ImportError):  # noqa: N818  (reads as what it is)
    """A feature whose optional packages are not installed; the message names the extra."""


class ServiceError(EvenhandError):
    """The service refused, or could not be reached.

    Attributes
    ----------
    status
        The HTTP status of the answer; 0 if there was none.
    problem
        What the service said, as RFC 9457 has it.
    """

    def __init__(
        self, message: str, status: int = 0, problem: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.problem = status, dict(problem or {})

    @property
    def passing(self) -> bool:
        """Whether it may be otherwise in a moment."""
        return self.status in (0, 408, 429) or self.status >= 500


class Certificate(NamedTuple):
    """Proof that promises cannot be kept: what some arms are promised, and what there is to give.

    ``promised`` and ``possible`` are plays a round of all these arms together (or reward a round).
    ``promises`` are the names of the promises that exclude each other, where there is more than
    floors: any of them dropped, the others can be kept. ``weights`` are what each of those that
    ask for more counts for in both numbers; 1 for all, as a rule.
    """

    arms: tuple[str, ...]
    promised: float
    possible: float
    promises: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()


class InfeasiblePromises(EvenhandError):  # noqa: N818  (reads as what it is)
    """Promises that no policy could keep.

    Attributes
    ----------
    certificate
        What excludes each other, how much is needed, and the most that can be given.
    floor_headroom
        The multiplier (below 1) to which all lower bounds would have to be scaled together.
    """

    def __init__(self, sentence: str, certificate: Certificate, floor_headroom: float) -> None:
        self.certificate = certificate
        self.floor_headroom = floor_headroom
        super().__init__(sentence)

    def __reduce__(self) -> tuple[Any, ...]:
        return InfeasiblePromises, (str(self), self.certificate, self.floor_headroom)

    def as_json(self) -> dict[str, Any]:
        """Return the error as plain data."""
        certificate: dict[str, Any] = {
            "arms": list(self.certificate.arms),
            "promised": self.certificate.promised,
            "possible": self.certificate.possible,
        }
        if self.certificate.promises:
            certificate["promises"] = list(self.certificate.promises)
        return {
            "feasible": False,
            "certificate": certificate,
            "floor_headroom": self.floor_headroom,
        }


class InfeasibleFloors(InfeasiblePromises):
    """Floors that no policy could keep.

    Attributes
    ----------
    certificate
        The arms concerned, what they are promised together and the most that can be given.
    floor_headroom
        The multiplier (below 1) to which all floors would have to be scaled.
    too_high
        Arms whose floor exceeds their own availability, with both numbers.
    """

    def __init__(
        self,
        certificate: Certificate,
        floor_headroom: float,
        too_high: Sequence[tuple[str, float, float]] = (),
    ) -> None:
        self.too_high = tuple(too_high)
        one = len(certificate.arms) == 1
        sentence = (
            f"The floors cannot all be kept: {_listed(certificate.arms)} "
            f"{'is' if one else 'are together'} promised {certificate.promised:.6g} plays a round, "
            f"but at most {certificate.possible:.6g} can be given."
        )
        for arm, floor, awake in self.too_high[:_FEW]:
            sentence += (
                f" The floor of arm {arm!r}, {floor:.6g}, exceeds its availability, {awake:.6g}."
            )
        super().__init__(sentence, certificate, floor_headroom)

    def __reduce__(self) -> tuple[Any, ...]:
        return InfeasibleFloors, (self.certificate, self.floor_headroom, self.too_high)


_FEW = 5


def _listed(arms: Sequence[str]) -> str:
    """Name a few arms.

    >>> _listed(["a", "b", "c"])
    "arms 'a', 'b' and 'c'"
    >>> _listed([str(i) for i in range(9)])
    "arms '0', '1', '2', '3', '4' and 4 others"
    """
    if len(arms) == 1:
        return f"arm {arms[0]!r}"
    if len(arms) <= _FEW:
        return "arms " + ", ".join(map(repr, arms[:-1])) + f" and {arms[-1]!r}"
    return "arms " + ", ".join(map(repr, arms[:_FEW])) + f" and {len(arms) - _FEW} others"
