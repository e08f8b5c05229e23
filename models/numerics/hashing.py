"""Hashes for random choices that depend only on the thing chosen and on a seed, never on order or batches."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike, NDArray

HashArray = NDArray[np.uint64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def mix(state: ArrayLike, value: ArrayLike) -> HashArray:
    """Hash `value` into `state`, element by element, with the SplitMix64 finaliser; broadcasts.

    Integers of any sign are taken modulo 2^64.

    >>> mix(7, [0, 1]).shape, bool((mix(7, 0) == mix(7, [0, 1])[0]).all())
    ((2,), True)
    """
    with np.errstate(over="ignore"):
        z = _unsigned(state) * _FIRST + _unsigned(value) + _STEP
        z = (z ^ (z >> np.uint64(30))) * _FIRST
        z = (z ^ (z >> np.uint64(27))) * _SECOND
        return np.asarray(z ^ (z >> np.uint64(31)), dtype=np.uint64)


def _unsigned(value: ArrayLike) -> HashArray:
    array = np.asarray(value)
    return array if array.dtype == np.uint64 else array.astype(np.int64).astype(np.uint64)


def hash_texts(texts: Iterable[str]) -> HashArray:
    """A stable hash below 2^62 for each text: it serves as a seed, and other seeds can be added to it.

    >>> hash_texts(["salmon", "tuna"])
    array([3605179452251124266, 1114237170226288302], dtype=uint64)
    """
    digests = b"".join(blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64) >> np.uint64(2)
