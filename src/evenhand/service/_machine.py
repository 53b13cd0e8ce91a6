"""Machine code for decisions and optima, made ready beside the service: nobody waits for it.

The first time ever a policy takes half a minute to compile. That happens in a process of its own,
which leaves the code on the disk; a thread then loads it. Until then decisions are interpreted, and
are the same.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Callable

import msgspec
import numpy as np

from evenhand.core.nature import Awake
from evenhand.core.schema import new
from evenhand.core.state import State
from evenhand.learner.engine import PAYS_FROM
from evenhand.optimum.solver import solve
from evenhand.service._bandit import Bandit
from evenhand.service._bodies import Arm, BanditBody, Words
from evenhand.service._edition import Edition, first_edition
from evenhand.service._measured import Measured

# With fewer arms the optimum takes a few milliseconds as it is.
SOLVES_FROM = 50
log = logging.getLogger(__name__)


class Machine:
    """Knows for which policies there is machine code, and sees to it that there will be."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}
        self._compilers: set[subprocess.Popen[bytes]] = set()
        self._stopped, self._lock = False, threading.Lock()

    def ready(self, edition: Edition) -> bool:
        """Say whether a bandit can be served by machine code; if not, let it be made ready."""
        if len(edition.availability) < PAYS_FROM:
            return False
        # Parameters are numbers that machine code is given, but whether it forgets is part of it.
        forgets = edition.policy.get("half_life", "inf") != "inf"
        code = f"decisions by {edition.policy['name']}{', which forgets' if forgets else ''}"
        words = msgspec.json.encode(edition.policy)
        return self._is_ready(code, compile_policy, words)

    def ready_to_solve(self, edition: Edition) -> bool:
        """Say whether there is machine code for a bandit's optimum; if not, have it made ready."""
        many = len(edition.availability) >= SOLVES_FROM
        return many and self._is_ready("the optimum", compile_optimum)

    def _is_ready(self, code: str, make: Callable[..., None], *given: bytes) -> bool:
        with self._lock:
            if code not in self._known:
                self._known[code] = False
                given_too = (code, make, *given)
                threading.Thread(target=self._make_ready, args=given_too, daemon=True).start()
        return self._known[code]

    def stop(self) -> None:
        """Compile no more."""
        self._stopped = True
        for compiler in list(self._compilers):
            compiler.kill()

    def _make_ready(self, code: str, make: Callable[..., None], *given: bytes) -> None:
        called = f"{make.__name__}({', '.join(map(repr, given))})"
        program = f"from {__name__} import {make.__name__}; {called}"
        with subprocess.Popen([sys.executable, "-c", program]) as compiler:
            self._compilers.add(compiler)
            if self._stopped:
                compiler.kill()
        self._compilers.discard(compiler)
        if compiler.returncode == 0 and not self._stopped:
            make(*given)
            self._known[code] = True
        elif not self._stopped:
            log.warning("%s could not be compiled, and will be interpreted", code)


def compile_policy(words: bytes) -> None:
    """Compile decisions by a policy, or load their code."""
    arms = [Arm(str(i)) for i in range(PAYS_FROM)]
    policy = msgspec.json.decode(words, type=Words)
    Bandit(0, first_edition(BanditBody(arms, 1, policy)), True).decide_many(1)


def compile_optimum() -> None:
    """Compile what solves for the optimum and for the prices of a state, or load its code."""
    edition = first_edition(BanditBody([Arm("a", floor=0.5), Arm("b")], 1))
    solve(np.ones(2), np.zeros(2), 1, Awake(probabilities=np.ones(2)), compiled=True)
    Measured(edition, new(State, 2)).prices(compiled=True)
