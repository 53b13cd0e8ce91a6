"""For people who serve decisions: ask, tell, snapshot, restore."""

from evenhand.agent.agent import Agent
from evenhand.agent.ledger import Decision, Receipt

__all__ = ["Agent", "Decision", "Receipt"]
