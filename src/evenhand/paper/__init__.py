"""The paper's evaluation as data and small functions."""

from evenhand.paper._reproduction import Reproduction, reproduce
from evenhand.paper.settings import Plan, experiments

__all__ = ["Plan", "Reproduction", "experiments", "reproduce"]
