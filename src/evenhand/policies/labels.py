"""Labels: what policies are called in a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evenhand.core.checks import NAME_RULE, check_different, fail, is_name
from evenhand.policies.policy import Policy
from evenhand.policies.registry import make_policy


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
    """Complain about a label that is no name, or that two policies have."""
    for label in labels:
        if not is_name(label):
            fail("label of a policy", NAME_RULE, label)
    check_different("policies", map(str, labels))


def _policy(given: Policy | str) -> Policy:
    """Return a policy as it is, or make it from its name."""
    return given if isinstance(given, Policy) else make_policy(given)
