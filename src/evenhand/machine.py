"""Plain functions as machine code: the only place that imports numba.

:func:`compiled` takes a plain function together with every plain function of this package that it
calls. Machine code is cached on disk; its name carries a digest of all the sources it was made
from, so that an edited function is never served stale.
"""

from __future__ import annotations

import dis
import hashlib
import inspect
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

from evenhand.extras import load

Function = Callable[..., Any]
LARGE = 400


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
    options = {"nogil": True, "forceinline": True, "error_model": "numpy"}
    njit = load("numba").njit
    try:
        machine: Function = njit(copy, cache=True, **options)
    except RuntimeError:  # typed at a prompt: there is no file beside which to cache
        machine = njit(copy, **options)
    return machine


def suited(function: Function, arms: int) -> Function:
    """Interpret for few arms, compile for many: the bits are the same, the waiting is not."""
    return compiled(function) if arms > LARGE else function


def digest(function: Function, **given: Function) -> str:
    """Return a short digest of a function, the constants it reads and the functions it calls."""
    parts = [_source(function)]
    parts += [f"{name} = {value!r}" for name, value in _constants(function, given).items()]
    parts += [digest(called) for _, called in sorted(_called(function, given).items())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _source(function: Function) -> str:
    try:
        return inspect.getsource(function)
    except OSError:
        code = function.__code__
        return repr((code.co_code, code.co_names, code.co_consts))


def _named(function: Function, given: dict[str, Function]) -> dict[str, Any]:
    """Return the globals that a function names (attributes of the same name are not globals)."""
    scope = {**function.__globals__, **given}
    loaded = {
        part.argval for part in dis.get_instructions(function) if part.opname == "LOAD_GLOBAL"
    }
    return {name: scope[name] for name in sorted(loaded) if name in scope}


def _constants(function: Function, given: dict[str, Function]) -> dict[str, Any]:
    """Return the constants that a function reads."""
    named = _named(function, given).items()
    return {name: value for name, value in named if isinstance(value, bool | int | float | str)}


def _called(function: Function, given: dict[str, Function]) -> dict[str, Function]:
    """Return the plain functions named by one: given, its neighbours, or of this package."""
    return {
        name: value
        for name, value in _named(function, given).items()
        if isinstance(value, FunctionType)
        and (
            name in given
            or value.__module__ == function.__module__
            or value.__module__.partition(".")[0] == "evenhand"
        )
    }
