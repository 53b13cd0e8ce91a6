"""For people who serve decisions: ask, tell, explain, snapshot, restore."""

from evenhand.agent._agent import Agent
from evenhand.agent._decision import Decision
from evenhand.learner.decision_log import Receipt
from evenhand.learner.deltas import Deltas
from evenhand.learner.reasons import Reason

__all__ = ["Agent", "Decision", "Deltas", "Reason", "Receipt"]
