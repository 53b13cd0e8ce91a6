"""What bandits may be called: names that need no quoting in an address."""

from __future__ import annotations

import re

BANDIT_PATTERN = "[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
BANDIT_NAME = re.compile(BANDIT_PATTERN)
# A step of an address that means another one: no name that stands in an address can be it.
DOTS = (".", "..")
BANDIT_RULE = "letters, digits, '.', '_' and '-', at most 100, a letter or digit first"
