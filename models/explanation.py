"""What pydantic found wrong with settings, in words: every problem, with the setting's own description."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

Location = Sequence[int | str]


def explain(kind: type[BaseModel], errors: Iterable[ErrorDetails]) -> list[str]:
    """Lines that tell what is wrong with each setting of `kind`, and what it is for.

    An unknown setting is refused with the one that may be meant and those there are beside it.
    """
    lines = []
    for error in errors:
        name = ".".join(str(part) for part in error["loc"])
        field = _field(kind, error["loc"])
        if error["type"] == "extra_forbidden":
            lines += _unknown(kind, name, error["loc"])
            continue
        found = "" if error["type"] == "missing" or not name else f" = {error['input']}"
        lines.append(f"  {name or 'the whole'}{found}: {error['msg'][:1].lower()}{error['msg'][1:]}")
        if field is not None and field.description:
            default = "" if field.is_required() else f" (default: {field.get_default(call_default_factory=True)})"
            lines.append(f"    {name}: {field.description}{default}")
    return lines


def _unknown(kind: type[BaseModel], name: str, location: Location) -> list[str]:
    owner = _owner(kind, location)
    known = list(owner.model_fields) if owner is not None else []
    close = difflib.get_close_matches(str(location[-1]), known, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    return [f"  {name}: there is no such setting.{hint}", f"    There are: {', '.join(known)}"]


def _field(kind: type[BaseModel], location: Location) -> FieldInfo | None:
    """The field a location leads to, or the last one on the way that has a name."""
    found: FieldInfo | None = None
    owner: type[BaseModel] | None = kind
    for part in location:
        if isinstance(part, int):
            continue
        if owner is None or part not in owner.model_fields:
            break
        found = owner.model_fields[part]
        owner = _model_in(found.annotation)
    return found


def _owner(kind: type[BaseModel], location: Location) -> type[BaseModel] | None:
    """The model in which an unknown setting was given."""
    parents = [part for part in location[:-1] if isinstance(part, str)]
    field = _field(kind, parents)
    return kind if field is None else _model_in(field.annotation)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that a type is, or that is in a container or union of it."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for model in map(_model_in, get_args(annotation)) if model is not None), None)
