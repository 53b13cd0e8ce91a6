"""Machine code for decisions, made ready beside the service: nobody waits for a compiler.

The first time ever a policy takes half a minute to compile. That happens in a process of its own,
which leaves the code on the disk; a thread then loads it. Until then decisions are interpreted, and
are the same.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import threading

import msgspec

from evenhand.agent._desk import PAYS_FROM
from evenhand.service._bandit import Bandit
from evenhand.service._bodies import Arm, BanditBody, Words
from evenhand.service._edition import Edition, first_edition

log = logging.getLogger(__name__)


class Machine:
    """Knows for which policies there is machine code, and sees to it that there will be."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, bool], bool] = {}
        self._compilers: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def ready(self, edition: Edition) -> bool:
        """Say whether a bandit can be served by machine code; if not, let it be made ready."""
        if len(edition.availability) < PAYS_FROM:
            return False
        # Parameters are numbers that machine code is given, but whether it forgets is part of it.
        code = (str(edition.policy["name"]), edition.policy.get("half_life") is not None)
        if code not in self._known:
            self._known[code] = False
            words = msgspec.json.encode(edition.policy)
            threading.Thread(target=self._make_ready, args=(code, words), daemon=True).start()
        return self._known[code]

    def stop(self) -> None:
        """Compile no more."""
        self._stopped = True
        for compiler in list(self._compilers):
            compiler.kill()

    def _make_ready(self, code: tuple[str, bool], words: bytes) -> None:
        program = f"from {__name__} import compile_policy; compile_policy({words!r})"
        with subprocess.Popen([sys.executable, "-c", program]) as compiler:
            self._compilers.add(compiler)
            if self._stopped:
                compiler.kill()
        self._compilers.discard(compiler)
        if compiler.returncode == 0 and not self._stopped:
            compile_policy(words)
            self._known[code] = True
        elif not self._stopped:
            log.warning("policy %s could not be compiled: it is interpreted", words.decode())


def compile_policy(words: bytes) -> None:
    """Compile decisions by a policy, or load their code."""
    arms = [Arm(str(i)) for i in range(PAYS_FROM)]
    policy = msgspec.json.decode(words, type=Words)
    Bandit(0, first_edition(BanditBody(arms, 1, policy)), True).decide_many(1)
