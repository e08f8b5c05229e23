"""What pref-shap claims of its simulated matches."""

from __future__ import annotations

from tasks.claims.declared import StudyClaims, findings, not_testable
from tasks.claims.duel_claims import PAPERS_RUNS, published_auc, table_2, table_3
from tasks.duels.published_findings import SYNTHETIC

PUBLISHED = published_auc({"gpm": 0.98, "upm": 0.71})
PUBLISHED_SPEC_R = 0.09

CLAIMS = StudyClaims(
    study="synthetic",
    settings=PAPERS_RUNS,
    simulated=True,
    claims=(
        *table_2(comparisons=40_000, items=1_000),
        *table_3(PUBLISHED, PUBLISHED_SPEC_R),
        *findings(SYNTHETIC.findings),
        *not_testable(
            "pref-shap, section 4 and Appendix B",
            "the appendix is not at hand, and the study explains matches between A and B alone",
            {"other_clusters": "Matches between the other clusters are explained as well as those between A and B."},
        ),
    ),
)
