"""For people who serve decisions: ask, tell, explain, snapshot, restore."""

from evenhand.agent._agent import Agent
from evenhand.agent._decision import Decision
from evenhand.agent._deltas import Deltas
from evenhand.agent._ledger import Receipt
from evenhand.agent._reasons import Reason

__all__ = ["Agent", "Decision", "Deltas", "Reason", "Receipt"]
