"""Which of two items stands left, where nothing was presented: a fair coin that every machine throws alike."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from models.records import BoolArray

FNV_OFFSET, FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)


def coin_of(comparison_ids: pa.Array) -> BoolArray:
    """A fair coin for each comparison id, (n,): the top bit of its 64-bit FNV-1a hash, mixed as splitmix64 does.

    Depends on the id alone: not on the order of the rows, the platform or a library's version.
    """
    ids = comparison_ids.cast(pa.large_binary())
    offsets = np.frombuffer(ids.buffers()[1], dtype=np.int64)[ids.offset : ids.offset + len(ids) + 1]
    text = np.frombuffer(ids.buffers()[2] or b"", dtype=np.uint8)
    lengths = np.diff(offsets)
    hashed = np.full(len(ids), FNV_OFFSET, dtype=np.uint64)
    for position in range(int(lengths.max(initial=0))):
        long_enough = np.flatnonzero(lengths > position)
        hashed[long_enough] = (hashed[long_enough] ^ text[offsets[long_enough] + position]) * FNV_PRIME
    hashed = (hashed ^ (hashed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashed = (hashed ^ (hashed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    hashed ^= hashed >> np.uint64(31)
    return (hashed >> np.uint64(63)).astype(np.bool_)
