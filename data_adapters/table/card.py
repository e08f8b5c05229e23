"""The data card of a pairwise table: how its features and its sides are distributed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.stats import binomtest

from data_adapters.table.pairwise_table import PairwiseTable
from data_adapters.table.schema import features_in
from models.records.arrays import FloatArray
from models.records.card import DataCard, FeatureCard, LevelCount, SideBias, Spread
from models.records.features import Feature, FeatureKind

BINS = 12


def card(table: PairwiseTable) -> DataCard:
    """Describe a table by its manifest, its features and its sides; the card contains no text and no id.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from data_adapters.catalogue import adapter
    >>> from data_adapters.source.build import build
    >>> from data_adapters.source.locate import locate
    >>> from data_adapters.source.simulation import simulate
    >>> with TemporaryDirectory() as folder:
    ...     _ = simulate(adapter("synthetic"), Path(folder) / "raw", seed=0, users=12)
    ...     [table] = build(adapter("synthetic"), locate(adapter("synthetic"), Path(folder) / "raw"))
    >>> found = card(table)
    >>> found.features[0].feature.name, found.features[0].rows
    ('within', 12)
    """
    return DataCard(
        manifest=table.manifest,
        features=tuple(
            _feature_card(name, feature, part[feature.name])
            for name, part in table.parts.items()
            for feature in features_in(part.schema)
        ),
        side_bias=_side_bias(table.comparisons["left_wins"]) if table.manifest.side == "presented" else None,
    )


def _feature_card(part: str, feature: Feature, column: pa.ChunkedArray) -> FeatureCard:
    numbers = feature.kind is FeatureKind.NUMERIC
    present = column.drop_null()
    return FeatureCard(
        part=part,
        feature=feature,
        rows=len(column),
        missing=column.null_count,
        spread=_spread(present.to_numpy()) if numbers and len(present) else None,
        levels=() if numbers else _levels(feature, present),
    )


def _spread(values: FloatArray) -> Spread:
    minimum, lower, median, upper, maximum = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
    edges = np.linspace(minimum, maximum, BINS + 1)
    distinct_edges = bool((np.diff(edges) > 0).all())
    return Spread(
        minimum=minimum,
        lower_quartile=lower,
        median=median,
        upper_quartile=upper,
        maximum=maximum,
        bins=tuple(np.histogram(values, edges)[0].tolist()) if distinct_edges else (len(values),),
    )


def _levels(feature: Feature, present: pa.ChunkedArray) -> tuple[LevelCount, ...]:
    """Every level with its number of rows, also levels without any."""
    labels = feature.levels or ()
    if feature.kind is FeatureKind.MULTI_HOT:
        present = pc.list_flatten(present)
    rows = {count["values"]: count["counts"] for count in pc.value_counts(present).to_pylist()}
    values = (False, True) if feature.kind is FeatureKind.BINARY else labels
    return tuple(LevelCount(label=label, rows=rows.get(value, 0)) for label, value in zip(labels, values, strict=True))


def _side_bias(left_wins: pa.ChunkedArray) -> SideBias | None:
    comparisons = len(left_wins)
    if not comparisons:
        return None
    won = int(pc.sum(left_wins).as_py())
    interval = binomtest(won, comparisons).proportion_ci(0.95, method="wilson")
    return SideBias(
        comparisons=comparisons,
        left_wins=won,
        share=won / comparisons,
        low=float(interval.low),
        high=float(interval.high),
    )
