"""Messages for invalid settings: every problem pydantic found, with the description of the setting."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

Location = Sequence[int | str]
ALIKE = 0.75
"""A known name that is less similar to an unknown one is no suggestion: `right` for `weight`."""


def dotted(parts: Iterable[int | str], *, whole: str = "the whole") -> str:
    """A pydantic location as text; `whole` if it is empty.

    >>> dotted(("tree", "ratio"))
    'tree.ratio'
    """
    return ".".join(map(str, parts)) or whole


def explain(kind: type[BaseModel], errors: Iterable[ErrorDetails]) -> list[str]:
    """Lines for the terminal: each invalid setting of `kind`, the problem, its description and default.

    For an unknown setting: the closest known name, and all known names beside it.

    >>> from pydantic import Field, ValidationError
    >>> class Tree(BaseModel):
    ...     depth: int = Field(default=3, ge=1, description="most levels")
    >>> try:
    ...     _ = Tree(depth=0)
    ... except ValidationError as error:
    ...     for line in explain(Tree, error.errors()):
    ...         print(line)
      depth = 0: input should be greater than or equal to 1
        depth: most levels (default: 3)
    """
    lines = []
    errors = list(errors)
    for error in errors:
        if error["type"] == "too_short" and any(_lies_in(other["loc"], error["loc"]) for other in errors):
            continue  # too short only because its entries were rejected
        path = _path(kind, error["loc"])
        name = dotted((part for part, _ in path), whole="")
        field = next((field for _, field in reversed(path) if field is not None), None)
        if error["type"] in {"extra_forbidden", "unexpected_keyword_argument"}:
            lines += _unknown(kind, name, error["loc"])
            continue
        found = "" if error["type"] == "missing" or not name else f" = {error['input']}"
        lines.append(f"  {name or 'the whole'}{found}: {_uncapitalised(error['msg'].removeprefix('Value error, '))}")
        if field is not None and field.description:
            lines.append(f"    {name}: {field.description}{_default(field)}")
    return lines


def _lies_in(inner: Location, outer: Location) -> bool:
    return len(inner) > len(outer) and inner[: len(outer)] == outer


def _default(field: FieldInfo) -> str:
    """The default in brackets; empty for a required setting and for a group of settings."""
    default = None if field.is_required() else field.get_default(call_default_factory=True)
    return "" if field.is_required() or isinstance(default, BaseModel) else f" (default: {default})"


def _uncapitalised(text: str) -> str:
    """The text with a small first letter, unless it starts with an abbreviation."""
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


def _unknown(kind: type[BaseModel], name: str, location: Location) -> list[str]:
    owner = _owner(kind, location[:-1])
    known = list(owner.model_fields) if owner is not None else _fields_of_dataclass(kind, location[:-1])
    given = str(location[-1])
    close = [each for each in known if given in each] or difflib.get_close_matches(given, known, n=1, cutoff=ALIKE)
    hint = f" Did you mean {close[0]}?" if close else ""
    return [f"  {name}: there is no such setting.{hint}", f"    There are: {', '.join(known)}"]


def _fields_of_dataclass(kind: type[BaseModel], location: Location) -> list[str]:
    """The settings of a section that is a dataclass, or a dataclass in one; none if there is no such section."""
    found: Any = kind.model_fields[str(location[0])].annotation if location else None
    for part in location[1:]:
        found = get_type_hints(found).get(str(part)) if is_dataclass(found) else None
    return [field.name for field in fields(found)] if is_dataclass(found) else []


def _path(kind: type[BaseModel], location: Location) -> list[tuple[int | str, FieldInfo | None]]:
    """The parts of a location, each with its field; without the tag that selects a kind of settings."""
    path: list[tuple[int | str, FieldInfo | None]] = []
    for at, part in enumerate(location):
        owners = _owners(kind, location[:at])
        if not any(_is_tagged(owner, part) for owner in owners):
            path.append((part, next((o.model_fields[str(part)] for o in owners if part in o.model_fields), None)))
    return path


def _owner(kind: type[BaseModel], location: Location) -> type[BaseModel] | None:
    """The model at a location."""
    return next(iter(_owners(kind, location)), None)


def _owners(kind: type[BaseModel], location: Location) -> list[type[BaseModel]]:
    """The models at a location: one, or several kinds of settings if no tag has selected one yet."""
    owners = [kind]
    for part in location:
        if isinstance(part, int):
            continue
        tagged = [owner for owner in owners if _is_tagged(owner, part)]
        fields = [owner.model_fields[part] for owner in owners if part in owner.model_fields]
        owners = tagged or [model for field in fields[:1] for model in _models_in(field.annotation)]
    return owners


def _is_tagged(model: type[BaseModel], part: int | str) -> bool:
    """Whether a part of a location is the tag that selected the model, not a setting."""
    return "kind" in model.model_fields and model.model_fields["kind"].default == part


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """The models in a type annotation, containers and unions included."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]
