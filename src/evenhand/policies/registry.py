"""The one list of policies: command line, checks, files and documentation all come from it."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from dis import get_instructions
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any, TypeVar

from evenhand.core.checks import (
    NAME_RULE,
    check_choice,
    check_different,
    check_known,
    fail,
    is_name,
)
from evenhand.core.schema import names_of
from evenhand.core.state import State
from evenhand.policies.banditq import BanditQ
from evenhand.policies.cl_sg import ClSg
from evenhand.policies.fair_learn import FairLearn
from evenhand.policies.families import SURPLUS_WORDS
from evenhand.policies.floor_first import FloorFirst
from evenhand.policies.lfg import Lfg
from evenhand.policies.opt_f import OptF
from evenhand.policies.opt_nf import OptNf
from evenhand.policies.oracle import Oracle
from evenhand.policies.pessimistic import Pessimistic
from evenhand.policies.policy import NoMemory, Policy
from evenhand.policies.priced import Priced
from evenhand.policies.simplex_mixture import SimplexMixture
from evenhand.policies.spoc import Spoc
from evenhand.policies.strict_rate import StrictRate
from evenhand.policies.thompson import Thompson
from evenhand.policies.tscsf_b import TscsfB
from evenhand.policies.ucb import Ucb
from evenhand.policies.ucb_lp import UcbLp
from evenhand.policies.uniform import Uniform

GROUP = "evenhand.policies"
FILE_KEYS = ("name", "label")
SCORE_TAKES = ("scores", "view", "constants", "memory", "rng")
BUILT_IN = (
    Priced,
    TscsfB,
    Lfg,
    Thompson,
    Ucb,
    ClSg,
    FairLearn,
    Pessimistic,
    UcbLp,
    SimplexMixture,
    StrictRate,
    FloorFirst,
    Spoc,
    BanditQ,
    Uniform,
    Oracle,
    OptF,
    OptNf,
)
_registered: dict[str, type[Policy]] = {policy.name: policy for policy in BUILT_IN}
log = logging.getLogger(__name__)
Kind = TypeVar("Kind", bound=type[Policy])


def register_policy(policy: Kind) -> Kind:
    """Register a policy of your own under its name; can be used as a decorator.

    A package registers its policies for every program, the command line included, by the entry
    point group ``evenhand.policies``.

    Raises
    ------
    InputError
        If the class is no frozen dataclass of a :class:`Policy` with a name of its own, a scoring
        function, and a default for every parameter.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> def score(scores, view, constants, memory, rng):
    ...     for j in range(view.awake.size):
    ...         scores[j] = -view.state.played[view.awake[j]]
    >>> @register_policy
    ... @dataclass(frozen=True, kw_only=True)
    ... class LeastPlayed(Policy):
    ...     '''Plays the arms that were played least.'''
    ...     name = "least-played"
    ...     score = staticmethod(score)
    >>> make_policy("least-played").label()
    'least-played'
    """
    _check_policy(policy)
    taken = _registered.get(policy.name)
    if taken is not None and _home(taken) != _home(policy):
        fail("name of a policy to register", f"not that of {_home(taken)}", policy.name)
    _registered[policy.name] = policy
    return policy


def registered_policies() -> Mapping[str, type[Policy]]:
    """Return all policies by name: built in, from installed packages, and registered here."""
    _load_entry_points()
    return MappingProxyType(_registered)


def make_policy(name: str, **parameters: Any) -> Policy:
    """Return a policy by its registered name.

    Examples
    --------
    >>> make_policy("tscsf-b", eta=10, surplus=0).eta
    10.0
    >>> make_policy("tscfs-b")
    Traceback (most recent call last):
    ...
    evenhand.errors.InputError: unknown policy 'tscfs-b'; did you mean 'tscsf-b'? Known: ...
    """
    if not isinstance(name, str):
        fail("name of a policy", "a string", name)
    if name not in _registered:
        check_known("policy", [name], registered_policies())
    policy = _registered[name]
    allowed = [field.name for field in fields(policy)]
    if "debt" in parameters and "surplus" in allowed and "surplus" not in parameters:
        parameters["surplus"] = surplus_of(name, parameters.pop("debt"))
    if "belief" in parameters and "belief" not in allowed:
        rule = f"left out: {policy.no_belief}"
        fail(f"belief of policy {name!r}", rule, parameters["belief"])
    check_known(f"parameter of policy {name!r}", parameters, allowed)
    return policy(**parameters)


def surplus_of(name: str, debt: object) -> float:
    """Return the surplus that a file means which names the form of debt.

    >>> surplus_of("tscsf-b", "reflected")
    0.0
    """
    return SURPLUS_WORDS[check_choice(f"debt of policy {name!r}", debt, SURPLUS_WORDS)]


@cache
def _load_entry_points() -> None:
    """Register what installed packages offer; what cannot be loaded is logged and left out."""
    for entry in entry_points(group=GROUP):
        try:
            register_policy(entry.load())
        except Exception as error:
            log.warning("policy %r of %r is left out: %s", entry.name, entry.value, error)


def _check_policy(policy: object) -> None:
    thing = f"policy to register {getattr(policy, '__name__', policy)!r}"
    if not (isinstance(policy, type) and issubclass(policy, Policy)):
        fail(thing, "a class derived from Policy", policy)
    if "__dataclass_fields__" not in vars(policy):
        fail(thing, "a frozen dataclass", "none")
    if not is_name(getattr(policy, "name", None)):
        fail(f"name of {thing}", NAME_RULE, getattr(policy, "name", None))
    if not isinstance(inspect.getattr_static(policy, "score"), staticmethod):
        fail(f"score of {thing}", "a staticmethod", inspect.getattr_static(policy, "score"))
    try:
        made = policy()
    except Exception as error:
        fail(thing, "one with a score and a default for every parameter", str(error))
    _check_memory(thing, policy.memory)
    given = inspect.signature(policy.score).parameters.values()
    taken = [field.name for field in fields(policy) if field.name in FILE_KEYS]
    if taken:
        fail(f"parameters of {thing}", f"not called {' or '.join(FILE_KEYS)}", taken)
    if made.randomness not in ("own", "both") and _uses_rng(policy.score):
        fail(
            f"randomness of {thing}", "'own' or 'both' where score draws from rng", made.randomness
        )
    takes = tuple(one.name for one in given if one.default is inspect.Parameter.empty)
    if len(takes) != len(SCORE_TAKES):
        fail(f"score of {thing}", f"a function of ({', '.join(SCORE_TAKES)})", takes)


def _check_memory(thing: str, memory: Any) -> None:
    """Refuse a memory that is not declared as a NamedTuple of arrays."""
    rule = "a NamedTuple whose arrays are Annotated with a Column"
    if not isinstance(memory, type) or not hasattr(memory, "_fields"):
        fail(f"memory of {thing}", rule, memory)
    declared = names_of(memory)
    if memory is not NoMemory and declared != memory._fields:
        fail(f"memory of {thing}", rule, ", ".join(memory._fields))
    if taken := set(declared) & set(State._fields):
        fail(f"memory of {thing}", "of names that the state does not have", ", ".join(taken))
    if fading := names_of(memory, fades=True):
        fail(f"memory of {thing}", "of arrays that do not fade", ", ".join(fading))


def _uses_rng(score: Callable[..., None]) -> bool:
    """Say whether a scoring function looks at its last argument."""
    code = score.__code__
    last = code.co_varnames[code.co_argcount - 1] if code.co_argcount else ""
    return any(
        part.opname.startswith("LOAD") and part.argval == last for part in get_instructions(score)
    )


def _home(policy: type[Policy]) -> str:
    return f"{policy.__module__}.{policy.__qualname__}"


def label_policies(
    policies: Mapping[str, Policy | str] | Sequence[Policy | str],
) -> dict[str, Policy]:
    """Return policies by label, made from names where needed; labels are all different.

    >>> list(label_policies(["lfg", make_policy("tscsf-b", eta=1)]))
    ['lfg', 'tscsf-b eta=1']
    """
    if isinstance(policies, Mapping):
        pairs = [(label, _policy(given)) for label, given in policies.items()]
    elif isinstance(policies, str) or not isinstance(policies, Sequence):
        fail("policies", "a list of policies, or a mapping from labels to policies", policies)
    else:
        made = [_policy(given) for given in policies]
        pairs = [(policy.label(), policy) for policy in made]
    if not pairs:
        fail("policies", "at least one", "none")
    check_labels([label for label, _ in pairs])
    return dict(pairs)


def check_labels(labels: Sequence[object]) -> None:
    """Raise for a label that is not a name, or that two policies have."""
    for label in labels:
        if not is_name(label):
            fail("label of a policy", NAME_RULE, label)
    check_different("policies", map(str, labels))


def _policy(given: Policy | str) -> Policy:
    """Return a policy as it is, or make it from its name."""
    return given if isinstance(given, Policy) else make_policy(given)
