"""Checks of a pairwise table: each part against its schema (pandera), and the parts against one another."""

from __future__ import annotations

import pandera.pyarrow as pandera
import pyarrow as pa
import pyarrow.compute as pc
from pandera.errors import SchemaErrors

from data_adapters.table.pairwise_table import PairwiseTable
from data_adapters.table.schema import KEYS, features_in
from models.errors import TableError
from models.records import Feature, FeatureKind

SHOWN = 5


def check_table(table: PairwiseTable) -> None:
    """Raise TableError, with a count and the first five, if the table breaks its own rules.

    The rules: types as the schema says; keys there and unique; labels among the levels, numbers finite and within the
    limits; no item compared with itself; every id of a comparison points to a row.
    """
    for name, part in table.parts.items():
        _check_part(name, part)
    _check_self_comparisons(table.comparisons)
    for column, part_name in (
        ("left_id", "items"),
        ("right_id", "items"),
        ("user_id", "users"),
        ("context_id", "contexts"),
    ):
        part = table.parts.get(part_name)
        if column in table.comparisons.column_names and part is not None:
            _check_points_somewhere(table.comparisons, column, part, part_name)


def _check_part(name: str, part: pa.Table) -> None:
    features = {feature.name: feature for feature in features_in(part.schema)}
    columns = {
        field.name: pandera.Column(
            field.type,
            _feature_checks(features[field.name]) if field.name in features else [],
            nullable=field.nullable,
            unique=field.name == KEYS[name],
        )
        for field in part.schema
    }
    try:
        pandera.DataFrameSchema(columns, strict=True).validate(part, lazy=True)
    except SchemaErrors as errors:
        raise _refusal(name, errors) from None
    for feature in features.values():
        _check_beyond_pandera(name, feature, part[feature.name])


def _feature_checks(feature: Feature) -> list[pandera.Check]:
    checks = []
    if feature.kind in {FeatureKind.CATEGORICAL, FeatureKind.ORDINAL}:
        checks.append(pandera.Check.isin(list(feature.levels or ())))
    if feature.minimum is not None:
        checks.append(pandera.Check.ge(feature.minimum))
    if feature.maximum is not None:
        checks.append(pandera.Check.le(feature.maximum))
    return checks


def _check_beyond_pandera(name: str, feature: Feature, values: pa.ChunkedArray) -> None:
    if feature.kind is FeatureKind.MULTI_HOT:
        labels = pc.list_flatten(values)
        levels = pa.array(feature.levels or (), pa.string())
        _refuse(labels.filter(pc.invert(pc.is_in(labels, levels))), f"{name}.{feature.name}", "labels of no level")
    if feature.kind is FeatureKind.NUMERIC:
        infinite = values.filter(pc.invert(pc.is_finite(values)))
        _refuse(infinite, f"{name}.{feature.name}", "values that are no finite number (missing is null)")


def _check_self_comparisons(comparisons: pa.Table) -> None:
    same = comparisons.filter(pc.equal(comparisons["left_id"], comparisons["right_id"]))
    _refuse(same["comparison_id"], "comparisons", "comparisons of an item with itself")


def _check_points_somewhere(comparisons: pa.Table, column: str, part: pa.Table, part_name: str) -> None:
    ids = comparisons[column]
    dangling = ids.filter(pc.invert(pc.is_in(ids, part[KEYS[part_name]].combine_chunks())))
    _refuse(dangling, f"comparisons.{column}", f"ids that point to none of the {part_name}")


def _refusal(name: str, errors: SchemaErrors) -> TableError:
    """The first of pandera's complaints, in the words of the other checks."""
    first = errors.schema_errors[0]
    where = f"{name}.{getattr(first.schema, 'name', None) or ''}".rstrip(".")
    cases = first.failure_cases
    values = cases.column(0) if isinstance(cases, pa.Table) else pa.chunked_array([pa.array([str(cases)])])
    return TableError(_complaint(values, where, f"values that fail {first.check}"))


def _refuse(bad: pa.ChunkedArray | pa.Array, where: str, what: str) -> None:
    if len(bad):
        raise TableError(_complaint(bad, where, what))


def _complaint(bad: pa.ChunkedArray | pa.Array, where: str, what: str) -> str:
    shown = ", ".join(str(value) for value in bad.slice(0, SHOWN).to_pylist())
    return f"{where}: {len(bad):,} {what}: {shown}{', ...' if len(bad) > SHOWN else ''}."
