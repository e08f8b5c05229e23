"""Specification of a feature to be read from a text: its name, the reading instruction, and the allowed values."""

from __future__ import annotations

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from models.records.base import Record
from models.records.features import Feature, FeatureKind
from models.records.plain_text import unprintable

NAME = r"^[a-z][a-z0-9_]{1,59}$"
MOST_VALUES = 20
LARGEST = 1e12
"""Largest distance from 0 of a limit: with larger ones the arithmetic of a tree could overflow."""
YES_OR_NO = ("no", "yes")


class FeatureSpec(Record):
    """One line of dt-pbo Table 9, written by a person or proposed by a model.

    Raises pydantic's ValidationError where values or limits do not fit the kind, where a limit is not finite or too
    large, and where a text holds a character that no report could show.

    >>> spec = FeatureSpec(name="fever", kind="binary", instruction="Does the patient report a fever?")
    >>> spec.feature.levels
    ('no', 'yes')
    """

    model_config = ConfigDict(allow_inf_nan=False, hide_input_in_errors=True)

    name: str = Field(pattern=NAME, description="lower-case words joined by underscores")
    kind: FeatureKind = Field(description="numeric, ordinal, binary, categorical or multi_hot")
    instruction: str = Field(min_length=10, max_length=600, description="how to read it from a message and a record")
    values: tuple[str, ...] = Field(
        default=(), max_length=MOST_VALUES, description="allowed values; from low to high for an ordinal feature"
    )
    minimum: float | None = Field(
        default=None, ge=-LARGEST, le=LARGEST, description="smallest value, numeric features only"
    )
    maximum: float | None = Field(
        default=None, ge=-LARGEST, le=LARGEST, description="largest value, numeric features only"
    )

    @model_validator(mode="after")
    def _values_fit_the_kind(self) -> FeatureSpec:
        fewest = {FeatureKind.NUMERIC: 0, FeatureKind.BINARY: 0, FeatureKind.MULTI_HOT: 1}.get(self.kind, 2)
        if len(self.values) < fewest:
            raise ValueError(f"a feature of kind {self.kind} needs {fewest} values or more, found {len(self.values)}")
        if self.values and fewest == 0:
            raise ValueError(f"a feature of kind {self.kind} has no list of values")
        if len(set(self.values)) != len(self.values) or not all(map(str.strip, self.values)):
            raise ValueError("values must be distinct and not empty")
        limits = (self.minimum, self.maximum)
        if (self.kind is FeatureKind.NUMERIC) == (None in limits) or (None in limits) != (limits == (None, None)):
            raise ValueError("a numeric feature needs a minimum and a maximum, and no other feature has them")
        if self.minimum is not None and self.maximum is not None and not self.minimum < self.maximum:
            raise ValueError(f"the minimum {self.minimum:g} is not below the maximum {self.maximum:g}")
        return self

    @model_validator(mode="after")
    def _texts_can_be_shown(self) -> FeatureSpec:
        if unprintable(self.instruction, "\n\t") or any(map(unprintable, self.values)):
            raise PydanticCustomError("unprintable", "instruction and values must not hold control characters")
        return self

    @property
    def feature(self) -> Feature:
        """The table feature that holds the values read."""
        levels = {FeatureKind.NUMERIC: None, FeatureKind.BINARY: YES_OR_NO}.get(self.kind, self.values)
        return Feature(
            name=self.name,
            kind=self.kind,
            description=self.instruction,
            levels=levels,
            minimum=self.minimum,
            maximum=self.maximum,
        )
