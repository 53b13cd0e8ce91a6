"""Names for the array types that run through the package."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Masks: TypeAlias = NDArray[np.bool_]
Random: TypeAlias = np.random.Generator


Entry = TypeVar("Entry", bound=np.generic)


def frozen(values: NDArray[Entry]) -> NDArray[Entry]:
    """Make an array read-only and return it.

    What does not change during a run is read-only throughout: besides being safe, the compiler
    sees one type where it would otherwise see two.

    >>> frozen(np.array([0.3, 0.5])).flags.writeable
    False
    """
    values.flags.writeable = False
    return values
