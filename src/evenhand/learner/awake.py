"""Which arms are awake: by name, index or mask, as indices in ascending order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from evenhand.core.arrays import Integers, Masks
from evenhand.core.checks import check_known, check_names, fail
from evenhand.errors import InputError
from evenhand.learner.arm_table import ArmTable

# Up to so many indices in order are looked at one by one, which is quicker than NumPy.
FEW_LISTED = 64
FEW_ARMS = 64


def mask_of_names(table: ArmTable, names: Sequence[Any]) -> Masks:
    """Return which arms some names stand for, whether paused or not."""
    try:
        indices = list(map(table.position.__getitem__, names))
    except (KeyError, TypeError):
        check_known("awake arm", check_names("awake arms", names), table.position)
        raise
    mask = np.zeros(len(table.problem.arms), dtype=np.bool_)
    mask[indices] = True
    if np.count_nonzero(mask) < len(indices):
        check_names("awake arms", names)
    return mask


def awake_indices(table: ArmTable, given: Any) -> Integers:
    """Return the indices of awake arms in ascending order, from names, indices or a mask.

    Arms that are paused are left out.
    """
    if type(given) is np.ndarray:
        kind = given.dtype.kind
        if kind == "b":
            return _of_mask(table, given)
        if kind in "iu":
            return _of_indices(table, given)
    if isinstance(given, bytes | Mapping | np.ma.MaskedArray):
        fail("awake arms", "a list of names, indices or truth values", given)
    if isinstance(given, str) or not isinstance(given, Iterable):
        fail("awake arms", "a list of names", given)
    try:
        listed = given if isinstance(given, list | tuple) else list(given)
        first = listed[0] if listed else ""
        if isinstance(first, bool | np.bool_):
            return _of_mask(table, np.array(listed))
        if isinstance(first, int | np.integer):
            return _of_indices(table, np.array(listed))
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        fail("awake arms", "a list of names, indices or truth values", given)
    return _of_mask(table, mask_of_names(table, listed))


def _of_mask(table: ArmTable, mask: Any) -> Integers:
    arms = len(table.problem.arms)
    if mask.dtype.kind != "b" or mask.shape != (arms,):
        fail("mask of awake arms", f"one truth value for each of {arms} arms", mask.shape)
    if table.everyone.size < arms:
        mask = mask & ~table.arrays.paused
    indices: Integers = mask.nonzero()[0]
    return indices


def _of_indices(table: ArmTable, indices: Any) -> Integers:
    arms = len(table.problem.arms)
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        fail("awake arms", "a list of names, indices or truth values", indices.tolist())
    if indices.size <= FEW_LISTED and table.everyone.size == arms:
        listed = [-1, *indices.tolist(), arms]
        if listed == sorted(set(listed)):
            return np.array(listed[1:-1], dtype=np.int64)
    if indices.size and not 0 <= indices.min() <= indices.max() < arms:
        wrong = (indices < 0) | (indices >= arms)
        fail("index of an awake arm", f"in 0 to {arms - 1}", int(indices[wrong][0]))
    mask = np.zeros(arms, dtype=np.bool_)
    mask[indices] = True
    if np.count_nonzero(mask) < indices.size:
        check_names("awake arms", [table.problem.arms[index] for index in indices])
    return _of_mask(table, mask)


def packed(indices: Integers, table: ArmTable) -> bytes | None:
    """Return indices as bits, eight arms a byte; None for everyone."""
    if indices.size == table.everyone.size:
        return None
    arms = len(table.problem.arms)
    if arms <= FEW_ARMS:
        return packed_few(indices.tolist(), arms)
    mask = np.zeros(arms, dtype=np.bool_)
    mask[indices] = True
    return np.packbits(mask).tobytes()


def packed_few(indices: list[int], arms: int) -> bytes:
    """Do as NumPy's packbits, quicker for few arms.

    >>> packed_few([0, 9], arms=10) == np.packbits([1, 0, 0, 0, 0, 0, 0, 0, 0, 1]).tobytes()
    True
    """
    size = -(-arms // 8)
    last, bits = 8 * size - 1, 0
    for index in indices:
        bits |= 1 << (last - index)
    return bits.to_bytes(size, "big")


def unpacked(bits: bytes | None, table: ArmTable) -> Integers:
    """Return the indices that bits stand for, paused arms left out; everyone for None."""
    if bits is None:
        return table.everyone
    mask = np.unpackbits(np.frombuffer(bits, np.uint8), count=len(table.problem.arms))
    return np.flatnonzero(mask.astype(np.bool_) & ~table.arrays.paused)
