"""For people who serve decisions: ask, tell, snapshot, restore."""

from evenhand.agent._agent import Agent
from evenhand.agent._ledger import Decision, Receipt

__all__ = ["Agent", "Decision", "Receipt"]
