"""What pref-shap claims of tennis matches."""

from __future__ import annotations

from tasks.claims.declared import StudyClaims, findings
from tasks.claims.duel_claims import PAPERS_RUNS, published_auc, table_2, table_3
from tasks.duels.published_findings import TENNIS

PUBLISHED = published_auc({"c_gpm": 0.58, "upm": 0.52})
PUBLISHED_SPEC_R = 0.13

CLAIMS = StudyClaims(
    study="tennis",
    settings=PAPERS_RUNS,
    claims=(
        *table_2(comparisons=95_359, items=3_483, contexts=4_114),
        *table_3(PUBLISHED, PUBLISHED_SPEC_R),
        *findings(TENNIS.findings),
    ),
)
