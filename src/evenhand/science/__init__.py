"""Beside the paper: a study of all policies in many worlds, and checks against other people."""

from evenhand.science._verification import Verification, verify_science
from evenhand.science.checks import Effort

__all__ = ["Effort", "Verification", "verify_science"]
