"""What every study's config has in common: where its data comes from and where its run goes."""

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
        raise ValueError(f"{path.parts[0]} is nobody's home folder on this machine") from error


def _is_of_the_kind(given: Mapping[str, Any], default: Any) -> bool:
    """Whether settings of a part are some of the default's, and not those of another kind of part."""
    kind = getattr(default, "kind", None)
    return isinstance(default, Record) and given.get("kind", kind) == kind


Place = Annotated[Path, AfterValidator(_at_home)]
"""A path in which ~ is the home folder also where no shell has read it: in a TOML file, and after --raw=."""


class StudyConfig(Record):
    """Base of the studies' configs; a study adds its own settings, with the paper's as defaults."""

    model_config = ConfigDict(allow_inf_nan=False)

    raw: Place | None = Field(default=None, description="folder with the raw files; else PREFSTUDY_RAW and the cache")
    simulated: bool = Field(default=False, description="simulate the raw files instead of reading real ones")
    allow_unpinned: bool = Field(default=False, description="accept raw files whose sha256 is not the declared one")
    out: Place = Field(default=Path("runs"), description="folder that receives <study>/<run-id>/")
    seed: int = Field(default=0, ge=0, lt=2**32, description="seed of everything random in the run")

    @model_validator(mode="before")
    @classmethod
    def _parts_keep_what_is_not_said(cls, settings: Any) -> Any:
        """A part of which some settings are given has the study's own defaults for the others, not its class's.

        A part of another kind than the default has nothing of it.
        """
        if not isinstance(settings, Mapping):
            return settings
        defaults = {name: field.default for name, field in cls.model_fields.items()}
        return {
            name: {**dict(defaults[name]), **given}
            if isinstance(given, Mapping) and _is_of_the_kind(given, defaults.get(name))
            else given
            for name, given in settings.items()
        }

    def adapter(self, name: str) -> Adapter:
        """The adapter of a data set the study reads."""
        return catalogue.adapter(name)

    def contents(self) -> dict[str, Any]:
        """What the files say that settings name, by the setting; raw files and recorded answers left out."""
        return {}

    def digest(self) -> str:
        """Eight hex digits of what decides the results: every setting but the places of files, and `contents`."""
        settings = self.model_dump(mode="json", exclude=PLACES) | self.contents()
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]
