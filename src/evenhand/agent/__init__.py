"""For people who serve decisions: ask, tell, explain, snapshot, restore."""

from evenhand.agent._agent import Agent
from evenhand.agent._deltas import Deltas
from evenhand.learner.decision import Decision, Reason, Receipt

__all__ = ["Agent", "Decision", "Deltas", "Reason", "Receipt"]
