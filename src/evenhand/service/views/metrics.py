"""Metrics for Prometheus: counts, latencies, and gauges of the bandits."""

from __future__ import annotations

import threading
from collections import Counter as Counts
from collections.abc import Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from evenhand.service.problems import ProblemError
from evenhand.service.schemas import FeedbackResult
from evenhand.service.stores.protocol import View
from evenhand.service.views.lookup import StoredBandit, find_bandit
from evenhand.service.views.measures import BanditMeasures

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PER_BANDIT = {
    "evenhand_largest_debt": "The largest debt of an arm, in plays.",
    "evenhand_largest_shortfall": "The largest shortfall of an arm: floor minus rate.",
    "evenhand_pending": "Plays that await feedback.",
}


class Metrics:
    """The metrics of this server and its bandits."""

    media_type = CONTENT_TYPE_PLAIN_0_0_4

    def __init__(self) -> None:
        self._registry, self._lock = CollectorRegistry(), threading.Lock()
        self._decisions = Counter(
            "evenhand_decisions_total",
            "Decisions: new ones, and repeated requests for the same id.",
            ["bandit", "outcome"],
            registry=self._registry,
        )
        self._feedback = Counter(
            "evenhand_feedback_total",
            "Items of feedback by outcome.",
            ["bandit", "outcome"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "evenhand_request_seconds",
            "How long requests took.",
            ["operation", "status"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._batches = Histogram(
            "evenhand_commit_batch_size",
            "Commands per commit.",
            buckets=SIZES,
            registry=self._registry,
        )
        self._failures = Counter(
            "evenhand_commit_failures_total", "Commits that failed.", registry=self._registry
        )
        # labels() takes a lock on every call.
        self._children: dict[tuple[object, ...], Any] = {}
        self._unreadable = Gauge(
            "evenhand_unreadable",
            "1 for a bandit that is damaged, or whose policy is not installed.",
            ["bandit"],
            registry=self._registry,
        )
        self._gauges = [
            Gauge(name, words, ["bandit"], registry=self._registry)
            for name, words in PER_BANDIT.items()
        ]

    def decisions(self, bandit: str, status: int) -> None:
        """Count a decision."""
        self._child(self._decisions, bandit, "made" if status == 201 else "repeated").inc()

    def feedback(self, bandit: str, results: Sequence[FeedbackResult]) -> None:
        """Count feedback."""
        for outcome, count in Counts(result.outcome for result in results).items():
            self._child(self._feedback, bandit, outcome).inc(count)

    def request(self, operation: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._child(self._seconds, operation, status).observe(seconds)

    def commit(self, size: int) -> None:
        """Count a commit; size 0 if it failed."""
        if size:
            self._batches.observe(size)
        else:
            self._failures.inc()

    def forget(self, bandit: str) -> None:
        """Drop the counts of a deleted bandit."""
        for metric, *labels in list(self._children):
            if labels[0] == bandit and metric in (self._decisions, self._feedback):
                del self._children[(metric, *labels)]
                metric.remove(*labels)

    def _child(self, metric: Any, *labels: object) -> Any:
        known = (metric, *labels)
        child = self._children.get(known)
        if child is None:
            child = self._children[known] = metric.labels(*labels)
        return child

    def page(self, view: View) -> bytes:
        """Return all metrics, with the present gauges of the bandits."""
        with self._lock:
            for gauge in self._gauges:
                gauge.clear()
            self._unreadable.clear()
            for name in view.names():
                try:
                    values = gauges(find_bandit(view, name))
                except ProblemError:
                    self._unreadable.labels(name).set(1)
                    continue
                for gauge, value in zip(self._gauges, values, strict=True):
                    gauge.labels(name).set(value)
            return generate_latest(self._registry)


def gauges(bandit: StoredBandit) -> tuple[float, float, int]:
    """Return the largest debt and shortfall of a bandit, and how many plays await feedback."""
    measures = BanditMeasures(bandit.config, bandit.counters.state)
    return (
        float(measures.debts.max()),
        float(measures.shortfalls.max()),
        int(bandit.counters.totals.pending.sum()),
    )
