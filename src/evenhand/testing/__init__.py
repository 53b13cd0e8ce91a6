"""The shared suites that our own policies, beliefs and stores pass, for authors of their own."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evenhand.testing._belief import check_belief
from evenhand.testing._policy import check_policy

if TYPE_CHECKING:
    from evenhand.testing._store import STORE_CHECKS, check_store

__all__ = ["STORE_CHECKS", "check_belief", "check_policy", "check_store"]


def __getattr__(name: str) -> Any:
    """Load the suite for stores when it is used: it needs the extra ``service``."""
    if name in ("STORE_CHECKS", "check_store"):
        return getattr(import_module("evenhand.testing._store"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
