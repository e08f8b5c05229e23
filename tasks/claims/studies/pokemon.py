"""What pref-shap claims of the battles of Pokemon."""

from __future__ import annotations

from tasks.claims.declared import StudyClaims, findings
from tasks.claims.duel_claims import PAPERS_RUNS, published_auc, table_2, table_3
from tasks.duels.published_findings import POKEMON

PUBLISHED = published_auc({"gpm": 0.86, "upm": 0.82})
PUBLISHED_SPEC_R = 0.20

CLAIMS = StudyClaims(
    study="pokemon",
    settings=PAPERS_RUNS,
    claims=(
        *table_2(comparisons=60_000, items=800),
        *table_3(PUBLISHED, PUBLISHED_SPEC_R),
        *findings(POKEMON.findings),
    ),
)
