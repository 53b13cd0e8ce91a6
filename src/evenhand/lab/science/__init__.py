"""Science beside the paper: a study of all policies, and checks against other sources."""

from evenhand.lab.science.verification import Verification, verify_science

__all__ = ["Verification", "verify_science"]
