"""The ``[[policies]]`` of a file: one table a policy, whose lists of parameters are crossed."""

from __future__ import annotations

from itertools import product
from typing import Any

from evenhand.core.checks import as_list, check_tables
from evenhand.errors import InputError
from evenhand.policies.labels import check_labels
from evenhand.policies.policy import Policy
from evenhand.policies.registry import make_policy, surplus_of


def policies_from(tables: object) -> dict[str, Policy]:
    """Return the policies of ``[[policies]]`` tables by label.

    A label tells the values of parameters that were given as a list of several.

    >>> list(policies_from([{"name": "lfg", "eta": [1, 10]}]))
    ['lfg eta=1', 'lfg eta=10']
    """
    given = check_tables("policies", tables)
    pairs = [pair for table in given for pair in _crossed(dict(table))]
    check_labels([label for label, _ in pairs])
    return dict(pairs)


def _crossed(table: dict[str, Any]) -> list[tuple[str, Policy]]:
    if "name" not in table:
        raise InputError("each [[policies]] table must have a name")
    name, label = table.pop("name"), table.pop("label", None)
    if label is not None:
        check_labels([label])
    if "debt" in table and "surplus" not in table:
        forms = as_list(f"debt of policy {name!r}", table.pop("debt"))
        table["surplus"] = [surplus_of(name, form) for form in forms]
    lists = {key: as_list(f"{key} of policy {name!r}", given) for key, given in table.items()}
    varied = [key for key, values in lists.items() if len(values) > 1]
    pairs = []
    for values in product(*lists.values()):
        policy = make_policy(name, **dict(zip(lists, values, strict=True)))
        own = policy.label(also=varied)
        words = own if label is None else " ".join([label, *policy.format_parameters(varied)])
        pairs.append((words, policy))
    return pairs
