"""The one list of policies: command line, checks and documentation all come from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from evenhand.checks import known
from evenhand.errors import InputError
from evenhand.policies.base import Policy
from evenhand.policies.cl_sg import ClSg
from evenhand.policies.floor_first import FloorFirst
from evenhand.policies.lfg import Lfg
from evenhand.policies.opt_f import OptF
from evenhand.policies.opt_nf import OptNf
from evenhand.policies.oracle import Oracle
from evenhand.policies.priced import Priced
from evenhand.policies.thompson import Thompson
from evenhand.policies.tscsf_b import TscsfB
from evenhand.policies.ucb import Ucb
from evenhand.policies.uniform import Uniform

REGISTRY: Mapping[str, type[Policy]] = {
    policy.name: policy
    for policy in (
        Priced,
        TscsfB,
        Lfg,
        Thompson,
        Ucb,
        ClSg,
        FloorFirst,
        Uniform,
        Oracle,
        OptF,
        OptNf,
    )
}


def make_policy(name: str, **parameters: Any) -> Policy:
    """Return a policy by its registered name.

    Examples
    --------
    >>> make_policy("tscsf-b", eta=10, debt="reflected").eta
    10.0
    >>> make_policy("tscfs-b")
    Traceback (most recent call last):
    ...
    evenhand.errors.InputError: unknown policy 'tscfs-b'; did you mean 'tscsf-b'? Known: ...
    """
    if not isinstance(name, str):
        raise InputError(f"name of a policy must be a string, got {name!r}")
    known("policy", [name], REGISTRY)
    policy = REGISTRY[name]
    known(f"parameter of policy {name!r}", parameters, [field.name for field in fields(policy)])
    return policy(**parameters)
