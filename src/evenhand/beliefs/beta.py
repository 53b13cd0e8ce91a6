"""A Beta posterior for each arm, which looks at no context."""

from __future__ import annotations

from evenhand.beliefs.belief import Belief

# Its sums are part of every state, and rewards are added to those in any case.
BETA = Belief("beta", "A Beta posterior for each arm; contexts are not looked at")
