"""Compiles decisions and optima in the background, so that no request waits for it.

The first compilation of a policy takes half a minute. A process of its own does it and leaves the
machine code on the disk; a thread then loads that. Until then decisions are interpreted, with the
same results.
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
from evenhand.service.engine.bandit import Bandit, EngineState
from evenhand.service.engine.config_version import ConfigVersion, first_config
from evenhand.service.schemas import ArmBody, BanditBody, PolicySpec
from evenhand.service.views.measures import BanditMeasures

# With fewer arms the optimum takes a few milliseconds without machine code.
SOLVES_FROM = 50
log = logging.getLogger(__name__)


class Precompiler:
    """Knows what is compiled already, and compiles what is asked for."""

    def __init__(self) -> None:
        self._known: dict[str, EngineState] = {}
        self._compilers: set[subprocess.Popen[bytes]] = set()
        self._stopped, self._lock = False, threading.Lock()

    def decides(self, config: ConfigVersion) -> EngineState:
        """Say whether decisions of a bandit are compiled; if not, start to compile them."""
        if len(config.availability) < PAYS_FROM:
            return "interpreted"
        # Parameters are arguments of the machine code, but whether a policy forgets is part of it.
        forgets = config.policy.get("half_life", "inf") != "inf"
        code = f"decisions by {config.policy['name']}{', with a half-life' if forgets else ''}"
        spec = msgspec.json.encode(config.policy)
        return self._state(code, compile_policy, spec)

    def solves(self, config: ConfigVersion) -> bool:
        """Say whether the optimum of a bandit is compiled; if not, start to compile it."""
        many = len(config.availability) >= SOLVES_FROM
        return many and self._state("the optimum", compile_optimum) == "compiled"

    def _state(self, code: str, make: Callable[..., None], *given: bytes) -> EngineState:
        with self._lock:
            if code not in self._known:
                self._known[code] = "compiling"
                arguments = (code, make, *given)
                threading.Thread(target=self._compile, args=arguments, daemon=True).start()
        return self._known[code]

    def stop(self) -> None:
        """Kill the compilers."""
        self._stopped = True
        for compiler in list(self._compilers):
            compiler.kill()

    def _compile(self, code: str, make: Callable[..., None], *given: bytes) -> None:
        call = f"{make.__name__}({', '.join(map(repr, given))})"
        program = f"from {__name__} import {make.__name__}; {call}"
        with subprocess.Popen([sys.executable, "-c", program]) as compiler:
            self._compilers.add(compiler)
            if self._stopped:
                compiler.kill()
        self._compilers.discard(compiler)
        if compiler.returncode == 0 and not self._stopped:
            make(*given)
            self._known[code] = "compiled"
        elif not self._stopped:
            self._known[code] = "interpreted"
            log.warning("%s could not be compiled, and will be interpreted", code)


def compile_policy(spec: bytes) -> None:
    """Compile decisions by a policy, or load their machine code."""
    arms = [ArmBody(str(i)) for i in range(PAYS_FROM)]
    policy = msgspec.json.decode(spec, type=PolicySpec)
    Bandit(0, first_config(BanditBody(arms, 1, policy)), "compiled").decide_many(1)


def compile_optimum() -> None:
    """Compile the optimum and the prices of a state, or load their machine code."""
    config = first_config(BanditBody([ArmBody("a", floor=0.5), ArmBody("b")], 1))
    solve(np.ones(2), np.zeros(2), 1, Awake(probabilities=np.ones(2)), compiled=True)
    BanditMeasures(config, new(State, 2)).prices(compiled=True)
