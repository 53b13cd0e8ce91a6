"""``evenhand policies``: the registry, with the parameters of each policy."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

from evenhand.cli._screen import screen
from evenhand.policies import Policy, registered_policies


def policies() -> None:
    """List the policies, what each one does, and its parameters with their defaults."""
    known = registered_policies()
    width = max(map(len, known))
    for name, policy in known.items():
        parameters = ", ".join(described(policy, key) for key in policy().parameters())
        kind = " [dim](simulations only)[/dim]" if policy.knows_nature else ""
        screen.print(f"[bold]{name:{width}}[/bold]  {policy().summary}{kind}", soft_wrap=True)
        screen.print(f"{'':{width}}  [dim]{parameters or 'no parameters'}[/dim]", soft_wrap=True)


def described(policy: type[Policy], parameter: str) -> str:
    """Return a parameter with its default and the other words that it takes.

    >>> described(registered_policies()["lfg"], "eta")
    'eta=10 (or paper)'
    """
    default = policy().parameters()[parameter]
    words = [word for word in _words(get_type_hints(policy)[parameter]) if word != default]
    others = f" (or {', '.join(words)})" if words else ""
    shown = f"{default:g}" if isinstance(default, float) else default
    return f"{parameter}={shown}{others}"


def _words(kind: Any) -> list[str]:
    """Return the words among the values that a type allows."""
    parts = get_args(kind)
    found = [part for part in parts if isinstance(part, str)]
    return found + [word for part in parts if not isinstance(part, str) for word in _words(part)]
