"""What dt-pbo claims of choices between candidates for President."""

from __future__ import annotations

from models.records.published import published_by_split
from models.records.studies.respondent_results import DISCARDED, GP_MODEL, TREE_MODEL
from tasks.claims.declared import StudyClaims, not_testable
from tasks.claims.tree_claims import accuracy_claims, tree_against_process

TABLE_12 = "dt-pbo, Table 12"
PUBLISHED = published_by_split({"train": 0.93, "test": 0.68}, model=TREE_MODEL, variant=DISCARDED, source=TABLE_12)
PUBLISHED_GP = published_by_split({"train": 1.0, "test": 0.62}, model=GP_MODEL, source=TABLE_12)

CLAIMS = StudyClaims(
    study="presidential",
    settings={"users": None, "split": "pair"},
    claims=(
        *accuracy_claims(PUBLISHED, decimals=2),
        *accuracy_claims(PUBLISHED_GP, decimals=2),
        tree_against_process(
            "dt-pbo, appendix G.4", split="test", side="above",
            words="Trees predict held-out choices slightly better than Gaussian processes.",
        ),
        tree_against_process(
            "dt-pbo, appendix G.4", split="train", side="below",
            words="Trees reproduce the choices they were fitted to less well than Gaussian processes.",
        ),
        *not_testable(
            "dt-pbo, appendix G.4",
            "it is a property of trees, not a number; the study's report lists the sensitive attributes they ask about",
            {"sensitive": "A tree makes it visible whether a respondent's choices depend on sensitive attributes."},
        ),
    ),
)  # fmt: skip
