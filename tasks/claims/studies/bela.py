"""What dt-pbo claims of women's choices among screening programmes (BELA)."""

from __future__ import annotations

from models.records.published import published_by_split
from models.records.studies.respondent_results import DISCARDED, GP_MODEL, KEPT, TREE_MODEL
from tasks.claims.declared import Claim, Order, Pair, Place, Rows, StudyClaims, not_testable
from tasks.claims.tree_claims import accuracy_claims, smaller_trees, tree_against_process

TABLE_2, TABLE_12 = "dt-pbo, Table 2", "dt-pbo, Table 12"
PUBLISHED = (
    *published_by_split({"train": 0.97, "test": 0.63}, model=TREE_MODEL, variant=DISCARDED, source=TABLE_2),
    *published_by_split({"train": 1.0, "test": 0.60}, model=TREE_MODEL, variant=KEPT, source=TABLE_2),
    *published_by_split({"train": 0.99, "test": 0.55}, model=TREE_MODEL, variant=DISCARDED, source=TABLE_12),
)
PUBLISHED_GP = published_by_split({"train": 1.0, "test": 0.55}, model=GP_MODEL, source=TABLE_12)

_discarded = Place(model=TREE_MODEL, variant=DISCARDED)

CLAIMS = StudyClaims(
    study="bela",
    settings={"users": None, "split": "pair"},
    claims=(
        Claim(
            name="respondents", source="dt-pbo, appendix G.3",
            words="Of 434 women, 428 are left without the six who mostly opted out.",
            test=Rows(part="users", value=428),
        ),
        *accuracy_claims(PUBLISHED, decimals=2),
        *accuracy_claims(PUBLISHED_GP, decimals=2),
        smaller_trees("dt-pbo, appendix C.2"),
        Claim(
            name="little_lost", source="dt-pbo, appendix C.2",
            words="Discarding straddlers costs hardly any held-out accuracy (at most 0.03).",
            test=Order(pairs=(Pair(first=_discarded, second=_discarded.but(variant=KEPT)),), side="above", bound=-0.03),
        ),
        tree_against_process(
            "dt-pbo, appendix G.3", split="train", side="below",
            words="Trees reproduce the choices they were fitted to less well than Gaussian processes.",
        ),
        *not_testable(
            "dt-pbo, appendix G.3 and Figure 21",
            "the respondent of that figure is not named",
            {
                "one_woman": "One woman's tree prefers a sensitivity of 85% or more, most of all with mammography, a "
                "lower price, and an invitation by telephone."
            },
        ),
        *not_testable(
            "dt-pbo, appendix G.3",
            "the study asks nobody question by question: there is no ranking of programmes to answer from",
            {"few_questions": "The best programme for a woman can be found in a few questions."},
        ),
    ),
)  # fmt: skip
