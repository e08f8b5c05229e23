"""An adapter from a description of contest tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from data_adapters.contests.reading import read_contests
from data_adapters.contests.simulator import simulate_contests
from data_adapters.contests.tables import ContestTables
from data_adapters.source.adapter import Adapter
from data_adapters.source.description import Dataset
from data_adapters.source.planted import Simulate
from data_adapters.source.spelling import unfit_name
from models.records.features import FeatureKind


@dataclass(frozen=True, kw_only=True)
class ContestAdapter(Adapter):
    """An adapter whose raw files are contest tables."""

    tables: ContestTables


def contest_adapter(
    dataset: Dataset, tables: ContestTables, *, version: str = "1", simulate: Simulate | None = None
) -> ContestAdapter:
    """The adapter of a data set whose raw files are `tables`.

    The table of the data set has one comparison per match, `match-1` and so on, and one item per row of the items'
    file. A binary, ordinal or categorical value is written as the name of its level. Columns may come in any order.
    simulate: the data set's own simulator; by default a linear utility decides (`simulate_contests`).
    Raises ValueError if the two descriptions do not fit together, and for features that no single column can hold.

    >>> from data_adapters.source.description import Dataset, RawFile, numeric
    >>> from models.records.manifest import Licence
    >>> lizards = Dataset(
    ...     name="lizards", title="Contests of lizards", citation="own data", licence=Licence(name="own", terms="Ask."),
    ...     raw=(RawFile(name="contests.csv", own=True),), side="random", items=(numeric("size", "length in mm"),),
    ... )
    >>> contest_adapter(lizards, ContestTables(matches="contests.csv", winner="winner", loser="loser")).version
    '1'
    """
    if (tables.loser is None) == (tables.sides is None):
        raise ValueError(f"{dataset.name}: contest tables have either a column `loser` or the two columns `sides`")
    if tables.items is None and tables.loser is None:
        raise ValueError(f"{dataset.name}: without a file of items, matches need the columns `winner` and `loser`")
    declared = {file.name for file in dataset.raw}
    for file in (tables.matches, tables.items):
        if file is not None and file not in declared:
            raise ValueError(f"{dataset.name}: {file} is not among the declared raw files {sorted(declared)}")
    features = (*dataset.items, *(dataset.contexts or ()))
    unfit = [(feature, level) for feature in features for level in feature.levels or () if unfit_name(level)]
    if unfit:
        feature, level = unfit[0]
        raise ValueError(f"{dataset.name}: {feature.name}: the level {level!r} should be {unfit_name(level)}")
    lists = [feature.name for feature in features if feature.kind is FeatureKind.MULTI_HOT]
    if lists or dataset.comparisons or dataset.users is not None or dataset.item_texts:
        raise ValueError(
            f"{dataset.name}: contest tables have features of items and contexts of one value each. Multi-hot features "
            f"({', '.join(lists) or 'none'}), texts, users and features of comparisons need a `read` of their own"
        )
    return ContestAdapter(
        dataset=dataset,
        version=version,
        read=partial(read_contests, dataset, tables),
        simulate=simulate or partial(simulate_contests, dataset, tables),
        tables=tables,
    )
