"""Plain functions as machine code: the only place that imports numba.

:func:`compiled` takes a plain function together with every plain function of this package that it
calls. Machine code is cached on disk; its name carries a digest of all the sources it was made
from, so that an edited function is never served stale.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

from evenhand.extras import load

Function = Callable[..., Any]


@cache
def compiled(function: Function, **given: Function) -> Function:
    """Return machine code for a plain function and for the plain functions that it calls.

    ``given`` stands in for globals of the same name. Needs the extra ``lab``.

    Examples
    --------
    >>> from evenhand.policies.steps import nth_largest
    >>> import numpy as np
    >>> compiled(nth_largest)(np.array([0.1, 0.9, 0.5]), 3, 2)
    0.5
    """
    scope = {**function.__globals__, **given}
    for name, called in _called(function, given).items():
        scope[name] = compiled(called)
    copy = FunctionType(function.__code__, scope, function.__name__)
    copy.__qualname__ = f"{function.__qualname__}_{digest(function, **given)}"
    # Without inlining, every call counts references on each array of each tuple it passes.
    machine: Function = load("numba").njit(
        copy, cache=True, nogil=True, forceinline=True, error_model="numpy"
    )
    return machine


def digest(function: Function, **given: Function) -> str:
    """Return a short digest of the sources of a function and of all that it calls."""
    parts = [inspect.getsource(function)]
    parts += [digest(called) for _, called in sorted(_called(function, given).items())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _called(function: Function, given: dict[str, Function]) -> dict[str, Function]:
    """Return the plain functions of this package that a function names."""
    scope = {**function.__globals__, **given}
    named = {name: scope[name] for name in function.__code__.co_names if name in scope}
    return {
        name: value
        for name, value in named.items()
        if isinstance(value, FunctionType) and value.__module__.partition(".")[0] == "evenhand"
    }
