"""Damaged chameleon files, and how many contests there are."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import rdata

from tests.data_adapters.datasets.damaged import Account, Damage, Edit

RDA = "chameleons.rda"
Frames = dict[str, pd.DataFrame]

ACCOUNT: Account = {
    "items": lambda read: next(rows for table, rows in read.items() if "predictors" in table),
    "comparisons": lambda read: next(rows for table, rows in read.items() if "winner" in table),
}


def frames(change: Callable[[Frames], Frames | None], name: str = "chameleons") -> Edit:
    """Change the data frames of the file, in place or by giving what to write instead."""

    def edit(content: bytes) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.rda"
            path.write_bytes(content)
            found = {str(key): frame for key, frame in rdata.read_rda(path)["chameleons"].items()}
            instead = change(found) or found
            for frame in instead.values():
                frame.index = frame.index.astype(object if frame.index.dtype == "str" else "int32")
            rdata.write_rda(path, {name: instead})
            return path.read_bytes()

    return edit


def cell(table: str, row: int, column: str, value: object) -> Edit:
    """Replace one value, in a row counted from 1."""

    def change(found: Frames) -> None:
        values = found[table][column].astype(object)
        values.iloc[row - 1] = value
        dtype = "category" if column == "ID" else found[table][column].dtype
        found[table][column] = values.astype(dtype)

    return frames(change)


def rows_of(table: str, keep: Callable[[pd.DataFrame], pd.DataFrame]) -> Edit:
    return frames(lambda found: found | {table: keep(found[table])})


DAMAGED = (
    Damage("cut off", RDA, lambda content: content[:700], "not a complete R data file"),
    Damage("cut off inside", RDA, lambda content: gzip.compress(gzip.decompress(content)[:3000]), "not a complete R"),
    Damage("no R data", RDA, lambda _: b"ID,ch.res\n", "not a complete R data file"),
    Damage("another object", RDA, frames(lambda _: None, name="lizards"), "expected the list chameleons.*lizards"),
    Damage("table missing", RDA, frames(lambda found: {"winner": found["winner"]}), "of winner, .*found winner"),
    Damage("column renamed", RDA, rows_of("winner", lambda table: table.rename(columns={"ID": "id"})),
           r"\$winner: expected a data frame of ID, .* found id"),
    Damage("contest missing", RDA, rows_of("winner", lambda table: table.drop(index=[5])),
           r"\$loser: expected 120 contests"),
    Damage("contests out of order", RDA, rows_of("loser", lambda table: table.iloc[::-1]), "row 1: column contest"),
    Damage("unknown male", RDA, rows_of("predictors", lambda table: table.iloc[1:]), "column ID: expected a male of"),
    Damage("male twice", RDA, rows_of("predictors", lambda table: pd.concat([table, table.iloc[:1]])),
           r"\$predictors, row 41: column ID: expected a new value \(row 1 has this one\)"),
    Damage("predictor missing", RDA, cell("predictors", 3, "SVL", None), r"\$predictors, row 3: column SVL"),
    Damage("too many prior wins", RDA, cell("winner", 1, "prev.wins.all", 1),
           r"\$winner, row 1: column prev.wins.all: expected what the contests before add up to, found '1'"),
    Damage("prior wins missing", RDA, cell("loser", 4, "prev.wins.1", None), r"\$loser, row 4: column prev.wins.1"),
)  # fmt: skip
