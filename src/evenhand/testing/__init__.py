"""The checks that our own parts pass, for authors of their own."""

from evenhand.testing._policy import check_policy

__all__ = ["check_policy"]
