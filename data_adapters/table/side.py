"""The side of an item if nothing was presented left or right: a fair coin, the same on every machine."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from models.numerics.hashing import hash_texts
from models.records.arrays import BoolArray

TOP_BIT = np.uint64(61)


def coin_of(comparison_ids: pa.Array) -> BoolArray:
    """A fair coin for each comparison id, (n,): the top bit of the id's hash.

    >>> coin_of(pa.array(["match-1", "match-2", "match-3", "match-4"])).tolist()
    [False, True, True, True]
    """
    return (hash_texts(comparison_ids.to_pylist()) >> TOP_BIT).astype(np.bool_)
