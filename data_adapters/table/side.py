"""Which of two items stands left, where nothing was presented: a fair coin that every machine throws alike."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from models.numerics.hashing import hash_texts
from models.records.arrays import BoolArray

TOP_BIT = np.uint64(61)


def coin_of(comparison_ids: pa.Array) -> BoolArray:
    """A fair coin for each comparison id, (n,): the top bit of its hash, which depends on the id alone."""
    return (hash_texts(comparison_ids.to_pylist()) >> TOP_BIT).astype(np.bool_)
