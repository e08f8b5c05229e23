"""Weedle's Cave: 50,000 computer-generated battles of 800 Pokemon, and on request the 60,000 that were published."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data_adapters.codebooks.pokemon import (
    BATTLE_COLUMNS,
    COMBAT_COLUMNS,
    COMBAT_FILE,
    GENERATIONS,
    ITEM_COLUMNS,
    ITEM_FILE,
    STATS,
    TEST_FILE,
    TOP_STAT,
    TYPES,
)
from data_adapters.simulators.pokemon import simulate
from data_adapters.source import strict
from data_adapters.source.adapter import Adapter
from data_adapters.source.description import Counts, Dataset, RawFile, binary, multi_hot, numeric
from data_adapters.source.faults import read_all
from data_adapters.source.raw_folder import RawFolder
from data_adapters.source.reading import Columns, Reading
from models.records.manifest import DroppedRows, Licence

POKEMON = Dataset(
    name="pokemon",
    title="Battles between Pokemon",
    citation="Pokemon - Weedle's Cave, Kaggle, terminus7/pokemon-challenge",
    licence=Licence(
        name="not verified",
        terms="The terms stand on the data set's page at Kaggle; read them before you pass the files on.",
        url="https://www.kaggle.com/datasets/terminus7/pokemon-challenge",
    ),
    raw=(
        RawFile(
            name=ITEM_FILE,
            sha256="da8cd274fe7862ca6b178ed9183bc25483d5602f8062aae6c4cb14b41ede3145",
            bytes=40_453,
        ),
        RawFile(
            name=COMBAT_FILE,
            sha256="8280ad593ca931a7abe08582e0cef64d5f5fe7d3bd30cc198a20e271489d55bc",
            bytes=580_586,
        ),
        RawFile(
            name=TEST_FILE,
            sha256="4a82760f2ea4fafca0e619f4850c9efec968112d9e77c40b72bed3efc68dd2df",
            bytes=77_342,
        ),
    ),
    fetch_by_hand=(
        "Log in at Kaggle and open https://www.kaggle.com/datasets/terminus7/pokemon-challenge",
        "Read the terms there, press Download, and unzip the archive.",
        f"Put {ITEM_FILE}, {COMBAT_FILE} and {TEST_FILE} in one folder.",
        "See whether they are the published ones: prefstudy data check pokemon --raw FOLDER",
    ),
    side="presented",
    item_texts={"label": "English name"},
    items=(
        *(numeric(name, f"the stat {column}", unit="points", minimum=0, maximum=TOP_STAT)
          for name, column in STATS.items()),
        numeric("generation", "generation of the games it first came in", minimum=1, maximum=GENERATIONS),
        binary("legendary", "whether it is legendary", false="ordinary", true="legendary"),
        multi_hot("types", "its one or two types", TYPES),
    ),
    published={"pokemon": Counts(items=800, comparisons=50_000)},
)  # fmt: skip

PUBLISHED_60000 = replace(
    POKEMON,
    title="Battles between Pokemon (the published 60,000: 10,000 of them have no outcome, counted as 'second wins')",
    comparisons=(
        binary("outcome_known", "whether the data has an outcome", false="none: counted as second wins", true="known"),
    ),
    published={"pokemon_published_60000": Counts(items=800, comparisons=60_000)},
)


def read(raw: RawFolder) -> tuple[Reading, ...]:
    """The battles that have an outcome. Raises RawDataError."""
    items = _read_items(raw.file(ITEM_FILE))
    combats = _read_battles(raw.file(COMBAT_FILE), items["item_id"])
    tests = _read_battles(raw.file(TEST_FILE), items["item_id"])
    reason = f"{TEST_FILE} says who fought but not who won"
    return (
        Reading(
            name="pokemon",
            items=items,
            comparisons=combats,
            rows_read=_rows_read(items, combats, tests),
            dropped=(DroppedRows(table="comparisons", reason=reason, rows=len(tests["left_wins"])),),
            quirks=(
                *_quirks(items, combats),
                "pref-shap's 60,000 battles (Table 2) count those without an outcome too; its published code makes "
                "each of them a win of the second. Built on request: variant published-60000",
            ),
        ),
    )


def read_published(raw: RawFolder) -> tuple[Reading, ...]:
    """The battles as pref-shap counts them: without an outcome, the second wins. Raises RawDataError."""
    items = _read_items(raw.file(ITEM_FILE))
    combats = _read_battles(raw.file(COMBAT_FILE), items["item_id"])
    tests = _read_battles(raw.file(TEST_FILE), items["item_id"])
    known = np.arange(len(combats["left_wins"]) + len(tests["left_wins"])) < len(combats["left_wins"])
    made_up = len(tests["left_wins"])
    return (
        Reading(
            name="pokemon_published_60000",
            items=items,
            comparisons={
                **{column: np.concatenate([values, tests[column]]) for column, values in combats.items()},
                "outcome_known": known,
            },
            rows_read=_rows_read(items, combats, tests),
            quirks=(
                f"{TEST_FILE}: {made_up:,} battles have no outcome and are counted as wins of the second, as in "
                f"pref-shap's published code; only for comparison with what it reports",
                *_quirks(items, combats),
            ),
        ),
    )


def _read_items(path: Path) -> Columns:
    rows = strict.read_rows(path, separator=",", quoted=True).after_header(ITEM_COLUMNS)
    columns = rows.columns(ITEM_COLUMNS, final_break=False)
    stats = {name: partial(columns.integers, column, minimum=0, maximum=TOP_STAT) for name, column in STATS.items()}
    types = {name: name for name in TYPES}
    found = read_all({
        "#": partial(columns.integers, "#", minimum=1),
        "first": partial(columns.labels, "Type 1", types),
        "second": partial(columns.labels, "Type 2", types | {"": None}),
        **stats,
        "generation": partial(columns.integers, "Generation", minimum=1, maximum=GENERATIONS),
        "legendary": partial(columns.labels, "Legendary", {"False": False, "True": True}),
    })  # fmt: skip
    numbers, first, second = found["#"], found["first"], found["second"]
    columns.require("#", numbers == np.arange(1, len(numbers) + 1), "the numbers from 1 on, one a line")
    columns.require("Type 2", first != second, "another type than the first, or none")
    names = np.array([name or None for name in columns.texts["Name"]], dtype=object)
    return {
        "item_id": np.array(columns.texts["#"], dtype=object),
        "label": names,
        **{name: found[name] for name in (*STATS, "generation", "legendary")},
        "types": [[one] if other is None else [one, other] for one, other in zip(first, second, strict=True)],
    }


def _read_battles(path: Path, item_ids: NDArray[Any]) -> Columns:
    """The battles of a file. The Pokemon named first is left; in a file without outcomes the second wins."""
    header = COMBAT_COLUMNS if path.name == COMBAT_FILE else BATTLE_COLUMNS
    rows = strict.read_rows(path, separator=",").after_header(header)
    if header == COMBAT_COLUMNS:
        rows.require_some("battles")
    columns = rows.columns(header, final_break=path.name != COMBAT_FILE)
    met = {column: partial(columns.integers, column, minimum=1, maximum=len(item_ids)) for column in header}
    first, second, *outcome = read_all(met).values()
    columns.require("Second_pokemon", first != second, "another Pokemon than the first")
    [winner] = outcome or [second]
    if header == COMBAT_COLUMNS:
        columns.require("Winner", (winner == first) | (winner == second), "one of the two that fought")
    kind = path.stem.removesuffix("s")
    return {
        "comparison_id": np.array([f"{kind}-{number}" for number in range(1, len(first) + 1)], dtype=object),
        "left_id": item_ids[first - 1],
        "right_id": item_ids[second - 1],
        "left_wins": winner == first,
    }


def _rows_read(items: Columns, combats: Columns, tests: Columns) -> dict[str, int]:
    return {
        ITEM_FILE: len(items["item_id"]),
        COMBAT_FILE: len(combats["left_wins"]),
        TEST_FILE: len(tests["left_wins"]),
    }


def _quirks(items: Columns, combats: Columns) -> tuple[str, ...]:
    nameless = [item for item, label in zip(items["item_id"], items["label"], strict=True) if label is None]
    battles = sorted(zip(combats["left_id"], combats["right_id"], combats["left_wins"], strict=True))
    repeats = sum(one == other for one, other in pairwise(battles))
    idle = len(set(items["item_id"]) - set(combats["left_id"]) - set(combats["right_id"]))
    return (
        f"{ITEM_FILE}: {len(nameless)} without a name{f' (#{nameless[0]})' if nameless else ''}",
        f"{ITEM_FILE} column #: a number of this data set, not that of the Pokedex",
        f"{COMBAT_FILE}: {repeats:,} battles repeat an earlier one with the same outcome, and are kept",
        f"{COMBAT_FILE}: {idle} Pokemon never fight",
    )


ADAPTER = Adapter(
    dataset=POKEMON,
    version="1",
    read=read,
    simulate=simulate,
    variants={"published-60000": Adapter(dataset=PUBLISHED_60000, version="1", read=read_published, simulate=simulate)},
)
