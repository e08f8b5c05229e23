"""Cape dwarf chameleons: 106 contests between 35 males, as the R package BradleyTerry2 has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from data_adapters.codebooks.chameleon import (
    COLUMNS,
    CSV_FILES,
    MISSING_CONTEST,
    PREDICTORS,
    PRIOR_WINS,
    R_OBJECT,
    RDA_FILE,
    SLIPS,
    count_prior_wins,
)
from data_adapters.simulators.chameleon import simulate
from data_adapters.source import strict
from data_adapters.source.adapter import Adapter
from data_adapters.source.description import Counts, Dataset, RawFile, binary, numeric
from data_adapters.source.faults import read_all
from data_adapters.source.r_data import read_frames
from data_adapters.source.raw_folder import RawFolder
from data_adapters.source.reading import Columns, Reading
from data_adapters.table.side import coin_of
from models.records.arrays import BoolArray, IntArray
from models.records.manifest import Licence

CHAMELEON = Dataset(
    name="chameleon",
    title="Contests between male Cape dwarf chameleons",
    citation=(
        "D. Stuart-Fox, D. Firth, A. Moussalli, M. Whiting (2006), Multiple signals in chameleon contests: designing "
        "and analysing animal contests as a tournament, Animal Behaviour 71, 1263-1271"
    ),
    licence=Licence(
        name="GPL-2.0-or-later",
        terms="Part of the free R package BradleyTerry2; the data are in it by permission of D. Stuart-Fox.",
        url="https://cran.r-project.org/package=BradleyTerry2",
    ),
    raw=(
        RawFile(
            name=RDA_FILE,
            sha256="77fd6046cbd573a9f59737cf12e386855d8ad081a9d388bb2f3e5b462f899002",
            bytes=2_225,
            url=(
                "https://raw.githubusercontent.com/cran/BradleyTerry2/cc0136a2bfaa65193c347cec66add374da93f427/data/"
                "chameleons.rda"
            ),
        ),
    ),
    other_forms=(
        (
            RawFile(
                name=CSV_FILES["winner"],
                sha256="5621175c2ab210f8ff89a1f612e4abd3be7ecb44784e9887d64169ab3e301a12",
                bytes=1_426,
            ),
            RawFile(
                name=CSV_FILES["loser"],
                sha256="77f5e6bcd0a186cd801f29b86f0d8d7c5bd9d8875183b4a3b21d11a76f8cb7de",
                bytes=1_426,
            ),
            RawFile(
                name=CSV_FILES["predictors"],
                sha256="b4e4074d06b05f37366940d3999512ad3b4a14aa556fcdf7d8ceeaf59f730ade",
                bytes=1_958,
            ),
        ),
    ),
    side="random",
    items=(
        numeric("casque_height", "relative height of the casque (ch.res)", unit="residual"),
        numeric("jaw_length", "relative length of the jaw (jl.res)", unit="residual"),
        numeric("tail_length", "relative length of the tail (tl.res)", unit="residual"),
        numeric("condition", "body mass relative to body length (mass.res)", unit="residual"),
        numeric("body_length", "length from snout to vent (SVL)", unit="mm", minimum=0),
        numeric("main_patch", "share of the main flank patch, arcsine-transformed (prop.main)", unit="degrees",
                minimum=0, maximum=90),
        numeric("flank_patch", "share of the whole flank patch, arcsine-transformed (prop.patch)", unit="degrees",
                minimum=0, maximum=90),
    ),
    comparisons=tuple(
        feature
        for side in ("left", "right")
        for feature in (
            binary(f"{side}_won_last", f"whether the {side} one won his last contest before", false="no", true="yes"),
            numeric(f"{side}_wins_of_last_two", f"wins of the {side} one in his last two contests before", minimum=0,
                    maximum=2),
            numeric(f"{side}_prior_wins", f"wins of the {side} one in all contests before", minimum=0),
        )
    ),
    published={"chameleon": Counts(items=35, comparisons=106)},
)  # fmt: skip


def read(raw: RawFolder) -> tuple[Reading, ...]:
    """The contests in their order, with each male's earlier wins. Raises RawDataError."""
    tables = _tables(raw)
    predictors = tables["predictors"]
    found = read_all({
        "unique": partial(predictors.require_unique, "ID"),
        "males": partial(predictors.text, "ID"),
        **{name: partial(predictors.numbers, column) for name, column in PREDICTORS.items()},
    })  # fmt: skip
    males = found["males"]
    return (
        Reading(
            name="chameleon",
            items={
                "item_id": males,
                **{name: found[name] for name in PREDICTORS},
            },
            comparisons=_comparisons(tables["winner"], tables["loser"], males),
            rows_read={table.rows.name: len(table.rows.lines) for table in tables.values()},
            quirks=_quirks(tables),
        ),
    )


def _tables(raw: RawFolder) -> dict[str, strict.Columns]:
    """The three tables as texts, from the R file or from the CSV files."""
    if raw.has(RDA_FILE):
        rows = read_frames(raw.file(RDA_FILE), R_OBJECT, COLUMNS)
    else:
        texts = {name: strict.read_rows(raw.file(file), separator=",") for name, file in CSV_FILES.items()}
        rows = {name: text.after_header(COLUMNS[name]) for name, text in texts.items()}
    return {name: rows[name].columns(COLUMNS[name]) for name in COLUMNS}


def _comparisons(winners: strict.Columns, losers: strict.Columns, males: Sequence[str]) -> Columns:
    losers.rows.require_count(len(winners.rows.lines), f"contests as in {winners.rows.name}")
    numbers = np.arange(1, len(winners.rows.lines) + 1)
    numbers += numbers >= MISSING_CONTEST
    for columns in (winners, losers):
        _check_contests(columns, numbers, males)
    won, lost = (np.array(columns.texts["ID"], dtype=object) for columns in (winners, losers))
    losers.require("ID", won != lost, "another male than the winner")
    contest = np.array(winners.texts["contest"], dtype=object)
    comparison_id = pa.array("contest-" + contest)
    left_wins = coin_of(comparison_id)
    of_winner, of_loser = _prior_wins(winners, losers)
    sides = {"left": (of_winner, of_loser), "right": (of_loser, of_winner)}
    return {
        "comparison_id": comparison_id,
        "left_id": np.where(left_wins, won, lost),
        "right_id": np.where(left_wins, lost, won),
        "left_wins": left_wins,
        "task_index": np.arange(len(numbers)),
        **{
            f"{side}_{name}": np.where(left_wins, if_left_wins[name], otherwise[name])
            for side, (if_left_wins, otherwise) in sides.items()
            for name in PRIOR_WINS
        },
    }


def _check_contests(columns: strict.Columns, numbers: IntArray, males: Sequence[str]) -> None:
    """Raise RawDataError unless the contests are in their order (n,), and each of a male that is known."""
    expected = f"the contests in their order from 1 on, without {MISSING_CONTEST}"
    found = read_all({
        "contest": partial(columns.integers, "contest", minimum=1),
        "ID": partial(columns.text, "ID"),
        **{column: partial(columns.integers, column, minimum=0) for column in PRIOR_WINS.values()},
    })  # fmt: skip
    read_all({
        "contest": partial(columns.require, "contest", found["contest"] == numbers, expected),
        "ID": partial(columns.require, "ID", np.isin(found["ID"], males), "a male of the predictors"),
    })  # fmt: skip


def _prior_wins(winners: strict.Columns, losers: strict.Columns) -> tuple[dict[str, IntArray | BoolArray], ...]:
    """Earlier wins of winner and loser before each contest, (n,) each. They have to agree with the contests."""
    counted = count_prior_wins(winners.texts["ID"], losers.texts["ID"])
    read = []
    for columns, expected in zip((winners, losers), counted, strict=True):
        known = np.array([slip in SLIPS for slip in zip(columns.texts["contest"], columns.texts["ID"], strict=True)])
        values = {name: columns.integers(column, minimum=0) for name, column in PRIOR_WINS.items()}
        for name, column in PRIOR_WINS.items():
            agrees = values[name] == expected[name]
            columns.require(column, agrees | (known & (name == "prior_wins")), "what the contests before add up to")
        read.append({**values, "won_last": values["won_last"] == 1})
    return tuple(read)


def _quirks(tables: Mapping[str, strict.Columns]) -> tuple[str, ...]:
    won, lost = (tables[side].texts for side in ("winner", "loser"))
    pairs = Counter(frozenset(pair) for pair in zip(won["ID"], lost["ID"], strict=True))
    counted = count_prior_wins(won["ID"], lost["ID"])
    slips = [
        f"contest {contest} ({male}: {found}, not {expected})"
        for table, of_side in zip((won, lost), counted, strict=True)
        for contest, male, found, expected in zip(
            table["contest"], table["ID"], table[PRIOR_WINS["prior_wins"]], of_side["prior_wins"], strict=True
        )
        if int(found) != expected
    ]
    return (
        f"contest {MISSING_CONTEST} is left out by the authors, and the others keep their numbers",
        f"pairs of males that met more than once: {sum(times > 1 for times in pairs.values())}",
        f"{PRIOR_WINS['prior_wins']}: {len(slips)} numbers of prior wins are not what the contests add up to, and are "
        f"kept{': ' if slips else ''}{', '.join(slips)}",
    )


ADAPTER = Adapter(dataset=CHAMELEON, version="1", read=read, simulate=simulate)
