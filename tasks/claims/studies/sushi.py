"""What dt-pbo claims of people's tastes in sushi."""

from __future__ import annotations

from models.records.published import Published, published_by_split
from models.records.studies.asking_results import (
    ASK_AGAIN,
    BANDIT,
    FOUND_SHARE,
    GP_ASK_AGAIN,
    GP_QEUBO,
    PLAIN_ASK_AGAIN,
    RHO_REGRET,
    TREE_QEUBO,
    TREE_TOP_LEAF,
    WITH_HISTORY,
    WITHOUT_HISTORY,
)
from models.records.studies.respondent_results import GP_MODEL, TREE_MODEL
from tasks.claims.declared import Claim, Order, Pair, Place, StudyClaims, not_testable, number
from tasks.claims.tree_claims import accuracy_claims, smaller_trees

TABLE_1 = "dt-pbo, Table 1"
PUBLISHED = published_by_split({"train": 0.998, "test": 0.888}, model=TREE_MODEL, source=TABLE_1)
PUBLISHED_GP = published_by_split({"train": 0.997, "test": 0.895}, model=GP_MODEL, source=TABLE_1)
PUBLISHED_ASKING = tuple(
    Published(
        model=model, variant=way, metric=FOUND_SHARE, split="asked", at=BANDIT, value=0.7, source="dt-pbo, section 4.2"
    )
    for model, way in ((TREE_MODEL, TREE_TOP_LEAF), (GP_MODEL, GP_QEUBO))
)

NEVER = "no pair is asked twice"
QUESTIONS = 20
"""Number of questions to each user; Figure 17 shows as many."""
LAST_ASKED = QUESTIONS
AGAIN = "_ask_again"
"""How variants with earlier users end where a pair may be asked again, as in the paper."""

_tree = Place(model=TREE_MODEL, variant=ASK_AGAIN, metric=RHO_REGRET, split="asked", at=BANDIT)
_plain = _tree.but(variant=PLAIN_ASK_AGAIN)
_gp = _tree.but(model=GP_MODEL, variant=GP_ASK_AGAIN)
_history = Place(model="user_tree", variant=f"sushi_{WITH_HISTORY}{AGAIN}", metric=RHO_REGRET, split="asked", at=BANDIT)
_history_b = _history.but(variant=f"sushi_b_{WITH_HISTORY}{AGAIN}", at=LAST_ASKED)
_alone = _history.but(variant=f"sushi_{WITHOUT_HISTORY}{AGAIN}")


def _never(place: Place, way: str) -> Place:
    return place.but(variant=way, protocol=NEVER)


def _found(published: Published, who: str, asking_again: str) -> Claim:
    place = Place(model=published.model, variant=asking_again, metric=FOUND_SHARE, split="asked", at=BANDIT)
    words = f"After at most {BANDIT} questions, {who} has found the favourite of about 70% of the users."
    return number(
        f"found_{published.model}", published, words, place, _never(place, published.variant or ""), decimals=1
    )


CLAIMS = StudyClaims(
    study="sushi",
    settings={"users": None, "split": "pair", "test_share": 0.2, "questions": QUESTIONS},
    claims=(
        *accuracy_claims(PUBLISHED, decimals=3),
        *accuracy_claims(PUBLISHED_GP, decimals=3),
        smaller_trees("dt-pbo, section 5"),
        *not_testable(
            "dt-pbo, section 4.2",
            "the runs hold out pairs, as the paper did, and all users of dataset A rank the same ten kinds; protocols "
            "that hold out items are in results/protocols.parquet",
            {"unseen_items": "The trees generalise well to kinds of sushi that a user has not compared."},
        ),
        *(
            _found(published, who, way)
            for published, who, way in zip(
                PUBLISHED_ASKING, ("the tree", "the Gaussian process"), (ASK_AGAIN, GP_ASK_AGAIN), strict=True
            )
        ),
        Claim(
            name="regret_below_gp", source="dt-pbo, Figure 3",
            words=f"The tree has a lower regret than the Gaussian process early on (after {BANDIT} questions).",
            test=Order(
                pairs=(
                    Pair(first=_tree, second=_gp),
                    Pair(first=_never(_tree, TREE_TOP_LEAF), second=_never(_gp, GP_QEUBO)),
                ),
                side="below",
            ),
        ),
        *(
            Claim(
                name=f"top_leaf_{metric}", source="dt-pbo, Figure 7",
                words=f"With questions within the top leaf, {words} than without them (after {BANDIT} questions).",
                test=Order(
                    pairs=(
                        Pair(first=_tree.but(metric=metric), second=_plain.but(metric=metric)),
                        Pair(
                            first=_never(_tree, TREE_TOP_LEAF).but(metric=metric),
                            second=_never(_plain, TREE_QEUBO).but(metric=metric),
                        ),
                    ),
                    side=side,
                ),
            )
            for metric, side, words in (
                (RHO_REGRET, "below", "the regret is lower"), (FOUND_SHARE, "above", "more favourites are found")
            )
        ),
        Claim(
            name="history_helps", source="dt-pbo, Figure 17",
            words=f"On dataset A, earlier users' answers lower the regret early on (after {BANDIT} questions).",
            test=Order(
                pairs=(
                    Pair(first=_history, second=_alone),
                    Pair(
                        first=_never(_history, f"sushi_{WITH_HISTORY}"),
                        second=_never(_alone, f"sushi_{WITHOUT_HISTORY}"),
                    ),
                ),
                side="below",
            ),
        ),
        Claim(
            name="history_same_end", source="dt-pbo, Figure 17",
            words="On dataset A, both ways end with about the same regret (at most 0.1 apart after all questions).",
            test=Order(
                pairs=(Pair(first=_history.but(at=LAST_ASKED), second=_alone.but(at=LAST_ASKED)),),
                side="within", bound=0.1,
            ),
        ),
        Claim(
            name="history_above_zero", source="dt-pbo, Figure 17",
            words="On dataset B, the regret does not reach zero.",
            test=Order(pairs=(Pair(first=_history_b),), side="above"),
        ),
        *not_testable(
            "dt-pbo, Figure 17",
            "the study keeps means over all later users, not those of each cohort",
            {"history_improves": "On dataset B, the final regret falls as more cohorts have been asked."},
        ),
        *not_testable(
            "dt-pbo, section 4.2 and Figure 16",
            "the user of that figure is not named, and what a tree makes readable has no measure",
            {"readable": "A user's tree shows which features of sushi decide for that user."},
        ),
    ),
)  # fmt: skip
