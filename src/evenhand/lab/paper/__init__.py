"""The paper's evaluation as data and small functions."""

from evenhand.lab.paper._reproduction import Reproduction, claims_of, reproduce
from evenhand.lab.paper.settings import experiments

__all__ = ["Reproduction", "claims_of", "experiments", "reproduce"]
