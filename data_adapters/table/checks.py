"""Checks of a pairwise table: each part against its schema (pandera), and the parts against one another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandera.pyarrow as pandera
import pyarrow as pa
import pyarrow.compute as pc
from pandera.errors import SchemaError, SchemaErrorReason, SchemaErrors

from data_adapters.table.pairwise_table import PairwiseTable
from data_adapters.table.schema import COMPARISON_COLUMNS, KEYS, OPTIONAL, features_in, table_schema
from models.records.errors import TableError
from models.records.features import Feature, FeatureKind
from models.records.plain_text import escaped, unprintable

SHOWN = 5
SHORT_TEXTS = {*KEYS.values(), *COMPARISON_COLUMNS, "label"}
"""Columns of ids and names."""
NO_LEVEL = "labels that are none of the levels"
PANDERA_CHECKS = {"not_nullable": "missing values", "field_uniqueness": "values that come more than once"}


def check_table(table: PairwiseTable) -> None:
    """Raise TableError, with a count and the first five, if the table breaks its own rules.

    The rules: types as in the schema; keys present and unique; labels among the levels, numbers finite and within the
    limits; no control characters; no item compared with itself; every id of a comparison points to a row.
    """
    for name, part in table.parts.items():
        _check_part(name, part)
        refuse_unprintable(name, part)
    _check_self_comparisons(table.comparisons)
    for column, part_name in (
        ("left_id", "items"),
        ("right_id", "items"),
        ("user_id", "users"),
        ("context_id", "contexts"),
    ):
        part = table.parts.get(part_name)
        if column in table.comparisons.column_names and part is not None:
            _check_dangling_ids(table.comparisons, column, part, part_name)


def refuse_unprintable(name: str, part: pa.Table) -> None:
    """Raise TableError if a column's name, level or text has control characters.

    Texts that only people read, such as a message, may have line breaks and tabs.
    """
    features = features_in(part.schema)
    described = [*part.column_names, *(text for each in features for text in (*(each.levels or ()), each.unit or ""))]
    for text in described:
        bad = unprintable(text)
        if bad is not None:
            raise TableError(f"{name}: the name or level {escaped(text)} has the character {escaped(bad)}.")
    for field in part.schema:
        if pa.types.is_string(field.type):
            texts = part[field.name].drop_null().to_pylist()
            prose = field.name not in {*SHORT_TEXTS, *(feature.name for feature in features)}
            bad = unprintable("".join(texts), allowed="\n\r\t" if prose else "")
            if bad is not None:
                rows = [row for row, text in enumerate(part[field.name].to_pylist(), 1) if text and bad in text]
                where = f"row {rows[0]} and {len(rows) - 1:,} more" if len(rows) > 1 else f"row {rows[0]}"
                raise TableError(f"{name}, {where}: column {field.name}: found the character {escaped(bad)}.")


def _check_part(name: str, part: pa.Table) -> None:
    features = {feature.name: feature for feature in features_in(part.schema)}
    fixed = [*table_schema(name, (), optional=OPTIONAL).names, *features]
    expected = table_schema(
        name,
        list(features.values()),
        optional=part.column_names,
        texts={column: "" for column in part.column_names if column not in fixed},
    )
    columns = {
        field.name: pandera.Column(
            field.type,
            _feature_checks(features[field.name]) if field.name in features else [],
            nullable=field.nullable,
            unique=field.name == KEYS[name],
        )
        for field in expected
    }
    try:
        pandera.DataFrameSchema(columns, strict=True).validate(part, lazy=True)
    except SchemaErrors as errors:
        raise _refusal(name, errors.schema_errors[0], expected, part.schema) from None


def _feature_checks(feature: Feature) -> list[pandera.Check]:
    checks = []
    if feature.kind is FeatureKind.NUMERIC:
        checks.append(pandera.Check(_finite, error="values that are not finite numbers (missing is null)"))
    if feature.kind in {FeatureKind.CATEGORICAL, FeatureKind.ORDINAL}:
        checks.append(pandera.Check.isin(list(feature.levels or ()), error=NO_LEVEL))
    if feature.kind is FeatureKind.MULTI_HOT:
        checks.append(pandera.Check(partial(_within, feature.levels or ()), error=NO_LEVEL))
    if feature.minimum is not None:
        checks.append(pandera.Check.ge(feature.minimum, error=f"values below {feature.minimum:g}"))
    if feature.maximum is not None:
        checks.append(pandera.Check.le(feature.maximum, error=f"values above {feature.maximum:g}"))
    return checks


def _finite(data: pandera.PyArrowData) -> pa.ChunkedArray:
    return pc.is_finite(data.table[data.key])


def _within(levels: Sequence[str], data: pandera.PyArrowData) -> pa.Array:
    """Whether every label of each row is one of the levels."""
    column = data.table[data.key].combine_chunks()
    foreign = pc.invert(pc.is_in(pc.list_flatten(column), pa.array(levels, pa.string())))
    rows = pc.list_parent_indices(column).filter(foreign)
    return pc.invert(pc.is_in(pa.array(range(len(column)), rows.type), rows))


def _check_self_comparisons(comparisons: pa.Table) -> None:
    same = comparisons.filter(pc.equal(comparisons["left_id"], comparisons["right_id"]))
    _refuse(same["comparison_id"], "comparisons", "comparisons of an item with itself")


def _check_dangling_ids(comparisons: pa.Table, column: str, part: pa.Table, part_name: str) -> None:
    ids = comparisons[column]
    dangling = ids.filter(pc.invert(pc.is_in(ids, part[KEYS[part_name]].combine_chunks())))
    _refuse(dangling, f"comparisons.{column}", f"ids that point to none of the {part_name}")


def _refusal(name: str, error: SchemaError, expected: pa.Schema, found: pa.Schema) -> TableError:
    """An error of pandera's in the words of the other checks."""
    if error.reason_code is SchemaErrorReason.COLUMN_NOT_IN_DATAFRAME:
        return TableError(f"{name}: the column {error.failure_cases} is missing.")
    column = error.schema.name
    where = f"{name}.{column}"
    if error.reason_code is SchemaErrorReason.WRONG_DATATYPE:
        types = f"expected the type {expected.field(column).type}, found {found.field(column).type}"
        return TableError(f"{where}: {types}.")
    what = PANDERA_CHECKS.get(str(error.check)) or error.check.error
    return TableError(_complaint(error.failure_cases.column(0), where, what))


def _refuse(bad: pa.ChunkedArray | pa.Array, where: str, what: str) -> None:
    if len(bad):
        raise TableError(_complaint(bad, where, what))


def _complaint(bad: pa.ChunkedArray | pa.Array, where: str, what: str) -> str:
    shown = ", ".join(escaped(str(value)) for value in bad.slice(0, SHOWN).to_pylist())
    return f"{where}: {len(bad):,} {what}: {shown}{' and so on' if len(bad) > SHOWN else ''}."
