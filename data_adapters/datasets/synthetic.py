"""The synthetic matches of pref-shap, section 4: 1,000 items in three clusters, and no ranking that explains them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from data_adapters.codebooks.synthetic import (
    CLUSTERS,
    COVARIATES,
    ITEM_COLUMNS,
    ITEM_FILE,
    MATCH_COLUMNS,
    MATCH_FILE,
)
from data_adapters.simulators.synthetic import simulate
from data_adapters.source import strict
from data_adapters.source.adapter import Adapter
from data_adapters.source.description import Counts, Dataset, RawFile, categorical, numeric
from data_adapters.source.raw_folder import RawFolder
from data_adapters.source.reading import Reading
from data_adapters.table.side import coin_of
from models.records.manifest import Licence

SYNTHETIC = Dataset(
    name="synthetic",
    title="Synthetic matches that no ranking explains",
    citation=(
        "R. Hu, S. L. Chau, J. Ferrando Huertas, D. Sejdinovic (2022), Explaining Preferences with Shapley Values, "
        "Advances in Neural Information Processing Systems 35, section 4"
    ),
    licence=Licence(name="none needed", terms="Drawn by this project's own generator; do with it what you like."),
    raw=(RawFile(name=ITEM_FILE), RawFile(name=MATCH_FILE)),
    fetch_by_hand=(
        "There is nothing to fetch: the paper says how its data were drawn, and did not publish them",
        "Draw them alike: prefstudy data simulate synthetic; or run the study, which draws its own",
    ),
    side="random",
    items=(
        numeric("within", "decides between two of one cluster (x[0])"),
        numeric("between_ab", "decides between one of A and one of B (x^AB)"),
        numeric("between_ac", "decides between one of A and one of C (x^AC)"),
        numeric("between_bc", "decides between one of B and one of C (x^BC)"),
        categorical("cluster", "cluster", CLUSTERS),
    ),
    published={"synthetic": Counts(items=1_000, comparisons=40_000)},
)


def read(raw: RawFolder) -> tuple[Reading, ...]:
    """The items and their matches. Raises RawDataError."""
    items = strict.read_rows(raw.file(ITEM_FILE), separator=",").after_header(ITEM_COLUMNS).columns(ITEM_COLUMNS)
    numbers = items.integers("item", minimum=1)
    items.require("item", numbers == np.arange(1, len(numbers) + 1), "the numbers from 1 on, one a line")
    rows = strict.read_rows(raw.file(MATCH_FILE), separator=",").after_header(MATCH_COLUMNS)
    rows.require_some("matches")
    matches = rows.columns(MATCH_COLUMNS)
    first, second, winner = (matches.integers(name, minimum=1, maximum=len(numbers)) for name in MATCH_COLUMNS)
    matches.require("second", first != second, "another item than the first")
    matches.require("winner", (winner == first) | (winner == second), "one of the two that met")
    item_ids = np.array(items.texts["item"], dtype=object)
    comparison_id = pa.array([f"match-{number}" for number in range(1, len(first) + 1)], pa.string())
    left_wins = coin_of(comparison_id)
    loser = np.where(winner == first, second, first)
    return (
        Reading(
            name="synthetic",
            items={
                "item_id": item_ids,
                **{name: items.numbers(name) for name in COVARIATES},
                "cluster": items.labels("cluster", {name: name for name in CLUSTERS}),
            },
            comparisons={
                "comparison_id": comparison_id,
                "left_id": item_ids[np.where(left_wins, winner, loser) - 1],
                "right_id": item_ids[np.where(left_wins, loser, winner) - 1],
                "left_wins": left_wins,
            },
            rows_read={ITEM_FILE: len(numbers), MATCH_FILE: len(first)},
        ),
    )


ADAPTER = Adapter(dataset=SYNTHETIC, version="1", read=read, simulate=simulate)
