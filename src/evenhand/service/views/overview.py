"""All bandits at a glance: which floors are kept, and what needs attention."""

from __future__ import annotations

import threading

from evenhand.errors import Certificate, InfeasibleFloors
from evenhand.service.problems import ProblemError
from evenhand.service.schemas import CertificateResponse
from evenhand.service.stores.protocol import View
from evenhand.service.views.lookup import StoredBandit, find_bandit
from evenhand.service.views.measures import ENOUGH_ROUNDS, BanditMeasures, in_words
from evenhand.service.views.schemas import BanditSummaries, BanditSummary, BanditWarning


class OverviewCache:
    """The summaries of all bandits, each computed once per version."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[tuple[int, int], BanditSummary]] = {}

    def summaries(self, view: View) -> BanditSummaries:
        """Return the summaries of all bandits, by name."""
        heads = view.heads()
        with self._lock:
            known = {name: self._known[name] for name in heads if name in self._known}
            for name, head in heads.items():
                if name not in known or known[name][0] != head[:2]:
                    known[name] = head[:2], _summary(view, name)
            self._known = known
            return BanditSummaries([known[name][1] for name in sorted(known)])


def _summary(view: View, name: str) -> BanditSummary:
    """Return the summary of a bandit, which may be that it cannot be read."""
    try:
        return summary_of(name, find_bandit(view, name))
    except ProblemError as problem:
        warning = BanditWarning("unreadable", problem.details.detail)
        return BanditSummary(name, 0, 0, 0, 0, 0, 0, 0.0, 0, [warning])


def summary_of(name: str, bandit: StoredBandit) -> BanditSummary:
    """Return the summary of a bandit."""
    measures = BanditMeasures(bandit.config, bandit.counters.state)
    proof = measures.certificate()
    standings = measures.standings(proof)
    kept, behind, impossible = (
        sum(1 for one in standings if one == word) for word in ("kept", "behind", "impossible")
    )
    return BanditSummary(
        name,
        measures.rounds,
        len(standings),
        kept + behind + impossible,
        kept,
        behind,
        impossible,
        float(measures.debts.max()),
        int(bandit.counters.totals.pending.sum()),
        warnings_of(measures, bandit, proof),
    )


def warnings_of(
    measures: BanditMeasures, bandit: StoredBandit, proof: Certificate | None
) -> list[BanditWarning]:
    """Return what needs attention: infeasible floors, missing feedback."""
    found = []
    if proof is not None:
        detail = in_words(InfeasibleFloors(proof, 0.0))
        found.append(BanditWarning("floors-infeasible", detail, CertificateResponse.of(proof)))
    played, pending = int(measures.state.played.sum()), int(bandit.counters.totals.pending.sum())
    waits_forever = bandit.config.feedback.timeout_seconds is None
    if waits_forever and pending > max(played // 2, ENOUGH_ROUNDS):
        words = f"{pending} of {played} plays still await feedback, and no timeout is set."
        found.append(BanditWarning("feedback-missing", words))
    return found
