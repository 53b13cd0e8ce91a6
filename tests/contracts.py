"""An import contract of this project's own: what an underscore in a module's name means."""

from __future__ import annotations

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output


class Underscores(Contract):
    """A module whose name starts with an underscore is imported only by its own folder."""

    type_name = "underscores"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        crossing = sorted(
            (importer, imported)
            for imported in graph.modules
            for importer in graph.find_modules_that_directly_import(imported)
            if is_crossing(importer, imported)
        )
        return ContractCheck(kept=not crossing, metadata={"crossing": crossing})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for importer, imported in check.metadata["crossing"]:
            output.print_error(f"{importer} imports {imported}", bold=False)


def is_crossing(importer: str, imported: str) -> bool:
    """Say whether a name with an underscore on the way to a module belongs to another folder."""
    steps = imported.split(".")
    owners = [".".join(steps[:i]) for i, step in enumerate(steps) if step.startswith("_")]
    return any(owner and not f"{importer}.".startswith(f"{owner}.") for owner in owners) and (
        not steps[-1].startswith("__")
    )
