"""The base of the studies' configs: source of the data, seed, and output folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from data_adapters import catalogue
from data_adapters.source.adapter import Adapter
from models.records.base import Record

PLACES = {"raw", "out", "ledger"}


def _at_home(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError(f"this machine has no home folder {path.parts[0]}") from error


def _is_same_kind(given: Mapping[str, Any], default: Any) -> bool:
    """Whether the settings of a section belong to the same kind of section as its default."""
    kind = getattr(default, "kind", None)
    return isinstance(default, Record) and given.get("kind", kind) == kind


Place = Annotated[Path, AfterValidator(_at_home)]
"""A path in which ~ is the home folder, also in a TOML file and after --raw=, which no shell expands."""


class RunConfig(Record):
    """Base of the configs of all studies: the seed and the output folder. A study without data needs no more."""

    model_config = ConfigDict(allow_inf_nan=False)

    out: Place = Field(default=Path("runs"), description="folder in which <study>/<run-id>/ is created")
    seed: int = Field(default=0, ge=0, lt=2**32, description="seed of everything random in the run")

    @model_validator(mode="before")
    @classmethod
    def _complete_sections(cls, settings: Any) -> Any:
        """A partly given section keeps the study's defaults for its other fields, not those of its class.

        A section of another kind than the default takes nothing from it.
        """
        if not isinstance(settings, Mapping):
            return settings
        defaults = {name: field.default for name, field in cls.model_fields.items()}
        return {
            name: {**dict(defaults[name]), **given}
            if isinstance(given, Mapping) and _is_same_kind(given, defaults.get(name))
            else given
            for name, given in settings.items()
        }

    def contents(self) -> dict[str, Any]:
        """By setting, the content of each file that a setting names, except raw files and recorded answers."""
        return {}

    def digest(self) -> str:
        """Eight hex digits over everything that decides the results: all settings except paths, and `contents`."""
        settings = self.model_dump(mode="json", exclude=PLACES) | self.contents()
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]


class StudyConfig(RunConfig):
    """Base of the configs of studies of data; a study adds its settings, with the paper's values as defaults."""

    raw: Place | None = Field(
        default=None, description="folder with the raw files; if not set, PREFSTUDY_RAW, then the cache"
    )
    simulated: bool = Field(default=False, description="simulate the raw files instead of reading real ones")
    allow_unpinned: bool = Field(default=False, description="accept raw files whose sha256 is not the declared one")

    def adapter(self, name: str) -> Adapter:
        """The adapter of a data set that the study reads."""
        return catalogue.adapter(name)
