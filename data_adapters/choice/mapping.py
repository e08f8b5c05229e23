"""The content of a mapping file: the columns of a choice experiment's respondents, tasks, choices and attributes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from data_adapters.source.simulation import SIMULATED
from data_adapters.source.spelling import same_looks, unfit_name
from models.records.base import Record
from models.records.features import Feature, FeatureKind
from models.records.manifest import Licence
from models.records.plain_text import is_file_name, unprintable

Format = Literal["csv", "xlsx", "sav", "dta", "parquet"]
SIDE = "{side}"
"""Placeholder in a column name of the wide layout, replaced by the text of the left or of the right profile."""


def _plain_name(name: str) -> str:
    """The name of a file in the folder of raw files. Raises ValueError for a path, and for the simulator's own file."""
    if not is_file_name(name) or name == SIMULATED:
        raise ValueError("expected the plain name of a file in the folder that --raw names, without any folder")
    return name


def _refuse_unfit_label(feature: str, label: str) -> None:
    if not label or unprintable(label) is not None:
        raise ValueError(f"{feature}: a label is a text without line breaks and tabs, and not empty")
    expected = unfit_name(label)
    if expected is not None:
        raise ValueError(
            f"{feature}: the label {label!r} should be {expected}. Give the value another label: value = label"
        )


class RawTable(Record):
    """The file that holds the choices."""

    name: Annotated[str, AfterValidator(_plain_name)] = Field(description="name of the file, without its folder")
    format: Format = Field(description="csv, xlsx (Excel), sav (SPSS), dta (Stata) or parquet")
    separator: str = Field(default=",", min_length=1, max_length=1, description="what separates the fields of a csv")
    sheet: str | None = Field(default=None, description="name of the xlsx sheet; the first if not set")
    sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$", description="sha256 of the published file")
    bytes: int | None = Field(default=None, description="size of the published file")
    url: str | None = Field(default=None, description="where the published file can be downloaded")


class LongLayout(Record):
    """One row for each alternative of each task."""

    respondent: str = Field(description="column with the respondent's id")
    task: str | None = Field(
        default=None,
        description="column that identifies a respondent's tasks; if not set, every two consecutive rows are one task",
    )
    alternative: str | None = Field(
        default=None,
        description="column that identifies a task's alternatives; if not set, the two rows of a task are consecutive",
    )
    left: str | None = Field(default=None, description="what the alternative column holds for the first profile")
    right: str | None = Field(default=None, description="what the alternative column holds for the second profile")
    opt_out: str | None = Field(default=None, description="what it holds for choosing neither, if that was offered")
    chosen: str = Field(description="column that says whether the alternative was chosen")
    chosen_values: tuple[str, ...] = Field(default=("1",), description="what the chosen column holds if it was")
    other_values: tuple[str, ...] = Field(default=("0",), description="what the chosen column holds if it was not")

    @model_validator(mode="after")
    def _tasks_are_identified(self) -> LongLayout:
        given = [self.alternative is not None, self.left is not None, self.right is not None]
        if any(given) and not all(given):
            raise ValueError("set all of alternative, left and right, or none of them")
        if self.alternative is not None and self.task is None:
            raise ValueError("alternative needs task: set the column that identifies a respondent's tasks too")
        if self.opt_out is not None and self.alternative is None:
            raise ValueError("opt_out needs a row of its own in each task: set task, alternative, left and right too")
        return self


class WideLayout(Record):
    """One row for each task, with the columns of both profiles side by side."""

    respondent: str = Field(description="column with the respondent's id")
    task: str | None = Field(default=None, description="column that orders a respondent's tasks; else the row order")
    choice: str = Field(description="column that says which profile was chosen")
    left: str = Field(description="what the choice column holds for the first profile")
    right: str = Field(description="what the choice column holds for the second profile")
    opt_out: str | None = Field(default=None, description="what it holds for choosing neither, if that was offered")
    no_answer: tuple[str, ...] = Field(default=(), description="what it holds where nothing was answered")
    sides: tuple[str, str] = Field(
        description="the texts that replace {side} in the columns of the left and of the right profile"
    )


class FeatureColumn(Record):
    """A feature of the profiles or of the respondents, and its column or columns."""

    name: str = Field(pattern="^[a-z][a-z0-9_]*$", description="name in the table: lower case, digits, underscores")
    kind: Literal["numeric", "ordinal", "binary", "categorical"] = Field(description="how the values are to be read")
    description: str = Field(description="what it is, in a few words; shown in the report")
    column: str | None = Field(
        default=None, description="its column; in the wide layout with {side} in place of the profile's side"
    )
    indicators: dict[str, str] | None = Field(
        default=None,
        min_length=1,
        description="instead of a column: columns of 0 and 1 with their labels; exactly one of them holds 1",
    )
    levels: dict[str, str] | None = Field(
        default=None,
        min_length=1,
        description="value in the file = label, in the levels' order (binary: no, yes); or a list of values that "
        "are their own labels. Two values with the same label are one level",
    )
    values: tuple[float, ...] | None = Field(default=None, description="numeric: the values allowed; any if not set")
    minimum: float | None = Field(default=None, description="numeric: the smallest value allowed")
    maximum: float | None = Field(default=None, description="numeric: the largest value allowed")
    unit: str | None = Field(default=None, description="numeric: the unit")
    missing: tuple[str, ...] = Field(
        default=(), description="values that mean missing, for example not shown. They become null, never a level"
    )

    @field_validator("levels", mode="before")
    @classmethod
    def _a_list_is_its_own_labels(cls, levels: Any) -> Any:
        return {str(level): level for level in levels} if isinstance(levels, list | tuple) else levels

    @model_validator(mode="after")
    def _keys_fit_the_kind(self) -> FeatureColumn:
        if (self.column is None) == (self.indicators is None):
            raise ValueError(f"{self.name}: set either column or indicators")
        if self.kind == "numeric":
            if self.levels is not None or self.indicators is not None:
                raise ValueError(f"{self.name}: a numeric feature has a column and no levels")
        elif (self.levels is None) == (self.indicators is None):
            raise ValueError(f"{self.name}: a column of a {self.kind} feature needs levels, and indicators need none")
        elif {self.values, self.minimum, self.maximum, self.unit} != {None}:
            raise ValueError(f"{self.name}: values, minimum, maximum and unit are for numeric features")
        for label in self.labels:
            _refuse_unfit_label(self.name, label)
        if same_looks(self.labels):
            raise ValueError(f"{self.name}: two labels have the same letters in different Unicode forms")
        if self.kind == "binary" and len(self.labels) != 2:
            raise ValueError(f"{self.name}: a binary feature has two labels, no and yes, not {len(self.labels)}")
        return self

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the levels, in their order; none for a numeric feature."""
        return tuple(dict.fromkeys((self.levels or self.indicators or {}).values()))

    @property
    def feature(self) -> Feature:
        """The feature as the table declares it."""
        limits = self.values or ()
        return Feature(
            name=self.name,
            kind=FeatureKind(self.kind),
            description=self.description,
            levels=self.labels or None,
            unit=self.unit,
            minimum=min(limits, default=self.minimum),
            maximum=max(limits, default=self.maximum),
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Its columns; {side} stands in the name if each profile has a column of its own."""
        return (self.column,) if self.column is not None else tuple(self.indicators or ())


class ChoiceMapping(Record):
    """A mapping file: one choice experiment with two profiles per task, with or without an opt-out."""

    title: str = Field(description="title of the study, shown in the report")
    citation: str = Field(description="who to cite for the data")
    licence: Licence = Field(
        default=Licence(name="not stated", terms="The mapping states no terms of use."),
        description="under which terms the data may be used",
    )
    file: RawTable = Field(description="the file that holds the choices")
    long: LongLayout | None = Field(default=None, description="the columns, where each alternative has a row")
    wide: WideLayout | None = Field(default=None, description="the columns, where each task has a row")
    missing: tuple[str, ...] = Field(default=(), description="like `missing` of a feature, for all features")
    bad_tasks: Literal["refuse", "drop"] = Field(
        default="refuse",
        description="what to do with a task that lacks a row or has one twice: refuse the file, or drop and count the "
        "task",
    )
    most_opt_outs: float | None = Field(
        default=None,
        ge=0,
        lt=1,
        description="leave out respondents who opted out in more than this share of their tasks",
    )
    attributes: tuple[FeatureColumn, ...] = Field(min_length=1, description="the features of the profiles")
    respondents: tuple[FeatureColumn, ...] = Field(default=(), description="the features of the respondents")

    @model_validator(mode="after")
    def _parts_fit(self) -> ChoiceMapping:
        if (self.long is None) == (self.wide is None):
            raise ValueError("set either long or wide")
        for part, features in (("attributes", self.attributes), ("respondents", self.respondents)):
            names = [feature.name for feature in features]
            if len(set(names)) != len(names):
                raise ValueError(f"two of the {part} have the same name")
        for feature in (*self.attributes, *self.respondents):
            wanted = self.wide is not None and feature in self.attributes
            if any((SIDE in column) != wanted for column in feature.columns):
                raise ValueError(
                    f"{feature.name}: {SIDE} belongs in the columns of attributes in the wide layout, and only there"
                )
        return self

    @property
    def layout(self) -> LongLayout | WideLayout:
        """The layout of the file."""
        found = self.long or self.wide
        assert found is not None
        return found
