"""Everything that evenhand raises on purpose.

::

    EvenhandError
    ├── InputError (also a ValueError)     something given breaks a stated rule
    │   ├── FeedbackError                  feedback that cannot belong to the decision it names
    │   └── SnapshotError                  a snapshot that is damaged or of another version
    └── MissingExtra (also an ImportError) a feature whose optional packages are not installed

A message names the thing, the rule and the value:
``floor of arm 'alien' must be in [0, 1], got 1.3``.
"""

from __future__ import annotations


class EvenhandError(Exception):
    """Base of every exception that evenhand raises on purpose."""


class InputError(EvenhandError, ValueError):
    """Something given breaks a stated rule; nothing was changed or written."""


class FeedbackError(InputError):
    """Feedback that cannot belong to the decision it names; nothing was learned."""


class SnapshotError(InputError):
    """A snapshot that is damaged or of a version this release cannot read."""


class MissingExtra(EvenhandError, ImportError):  # noqa: N818  (reads as what it is)
    """A feature whose optional packages are not installed; the message names the extra."""
