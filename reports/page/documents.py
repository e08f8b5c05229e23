"""Reading a JSON result of a run into the record it was written from."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, ValidationError

from reports.page.finished_run import FinishedRun, NotARunError


def read_document(run: FinishedRun, name: str, kind: Any) -> Any:
    """Read `results/<name>.json` as `kind`, a record or a collection of records.

    Raises NotARunError if the file is missing or does not fit.
    """
    try:
        return TypeAdapter(kind).validate_python(run.json(name))
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise NotARunError(
            f"{run.path / 'results' / f'{name}.json'}, {where}: {first['msg']}. Run the study again."
        ) from problem
