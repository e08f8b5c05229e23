"""Arrow schemas of a pairwise table: a feature's kind, levels, unit and limits travel in its field's metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pyarrow as pa

from models.records.features import Feature, FeatureKind

KEYS = {"items": "item_id", "users": "user_id", "contexts": "context_id", "comparisons": "comparison_id"}
"""The key of each table."""

COMPARISON_COLUMNS = {
    "left_id": (pa.string(), "the item on the left"),
    "right_id": (pa.string(), "the item on the right"),
    "left_wins": (pa.bool_(), "whether the left item was preferred"),
    "user_id": (pa.string(), "who compared"),
    "context_id": (pa.string(), "under which circumstances"),
    "task_index": (pa.int64(), "zero-based position of the task within its user"),
}
OPTIONAL = ("user_id", "context_id", "task_index")

ARROW_TYPES = {
    FeatureKind.NUMERIC: pa.float64(),
    FeatureKind.ORDINAL: pa.string(),
    FeatureKind.BINARY: pa.bool_(),
    FeatureKind.CATEGORICAL: pa.string(),
    FeatureKind.MULTI_HOT: pa.list_(pa.field("element", pa.string())),  # the name that Parquet gives it
}


def table_schema(
    table: str,
    features: Sequence[Feature],
    *,
    optional: Sequence[str] = (),
    texts: Mapping[str, str] | None = None,
) -> pa.Schema:
    """The schema of one of the four tables: its key, its fixed columns, further texts, then the features.

    optional: which of user_id, context_id, task_index the comparisons have.

    >>> from data_adapters.source.description import numeric
    >>> table_schema("items", [numeric("price", "price of the item")]).names
    ['item_id', 'price']
    """
    fields = [_field(KEYS[table], pa.string(), f"key of the {table}")]
    if table == "comparisons":
        fields += [
            _field(name, arrow_type, description)
            for name, (arrow_type, description) in COMPARISON_COLUMNS.items()
            if name not in OPTIONAL or name in optional
        ]
    fields += [_field(name, pa.string(), description, nullable=True) for name, description in (texts or {}).items()]
    return pa.schema([*fields, *map(feature_field, features)])


def feature_field(feature: Feature) -> pa.Field:
    """The Arrow field of a feature, with the feature's description in the metadata, each value as JSON or text.

    >>> from data_adapters.source.description import numeric
    >>> feature_field(numeric("price", "price of the item", unit="EUR")).metadata[b"unit"]
    b'EUR'
    """
    metadata = {"kind": feature.kind.value, "description": feature.description}
    if feature.levels is not None:
        metadata["levels"] = json.dumps(feature.levels, ensure_ascii=False)
    if feature.unit is not None:
        metadata["unit"] = feature.unit
    if feature.minimum is not None:
        metadata["minimum"] = json.dumps(feature.minimum)
    if feature.maximum is not None:
        metadata["maximum"] = json.dumps(feature.maximum)
    return pa.field(feature.name, ARROW_TYPES[feature.kind], nullable=True, metadata=metadata)


def features_in(schema: pa.Schema) -> tuple[Feature, ...]:
    """The features that a schema describes, in the order of its fields, without keys and texts.

    >>> from data_adapters.source.description import numeric
    >>> price = numeric("price", "price of the item")
    >>> features_in(table_schema("items", [price])) == (price,)
    True
    """
    return tuple(_feature_of(field) for field in schema if field.metadata and b"kind" in field.metadata)


def texts_in(schema: pa.Schema) -> set[str]:
    """The names of the text columns that the schema of a table of items describes."""
    return {field.name for field in schema if not (field.metadata and b"kind" in field.metadata)} - {KEYS["items"]}


def _feature_of(field: pa.Field) -> Feature:
    metadata = {key.decode(): value.decode() for key, value in field.metadata.items()}
    return Feature(
        name=field.name,
        kind=FeatureKind(metadata["kind"]),
        description=metadata["description"],
        levels=tuple(json.loads(metadata["levels"])) if "levels" in metadata else None,
        unit=metadata.get("unit"),
        minimum=json.loads(metadata["minimum"]) if "minimum" in metadata else None,
        maximum=json.loads(metadata["maximum"]) if "maximum" in metadata else None,
    )


def _field(name: str, arrow_type: pa.DataType, description: str, *, nullable: bool = False) -> pa.Field:
    return pa.field(name, arrow_type, nullable=nullable, metadata={"description": description})
