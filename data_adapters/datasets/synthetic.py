"""The synthetic matches of pref-shap, section 4: 1,000 items in three clusters, and no ranking that explains them."""

from __future__ import annotations

from data_adapters.codebooks.synthetic import CLUSTERS, ITEM_COLUMNS, ITEM_FILE, MATCH_COLUMNS, MATCH_FILE
from data_adapters.contests.adapter import contest_adapter
from data_adapters.contests.tables import ContestTables
from data_adapters.simulators.synthetic import simulate
from data_adapters.source.description import Counts, Dataset, RawFile, categorical, numeric
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
        "Draw them in the same way: prefstudy data simulate synthetic; or run the study, which draws its own",
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
TABLES = ContestTables(
    matches=MATCH_FILE, winner=MATCH_COLUMNS[2], sides=MATCH_COLUMNS[:2], items=ITEM_FILE, item=ITEM_COLUMNS[0],
    missing=(),
)  # fmt: skip

ADAPTER = contest_adapter(SYNTHETIC, TABLES, simulate=simulate)
