"""An error about a raw file names all of its faults at once, in every adapter, and not one at each try."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data_adapters.catalogue import adapter
from data_adapters.codebooks import pmr, pokemon, sushi, synthetic, tennis
from data_adapters.source.locate import locate
from data_adapters.source.simulation import SIMULATED, simulate
from models.records.errors import RawDataError

BAD = "x!"
Damage = Callable[[Path], None]


def cells(columns: tuple[str, ...], bad: tuple[str, ...], separator: str, *, header: int = 1) -> Damage:
    """Put a bad text into each of these columns, one row below the other."""

    def damage(file: Path) -> None:
        lines = file.read_text("utf-8").splitlines(keepends=True)
        for at, column in enumerate(bad):
            fields = lines[header + at].rstrip("\r\n").split(separator)
            end = lines[header + at][len(lines[header + at].rstrip("\r\n")) :]
            fields[columns.index(column)] = BAD
            lines[header + at] = separator.join(fields) + end
        file.write_text("".join(lines), "utf-8")

    return damage


def values(bad: Mapping[str, object]) -> Damage:
    """Put a bad value into each of these columns of a Parquet file, one row below the other."""

    def damage(file: Path) -> None:
        table = pq.read_table(file)
        for at, (column, value) in enumerate(bad.items()):
            found = table[column].to_pylist()
            found[at] = value
            place = table.column_names.index(column)
            table = table.set_column(place, column, pa.array(found, table.schema.field(column).type))
        pq.write_table(table, file)

    return damage


FAULTS: Mapping[tuple[str, str], tuple[Damage, tuple[str, ...]]] = {
    ("pokemon", pokemon.ITEM_FILE): (
        cells(pokemon.ITEM_COLUMNS, ("HP", "Speed", "Legendary"), ","),
        ("HP", "Speed", "Legendary"),
    ),
    ("pokemon", pokemon.COMBAT_FILE): (
        cells(pokemon.COMBAT_COLUMNS, ("First_pokemon", "Winner"), ","),
        ("First_pokemon", "Winner"),
    ),
    ("synthetic", synthetic.ITEM_FILE): (
        cells(synthetic.ITEM_COLUMNS, ("within", "cluster"), ","),
        ("within", "cluster"),
    ),
    ("sushi", sushi.USER_FILE): (
        cells(sushi.USER_COLUMNS, ("age", "seconds", "region_now"), "\t", header=0),
        ("age", "seconds", "region_now"),
    ),
    ("sushi", sushi.ITEM_FILE): (
        cells(sushi.ITEM_COLUMNS, ("style", "oiliness"), "\t", header=0),
        ("style", "oiliness"),
    ),
    ("sushi", sushi.ORDER_FILES["b"]): (
        cells(sushi.ORDER_COLUMNS, ("start", "rank 3", "rank 10"), " "),
        ("start", "rank 3", "rank 10"),
    ),
    ("tennis", tennis.PLAYER_FILE): (
        cells(tennis.PLAYER_COLUMNS, ("height_cm", "handedness", "backhand"), ","),
        ("height_cm", "handedness", "backhand"),
    ),
    ("tennis", tennis.MATCH_FILE): (
        cells(tennis.MATCH_COLUMNS, ("winner_player_id", "round_order", "tourney_round_name"), ","),
        ("winner_player_id", "round_order", "tourney_round_name"),
    ),
    ("pmr", pmr.INBOX_FILES["a"]): (
        values({"level": 0, "relevancy": -1}),
        ("level", "relevancy"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "file"), FAULTS, ids=[" ".join(key) for key in FAULTS])
def test_all_columns_of_a_file_that_are_wrong_are_named_at_once(name: str, file: str, tmp_path: Path) -> None:
    source = adapter(name)
    simulate(source, tmp_path / "raw", seed=3, users=12)
    (tmp_path / "raw" / SIMULATED).unlink()
    damage, named = FAULTS[name, file]
    damage(tmp_path / "raw" / file)
    with pytest.raises(RawDataError) as found:
        source.read(locate(source, tmp_path / "raw", allow_unpinned=True))
    told = str(found.value).split("\n")
    assert len(told) == len(named)
    for column, line in zip(sorted(named), sorted(told, key=lambda line: line.split("column ")[1]), strict=True):
        assert line.startswith(file)
        assert f"column {column}:" in line


def test_all_rows_of_an_inbox_that_are_wrong_are_named_at_once(tmp_path: Path) -> None:
    source = adapter("pmr")
    simulate(source, tmp_path / "raw", seed=3, users=12)
    (tmp_path / "raw" / SIMULATED).unlink()
    file = tmp_path / "raw" / pmr.INBOX_FILES["a"]
    table = pq.read_table(file)
    texts = table["text"].to_pylist()
    texts[1], texts[4] = "no record", "no record either"
    place = table.column_names.index("text")
    pq.write_table(table.set_column(place, "text", pa.array(texts)), file)
    with pytest.raises(RawDataError, match=r"row 2: .*\n.*row 5: "):
        source.read(locate(source, tmp_path / "raw", allow_unpinned=True))
