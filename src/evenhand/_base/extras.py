"""Optional packages, loaded when first needed; a missing one is named together with its extra."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from evenhand.errors import MissingExtra

EXTRAS = {
    "dask": "cluster",
    "distributed": "cluster",
    "loky": "lab",
    "matplotlib": "lab",
    "numba": "lab",
    "polars": "lab",
    "rich": "lab",
    "typer": "lab",
}


def load(module: str) -> ModuleType:
    """Import an optional module.

    Raises
    ------
    MissingExtra
        If its package is not installed; nothing falls back silently.

    Examples
    --------
    >>> load("polars").__name__
    'polars'
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        extra = EXTRAS[package]
        raise MissingExtra(
            f"this needs the package {package!r}, which comes with the extra {extra!r}: "
            f"pip install 'evenhand[{extra}]'"
        ) from None
