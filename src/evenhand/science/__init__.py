"""Beside the paper: a study of all policies in many worlds, and checks against other people."""

from evenhand.science._checks import Effort
from evenhand.science._verification import Verification, verify_science

__all__ = ["Effort", "Verification", "verify_science"]
