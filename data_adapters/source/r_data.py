"""Strict reading of data frames in R's .rda files, as rows of texts like those of a text file."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data_adapters.files.unpacked import read_unpacked_any
from data_adapters.source.strict import Rows, refuse_unprintable
from models.records.errors import RawDataError

if TYPE_CHECKING:
    import pandas as pd


def read_frames(path: Path, name: str, columns: Mapping[str, Sequence[str]]) -> dict[str, Rows]:
    """The data frames of the list `name` in an .rda file, each with its row names as its first column.

    columns: the expected frames, each with its columns. The first names the row names, which have no name in R.
    Raises RawDataError if the file is damaged or holds something else.
    """
    found = _read(path)
    frames = found.get(name)
    if not isinstance(frames, dict) or {str(key) for key in frames} != set(columns):
        inside = ", ".join(map(str, frames if isinstance(frames, dict) else found)) or "nothing"
        raise RawDataError(f"{path.name}: expected the list {name} of {', '.join(columns)}, found {inside}.")
    return {frame: _rows(f"{path.name}${frame}", frames[frame], columns[frame]) for frame in columns}


def _read(path: Path) -> dict[str, Any]:
    import rdata

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whatever causes a warning also causes an error
            content = rdata.read_rda(io.BytesIO(read_unpacked_any(path)))
    except RawDataError:
        raise
    except Exception as error:  # damaged bytes make the parser raise any error
        problem = error or type(error).__name__
        raise RawDataError(f"{path.name}: this is not a complete R data file ({problem}).") from error
    return {str(name): value for name, value in content.items()}


def _rows(name: str, frame: object, columns: Sequence[str]) -> Rows:
    import pandas as pd

    if not isinstance(frame, pd.DataFrame) or [str(column) for column in frame.columns] != list(columns[1:]):
        found = ", ".join(map(str, frame.columns)) if isinstance(frame, pd.DataFrame) else type(frame).__name__
        raise RawDataError(f"{name}: expected a data frame of {', '.join(columns[1:])}, found {found}.")
    values = [_texts(frame.index), *(_texts(frame[column]) for column in frame.columns)]
    rows = [list(row) for row in zip(*values, strict=True)]
    read = Rows(name, rows, list(range(1, len(rows) + 1)), ended=True, unit="row")
    refuse_unprintable(read.columns(columns))
    return read


def _texts(values: pd.Series[Any] | pd.Index[Any]) -> list[str]:
    """Each value as text; NA as an empty text, and a number with as many digits as it needs."""
    import pandas as pd

    return ["" if pd.isna(value) else str(value) for value in values.tolist()]
