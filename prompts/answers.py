"""The schemas of a model's answers. An answer that breaks its schema is never used.

Docstrings and descriptions of the answers are part of the schema, so the model reads them: changing one changes the
request.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from models.records.feature_spec import MOST_VALUES, NAME, FeatureSpec
from models.records.features import FeatureKind


class AnswerModel(BaseModel):
    """Base of the answers: an unknown key, a value of another type or a number that is not finite breaks the schema."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, hide_input_in_errors=True)


class Reason(AnswerModel):
    """Why one of two patients was put first."""

    decisive_difference: str = Field(min_length=1, max_length=300, description="what differs most, in a sentence")
    reasoning: str = Field(min_length=1, max_length=900, description="why that makes one of them more urgent")


class Proposal(AnswerModel):
    """One new feature."""

    name: str = Field(pattern=NAME, description="lower-case words joined by underscores")
    kind: Literal["categorical", "ordinal", "multi_hot", "binary", "numeric"]
    instruction: str = Field(min_length=10, max_length=600, description="how the feature is read out of one record")
    values: list[Annotated[str, Field(min_length=1, max_length=60)]] = Field(
        max_length=MOST_VALUES, description="allowed values; empty for binary and numeric features"
    )
    minimum: float | None = Field(description="of numeric features only")
    maximum: float | None = Field(description="of numeric features only")

    def spec(self) -> FeatureSpec:
        """The proposal as a feature, without fields its kind does not use. Raises ValidationError if it is invalid."""
        is_number = self.kind == "numeric"
        return FeatureSpec(
            name=self.name,
            kind=FeatureKind(self.kind),
            instruction=self.instruction,
            values=() if is_number or self.kind == "binary" else tuple(self.values),
            minimum=self.minimum if is_number else None,
            maximum=self.maximum if is_number else None,
        )


class Judgement(AnswerModel):
    """Which of two messages has to be answered first."""

    more_urgent: Literal["first", "second"]


@cache
def extraction_of(spec: FeatureSpec) -> type[BaseModel]:
    """The schema of a feature's value: one of its values, true or false, or a number within its limits or null.

    A multi_hot value is an object with true or false for each label: a grammar cannot forbid repetition in lists.

    >>> from prompts.feature_file import read_features
    >>> spec = read_features().features[0]
    >>> answer = extraction_of(spec).model_validate({"value": spec.values[0]})
    >>> value_in(answer, spec) == spec.values[0]
    True
    """
    return create_model("Extraction", __base__=AnswerModel, value=(_type_of(spec), ...))


def _type_of(spec: FeatureSpec) -> Any:
    if spec.kind is FeatureKind.BINARY:
        return bool
    if spec.kind is FeatureKind.NUMERIC:
        return Annotated[float, Field(ge=spec.minimum, le=spec.maximum)] | None
    if spec.kind is FeatureKind.MULTI_HOT:
        labels: dict[str, Any] = {f"label_{at}": (bool, Field(alias=label)) for at, label in enumerate(spec.values)}
        return create_model("Labels", __base__=AnswerModel, **labels)
    return Literal[spec.values]


def value_in(answer: BaseModel, spec: FeatureSpec) -> Any:
    """The value in an answer as stored in a table: a label, a list of labels, a bool or a float; None if missing."""
    value = getattr(answer, "value")  # noqa: B009  the model is made at run time
    if spec.kind is FeatureKind.MULTI_HOT:
        return [label for at, label in enumerate(spec.values) if getattr(value, f"label_{at}")]
    return value
