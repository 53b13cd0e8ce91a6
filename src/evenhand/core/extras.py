"""Optional packages, loaded when first needed; a missing one is named together with its extra."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from evenhand.errors import MissingExtra

EXTRAS = {
    "dask": "cluster",
    "distributed": "cluster",
    "gymnasium": "gym",
    "httpx": "client",
    "jinja2": "lab",
    "loky": "lab",
    "matplotlib": "lab",
    "msgspec": "service",
    "numba": "lab",
    "packaging": "lab",
    "polars": "lab",
    "prometheus_client": "service",
    "psycopg": "postgres",
    "rich": "lab",
    "starlette": "service",
    "typer": "lab",
    "uvicorn": "service",
}


def load(module: str) -> ModuleType:
    """Import an optional module."""
    with extras_named():
        return import_module(module)


@contextmanager
def extras_named() -> Iterator[None]:
    """Name the extra that an import lacks.

    >>> with extras_named():
    ...     raise ModuleNotFoundError(name="psycopg")
    Traceback (most recent call last):
    ...
    evenhand.errors.MissingExtra: this needs the package 'psycopg', which comes with the extra ...
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        extra = EXTRAS[package]
        raise MissingExtra(
            f"this needs the package {package!r}, which comes with the extra {extra!r}: "
            f"run pip install '.[{extra}]' in a clone of evenhand"
        ) from None
