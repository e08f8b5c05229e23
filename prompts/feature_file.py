"""Files of features: the eleven published ones, or a user's own."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import Field, ValidationError

from models.records.base import Record
from models.records.errors import UsageError
from models.records.feature_spec import FeatureSpec
from models.records.settings_errors import explain

TABLE_9 = Path(__file__).parent / "features" / "table9.toml"


class _Line(FeatureSpec):
    initial: bool = Field(default=False, description="whether the search starts with this feature")


class _File(Record):
    features: tuple[_Line, ...] = Field(min_length=1, description="the features, one [[features]] each")


class FeatureFile(Record):
    """The features of a file, and the names of those that the search starts with."""

    features: tuple[FeatureSpec, ...]
    initial: tuple[str, ...]

    @property
    def starting(self) -> tuple[FeatureSpec, ...]:
        """The features that the search starts with."""
        return tuple(spec for spec in self.features if spec.name in self.initial)


def read_features(path: Path = TABLE_9) -> FeatureFile:
    """Read a file of features. Raises UsageError if it cannot be read or is not a valid file of features.

    >>> published = read_features()
    >>> len(published.features), published.features[0].name
    (11, 'patient_requested_action')
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        lines = _File.model_validate(document).features
    except OSError as error:
        raise UsageError(f"{path}: the features cannot be read ({error.strerror or error}).") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: this is not a TOML file ({error}).") from error
    except ValidationError as error:
        raise UsageError("\n".join([f"{path}: not a file of features.", *explain(_File, error.errors())])) from error
    names = [line.name for line in lines]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"{path}: these names appear twice: {', '.join(repeated)}.")
    return FeatureFile(
        features=tuple(FeatureSpec(**line.model_dump(exclude={"initial"})) for line in lines),
        initial=tuple(line.name for line in lines if line.initial),
    )
