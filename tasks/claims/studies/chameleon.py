"""What pref-shap claims of the contests of chameleons."""

from __future__ import annotations

from tasks.claims.declared import StudyClaims, findings, not_testable
from tasks.claims.duel_claims import PAPERS_RUNS, published_auc, table_2, table_3
from tasks.duels.published_findings import CHAMELEON

PUBLISHED = published_auc({"gpm": 0.92, "upm": 0.80})
PUBLISHED_SPEC_R = 0.24

CLAIMS = StudyClaims(
    study="chameleon",
    settings={**PAPERS_RUNS, "folds": None},
    claims=(
        *table_2(comparisons=106, items=35),
        *table_3(PUBLISHED, PUBLISHED_SPEC_R),
        *findings(CHAMELEON.findings),
        *not_testable(
            "pref-shap, section 4 (Stuart-Fox et al. 2006)",
            "it is the result of a linear model of another paper; the utility model's findings above are the nearest",
            {"linear_casque_and_patch": "In a linear Bradley-Terry model, casque height and flank patch matter most."},
        ),
        *not_testable(
            "pref-shap, section 4 and Appendix B",
            "findings are judged over all folds together, not fold by fold",
            {"jaw_in_each_fold": "In models of several folds, a longer jaw always speaks against its owner."},
        ),
    ),
)
