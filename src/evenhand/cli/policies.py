"""``evenhand policies``: the registry, with the parameters of each policy."""

from __future__ import annotations

from evenhand.cli.screen import screen
from evenhand.policies import REGISTRY


def policies() -> None:
    """List the policies, what each one does, and its parameters with their defaults."""
    width = max(map(len, REGISTRY))
    for name, policy in REGISTRY.items():
        parameters = ", ".join(f"{key}={value}" for key, value in policy().parameters().items())
        kind = " [dim](simulations only)[/dim]" if policy.knows_nature else ""
        screen.print(f"[bold]{name:{width}}[/bold]  {policy().summary}{kind}", soft_wrap=True)
        screen.print(f"{'':{width}}  [dim]{parameters or 'no parameters'}[/dim]", soft_wrap=True)
