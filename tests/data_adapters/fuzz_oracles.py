"""Independent readings of raw files: who won, straight from the cells, with none of the adapters' code."""

from __future__ import annotations

import csv
import itertools
import math
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.parquet as pq
import pyreadstat
import rdata

from data_adapters.table.pairwise_table import PairwiseTable

Won = Counter[tuple[str, ...]]
SHIPPED = Path(__file__).parents[2] / "data_adapters" / "choice" / "mappings"


def winners(table: PairwiseTable) -> Won:
    """Name of the table, winner and loser of each comparison."""
    rows = table.comparisons.select(["left_id", "right_id", "left_wins"]).to_pylist()
    sides = [(row["left_id"], row["right_id"])[:: 1 if row["left_wins"] else -1] for row in rows]
    return Counter((table.name.replace("beetles", "drafted"), *pair) for pair in sides)


def tasks(table: PairwiseTable) -> Won:
    """Id, outcome and profiles of each comparison, and the number of tasks, kept or dropped."""
    items = {row["item_id"]: row for row in table.items.drop_columns(["label"]).to_pylist()}
    numbers = [feature.name for feature in table.item_features if feature.kind == "numeric"]
    found: Won = Counter()
    for row in table.comparisons.to_pylist():
        profiles = [_number(items[row[side]][name]) for side in ("left_id", "right_id") for name in numbers]
        found[row["comparison_id"], str(row["left_wins"]), *profiles] += 1
    return found


def delimited(file: str, winner: int, loser: int, separator: str = ",") -> Callable[[Path], Won]:
    """Who won in a file with a header, by the columns that the header of the unchanged file had at these positions."""

    def read(folder: Path) -> Won:
        rows = _rows(folder / file, separator)
        names = {0: "won", 1: "lost"}
        at = [rows[0].index(names[place]) for place in (winner, loser)]
        return Counter(("drafted", row[at[0]], row[at[1]]) for row in rows[1:])

    return read


def _rows(path: Path, separator: str) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file, delimiter=separator))


def _synthetic(folder: Path) -> Won:
    from data_adapters.codebooks.synthetic import MATCH_COLUMNS

    rows = [dict(zip(*pair, strict=True)) for pair in _with_header(_rows(folder / "matches.csv", ","))]
    found: Won = Counter()
    for row in rows:
        one, other, winner = (row[name] for name in MATCH_COLUMNS)
        found["synthetic", winner, other if winner == one else one] += 1
    return found


def _with_header(rows: list[list[str]]) -> list[tuple[list[str], list[str]]]:
    return [(rows[0], row) for row in rows[1:]]


def _pokemon(folder: Path) -> Won:
    pairs = _with_header(_rows(folder / "combats.csv", ","))
    fights = [dict(zip(*pair, strict=True)) for pair in pairs]
    found: Won = Counter()
    for fight in fights:
        one, other, winner = (str(int(fight[name])) for name in ("First_pokemon", "Second_pokemon", "Winner"))
        found["pokemon", winner, other if winner == one else one] += 1
    return found


def _sushi(folder: Path) -> Won:
    found: Won = Counter()
    for name, file in (("sushi", "sushi3a.5000.10.order"), ("sushi_b", "sushi3b.5000.10.order")):
        for line in (folder / file).read_text("utf-8").split("\n")[1:]:
            for better, worse in itertools.combinations(line.split()[2:], 2):
                found[name, str(int(better)), str(int(worse))] += 1
    return found


def _tennis(folder: Path) -> Won:
    from data_adapters.codebooks.tennis import MATCH_COLUMNS, MATCH_ENCODING, MATCH_FILE

    with (folder / MATCH_FILE).open(encoding=MATCH_ENCODING, newline="") as file:
        rows = list(csv.reader(file))
    at = [MATCH_COLUMNS.index(name) for name in ("winner_player_id", "loser_player_id")]
    return Counter(("tennis", row[at[0]], row[at[1]]) for row in rows if row != list(MATCH_COLUMNS))


def _chameleon(folder: Path) -> Won:
    frames = rdata.read_rda(folder / "chameleons.rda")["chameleons"]
    pairs = zip(frames["winner"]["ID"], frames["loser"]["ID"], strict=True)
    return Counter(("chameleon", str(won), str(lost)) for won, lost in pairs)


def _pmr(folder: Path) -> Won:
    found: Won = Counter()
    for letter in "ab":
        table = pq.ParquetFile(folder / f"INBOX_{letter.upper()}-00000-of-00001.parquet").read()
        levels = {
            f"{letter}-{row:02d}": level
            for row, (text, level) in enumerate(
                zip(table["text"].to_pylist(), table["level"].to_pylist(), strict=True), 1
            )
            if text and text.strip()
        }
        for one, other in itertools.combinations(levels, 2):
            if levels[one] != levels[other]:
                urgent, later = sorted((one, other), key=lambda each: levels[each])
                found[f"pmr_inbox_{letter}", urgent, later] += 1
    return found


ORACLES: dict[str, Callable[[Path], Won]] = {
    "chameleon": _chameleon,
    "pmr": _pmr,
    "pokemon": _pokemon,
    "sushi": _sushi,
    "synthetic": _synthetic,
    "tennis": _tennis,
}


# -------------------------------------------------------------------------------------- choice experiments


def choices(file: str, name: str = "", mapping: Path | None = None) -> Callable[[Path], Won]:
    """The choices of a file by its mapping, as `tasks` tells them of a table."""
    described = tomllib.loads((mapping or SHIPPED / f"{name}.toml").read_text("utf-8"))

    def read(folder: Path) -> Won:
        rows = _cells(folder / file)
        return _long(rows, described) if "long" in described else _wide(rows, described)

    return read


def _cells(path: Path) -> list[dict[str, str]]:
    if path.suffix == ".csv":
        header, *rows = _rows(path, ",")
    elif path.suffix == ".xlsx":
        header, *rows = [list(row) for row in openpyxl.load_workbook(path, data_only=True).worksheets[0].values]
        rows = [row for row in rows if any(cell is not None for cell in row)]
    elif path.suffix == ".parquet":
        frame = pq.ParquetFile(path).read()
        header, rows = frame.column_names, list(zip(*(column.to_pylist() for column in frame.columns), strict=True))
    else:
        read = pyreadstat.read_sav if path.suffix == ".sav" else pyreadstat.read_dta
        values, _ = read(path, output_format="dict", user_missing=True)
        header, rows = list(values), list(zip(*values.values(), strict=True))
    return [{str(name): _text(cell) for name, cell in zip(header, row, strict=False)} for row in rows]


def _text(cell: Any) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell == int(cell) else str(cell)


def _number(value: Any) -> str:
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        return "missing"


def _labels(attribute: dict[str, Any], missing: list[str], text: str) -> str:
    """What a cell means, for telling whether two profiles are the same."""
    if attribute["kind"] == "numeric":
        return _number(text)
    levels = attribute["levels"]
    if text in {*missing, *attribute.get("missing", [])}:
        return "missing"
    return text if isinstance(levels, list) else levels[text]


def _wide(rows: list[dict[str, str]], described: dict[str, Any]) -> Won:
    layout = described["wide"]
    tasks_of = defaultdict(list)
    for row in rows:
        profiles = [
            [row[each["column"].replace("{side}", side)] for each in described["attributes"]]
            for side in layout["sides"]
        ]
        outcome = {layout["left"]: "True", layout["right"]: "False"}.get(row[layout["choice"]])
        opted = row[layout["choice"]] == layout.get("opt_out")
        tasks_of[row[layout["respondent"]]].append((row[layout["task"]], outcome, opted, profiles))
    return _kept(tasks_of, described)


def _long(rows: list[dict[str, str]], described: dict[str, Any]) -> Won:
    layout = described["long"]
    grouped: dict[tuple[str, str], dict[str, dict[str, str]]] = defaultdict(dict)
    for row in rows:
        key = row[layout["respondent"]], row[layout["task"]]
        assert row[layout["alternative"]] not in grouped[key], "a row comes twice"
        grouped[key][row[layout["alternative"]]] = row
    tasks_of = defaultdict(list)
    for (who, task), found in grouped.items():
        chosen = [name for name, row in found.items() if row[layout["chosen"]] in layout.get("chosen_values", ["1"])]
        outcome = {layout["left"]: "True", layout["right"]: "False"}.get(chosen[0]) if len(chosen) == 1 else None
        profiles = [
            [found[layout[side]][each["column"]] for each in described["attributes"]] for side in ("left", "right")
        ]
        tasks_of[who].append((task, outcome, chosen == [layout.get("opt_out")], profiles))
    return _kept(tasks_of, described)


def _kept(tasks_of: dict[str, list[Any]], described: dict[str, Any]) -> Won:
    most, missing = described.get("most_opt_outs", 1), described.get("missing", [])
    numbers = [place for place, each in enumerate(described["attributes"]) if each["kind"] == "numeric"]
    won: Won = Counter()
    for who, of_one in tasks_of.items():
        if sum(opted for _, _, opted, _ in of_one) > most * len(of_one):
            continue
        for task, outcome, _, profiles in of_one:
            if outcome is None:
                continue
            meant = [
                [_labels(each, missing, text) for each, text in zip(described["attributes"], profile, strict=True)]
                for profile in profiles
            ]
            if meant[0] != meant[1]:
                shown = [_number(profile[place]) for profile in profiles for place in numbers]
                won[f"{who}-{task}", outcome, *shown] += 1
    return won
