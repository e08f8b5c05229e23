"""What dt-pbo claims of ranking patients' messages."""

from __future__ import annotations

from models.records.published import Published, published_by_split
from models.records.studies.message_results import BOTH_ORDERS, JUDGE_MODEL, WHOLE
from models.records.studies.respondent_results import ACCURACY, DELTA_ACCURACY, TEST, TRAIN, TREE_MODEL
from tasks.claims.declared import Claim, Order, Pair, Place, Rows, StudyClaims, not_testable, number
from tasks.messages.ranking_results import CHANGE_WITHOUT, PUBLISHED

WHO = {TREE_MODEL: "The tree of read features", JUDGE_MODEL: "The language model asked directly"}
INBOX = {TRAIN: "INBOX_A", TEST: "INBOX_B"}
FIRST, *OTHERS = CHANGE_WITHOUT
"""The feature that was missed most, and the others."""

TABLE_10 = published_by_split({TRAIN: 0.839, TEST: 0.699}, model=TREE_MODEL, variant=WHOLE, source="dt-pbo, Table 10")
"""The tree with all features stands in this table again, with another number for INBOX_A than in Table 1."""

_tree = Place(model=TREE_MODEL, variant=WHOLE)


def _of_number(published: Published) -> Claim:
    inbox, variant = INBOX[published.split], published.variant or ""
    place = Place(model=published.model, variant=variant, metric=published.metric, split=published.split)
    if published.metric == ACCURACY:
        words = f"{WHO[published.model]} predicts {inbox} with an accuracy of {published.value:.3f}."
        return number(f"accuracy_{published.model}_{published.split}", published, words, place, decimals=3)
    change = f"changes by {100 * published.value:+.1f} points" if published.value else "does not change"
    words = f"Without {variant}, the tree's accuracy on {inbox} {change}."
    return number(f"without_{variant}_{published.split}", published, words.replace("-", "−"), place, decimals=3)


CLAIMS = StudyClaims(
    study="pmr",
    settings={"patients": None},
    claims=(
        Claim(
            name="n_patients", source="dt-pbo, section 4.2", words="INBOX_A has messages of 30 patients.",
            test=Rows(part="items", value=30),
        ),
        *map(_of_number, PUBLISHED),
        *(
            number(f"table_10_{each.split}", each, f"The tree predicts {INBOX[each.split]} with {each.value:.3f}.",
                   _tree.but(split=each.split), decimals=3)
            for each in TABLE_10
        ),
        Claim(
            name="tree_competes", source="dt-pbo, section 4.2",
            words="On INBOX_B, the tree is no worse than the language model asked directly.",
            test=Order(
                pairs=(Pair(first=_tree, second=_tree.but(model=JUDGE_MODEL, variant=BOTH_ORDERS)),), side="above"
            ),
        ),
        Claim(
            name="still_above_chance", source="dt-pbo, appendix G.2",
            words=f"Without {FIRST}, the tree still predicts INBOX_B better than chance.",
            test=Order(pairs=(Pair(first=_tree.but(variant=FIRST)),), side="above", bound=0.5),
        ),
        *(
            Claim(
                name=f"missed_more_than_{other}", source="dt-pbo, Table 10",
                words=f"Accuracy on INBOX_B falls more without {FIRST} than without {other}.",
                test=Order(
                    pairs=(
                        Pair(
                            first=_tree.but(variant=FIRST, metric=DELTA_ACCURACY),
                            second=_tree.but(variant=other, metric=DELTA_ACCURACY),
                        ),
                    ),
                    side="below",
                ),
            )
            for other in OTHERS[:1]
        ),
        *not_testable(
            "dt-pbo, Figure 4",
            "a tree has one way to its top leaf by construction; whether it is this one shows in a run with the model",
            {
                "urgent_first": "Messages of high actionability that tell of trouble breathing or chest pain are to be "
                "read first."
            },
        ),
        *not_testable(
            "dt-pbo, section 4.2 (Gatto et al. 2026)",
            "these models are those of another paper",
            {"fine_tuned": "Models asked directly reach at most 0.72, and 0.73 when fine-tuned."},
        ),
        *not_testable(
            "dt-pbo, Table 4",
            "it is a time on the authors' machine",
            {
                "time_to_extract": "Reading one patient's features takes 0.32 s.",
                "time_to_propose": "Proposing one feature takes 32 s.",
            },
        ),
    ),
)  # fmt: skip
