"""Plain functions as machine code: the only place that imports numba.

:func:`compiled` takes a plain function together with every plain function that it calls, of
whichever module. Machine code is cached on disk; its name carries a digest of all the sources it
was made from, so that an edited function is never served stale.
"""

from __future__ import annotations

import ast
import builtins
import copy
import dis
import hashlib
import inspect
import sys
import textwrap
from collections.abc import Callable
from functools import cache
from types import CellType, FunctionType
from typing import Any

import numpy as np

from evenhand.core.checks import fail
from evenhand.core.extras import load

Function = Callable[..., Any]
Maker = Callable[[Function], Function]
LARGE = 400
CONSTANTS = (bool, int, float, str, tuple, np.ndarray)
KNOWN_TO_NUMBA = {*sys.stdlib_module_names, "numba", "numpy", "scipy"}


@cache
def compiled(function: Function, **given: Any) -> Function:
    """Return machine code for a plain function and for the plain functions that it calls.

    ``given`` stands in for globals of the same name. Default arguments are kept, and what the
    function has from an enclosing one counts as constant. Needs the extra ``lab``.

    Examples
    --------
    >>> from evenhand.core.choosing import nth_largest
    >>> import numpy as np
    >>> compiled(nth_largest)(np.array([0.1, 0.9, 0.5]), 3, 2)
    0.5
    """
    if function.__code__.co_kwonlyargcount:
        fail(f"function {function.__name__!r}", "without keyword-only arguments", "some")
    scope = {**function.__globals__, **given}
    for name, called in _called(function, given).items():
        scope[name] = compiled(called)
    own = FunctionType(
        function.__code__,
        scope,
        function.__name__,
        function.__defaults__,
        _compiled_cells(function),
    )
    own.__qualname__ = f"{function.__qualname__}_{digest(function, **given)}"
    # Without inlining, every call counts references on each array of each tuple it passes.
    options = {"nogil": True, "forceinline": True, "error_model": "numpy"}
    njit = load("numba").njit
    try:
        machine: Function = njit(own, cache=True, **options)
    except RuntimeError:  # typed at a prompt: there is no file beside which to cache
        machine = njit(own, **options)
    return machine


def interpreted(function: Function, **given: Any) -> Function:
    """Return a plain function in which ``given`` stands in for globals of the same name."""
    if not given:
        return function
    scope = {**function.__globals__, **given}
    own = FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    own.__dict__.update(function.__dict__)
    return own


@cache
def inlined(function: Function, name: str, called: Function) -> Function:
    """Return a plain function with the body of another one in place of ``target = name(...)``.

    A nested call costs machine code a reference count for every array of every tuple that it
    passes, which in a loop of nanoseconds is most of the time. The call's arguments are names, or a
    NamedTuple made of names; the function that is called returns at its end, or nothing at all. A
    function that cannot be inlined, since it returns in between for instance, is called.
    """
    body = _parsed(called)
    if not _is_simple(called, body):
        return interpreted(function, **{name: called})
    caller = _Inline(name, body, function.__globals__).visit(_parsed(function))
    source = ast.unparse(ast.fix_missing_locations(caller))
    needed = {f"{name}_{key}": value for key, value in _named(called, {}).items()}
    scope = {**function.__globals__, **needed}
    exec(compile(source, function.__code__.co_filename, "exec"), scope)
    made: Any = scope[function.__name__]
    made.source = source
    return made  # type: ignore[no-any-return]


def _is_simple(called: Function, body: ast.FunctionDef) -> bool:
    """Say whether a function's body can stand where it is called."""
    inner = (node for step in body.body[:-1] for node in ast.walk(step))
    plain = not called.__closure__ and not called.__defaults__ and called.__name__ != "<lambda>"
    nested = (ast.Return, ast.FunctionDef, ast.Lambda, ast.ListComp, ast.GeneratorExp)
    return plain and not any(isinstance(node, nested) for node in inner)


class _Inline(ast.NodeTransformer):
    """Puts a function's body where it is called; its own names begin with the function's."""

    def __init__(self, name: str, body: ast.FunctionDef, scope: dict[str, Any]) -> None:
        self._name, self._body, self._scope = name, body, scope

    def visit_Assign(self, node: ast.Assign) -> Any:
        if not self._is_call(node.value):
            return node
        *steps, last = self._steps(node.value)
        return [*steps, ast.Assign(node.targets, last.value)]

    def visit_Expr(self, node: ast.Expr) -> Any:
        return self._steps(node.value) if self._is_call(node.value) else node

    def _is_call(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and ast.unparse(node.func) == self._name

    def _steps(self, call: Any) -> list[Any]:
        taken = zip((argument.arg for argument in self._body.args.args), call.args, strict=True)
        rename = _Rename(self._name, dict(taken), self._scope)
        return [rename.visit(copy.deepcopy(step)) for step in self._body.body]


class _Rename(ast.NodeTransformer):
    """Gives parameters the names of the arguments, and all else a name of its own."""

    def __init__(self, prefix: str, given: dict[str, ast.expr], scope: dict[str, Any]) -> None:
        self._prefix, self._given, self._scope = prefix, given, scope

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if hasattr(builtins, node.id):
            return node
        return self._given.get(node.id) or ast.Name(f"{self._prefix}_{node.id}", node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Return a part of a NamedTuple that the call makes as what it is made of."""
        made = self._given.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if isinstance(made, ast.Call):
            fields = self._scope[ast.unparse(made.func)]._fields
            part: ast.expr = made.args[fields.index(node.attr)]
            return part
        return ast.Attribute(self.visit(node.value), node.attr, node.ctx)


def _parsed(function: Function) -> ast.FunctionDef:
    found = ast.parse(textwrap.dedent(_source(function))).body[0]
    assert isinstance(found, ast.FunctionDef)
    return found


def maker(machine: bool) -> Maker:
    """Return what makes functions ready: by compiling them, or by leaving them as they are.

    >>> maker(False)(len)
    <built-in function len>
    """
    return compiled if machine else interpreted


def compiled_if_large(function: Function, arms: int) -> Function:
    """Interpret for few arms, compile for many: the bits are the same, the waiting is not."""
    return maker(arms > LARGE)(function)


def digest(function: Function, **given: Any) -> str:
    """Return a short digest of a function, the constants it reads and the functions it calls."""
    parts = [_source(function), repr(function.__defaults__)]
    parts += [f"{name} = {_exact(value)}" for name, value in _constants(function, given).items()]
    parts += [digest(called) for _, called in sorted(_called(function, given).items())]
    parts += [
        digest(value) if isinstance(value, FunctionType) else f"{name} = {_exact(value)}"
        for name, value in _enclosed(function).items()
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _exact(value: object) -> str:
    """Return a constant with nothing left out: NumPy abbreviates long arrays."""
    if isinstance(value, np.ndarray):
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"{value.dtype} {value.shape} {content}"
    return repr(value)


def _enclosed(function: Function) -> dict[str, Any]:
    """Return what a function has from the function around it."""
    cells = function.__closure__ or ()
    return {
        name: cell.cell_contents
        for name, cell in zip(function.__code__.co_freevars, cells, strict=True)
    }


def _compiled_cells(function: Function) -> tuple[CellType, ...] | None:
    """Return a function's closure, with machine code in place of plain functions."""
    if not function.__closure__:
        return None
    return tuple(
        CellType(compiled(value) if isinstance(value, FunctionType) else value)
        for value in _enclosed(function).values()
    )


def _source(function: Function) -> str:
    if hasattr(function, "source"):
        return str(function.source)
    try:
        return inspect.getsource(function)
    except OSError:
        code = function.__code__
        return repr((code.co_code, code.co_names, code.co_consts))


def _named(function: Function, given: dict[str, Any]) -> dict[str, Any]:
    """Return the globals that a function names (attributes of the same name are not globals)."""
    scope = {**function.__globals__, **given}
    loaded = {
        part.argval for part in dis.get_instructions(function) if part.opname == "LOAD_GLOBAL"
    }
    return {name: scope[name] for name in sorted(loaded) if name in scope}


def _constants(function: Function, given: dict[str, Any]) -> dict[str, Any]:
    """Return the constants that a function reads."""
    named = _named(function, given).items()
    found = {name: value for name, value in named if isinstance(value, CONSTANTS)}
    shapes = {name: value._fields for name, value in named if hasattr(value, "_fields")}
    return {**found, **shapes}


def _called(function: Function, given: dict[str, Any]) -> dict[str, Function]:
    """Return the plain functions named by one, but those that numba knows by itself."""
    return {
        name: value
        for name, value in _named(function, given).items()
        if isinstance(value, FunctionType)
        and (name in given or value.__module__.partition(".")[0] not in KNOWN_TO_NUMBA)
    }
