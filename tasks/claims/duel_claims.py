"""The claims of pref-shap's Tables 2 and 3 about one data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from models.records.duel_results import (
    ALL_DUELS,
    AS_PUBLISHED,
    AUC,
    BALANCED_ACCURACY,
    MIRRORED_FIRST,
    NO_MODEL,
    SPEC_R,
    SPLIT_FIRST,
    DuelModel,
)
from models.records.published import Published
from tasks.claims.declared import Claim, Number, Order, Pair, Place, Rows, number

TABLE_3 = "pref-shap, Table 3"
NAMES: Mapping[str, str] = {"gpm": "the general preference model", "c_gpm": "the model with contexts", "upm": "UPM"}
MIRRORED = "balanced accuracy of duels mirrored before the split"
WITH_ADDED = f"{MIRRORED}, with the duels that were published without an outcome"
PAPERS_RUNS = {"items": None, "runs": 5}
"""Settings of the paper's runs: all items, and five splits."""


def published_auc(by_model: Mapping[DuelModel, float]) -> tuple[Published, ...]:
    """The values of pref-shap's Table 3, which calls them test AUC; they are balanced accuracies after mirroring."""
    return tuple(
        Published(model=model, metric=BALANCED_ACCURACY, value=value, source=f"{TABLE_3} (its test AUC)")
        for model, value in by_model.items()
    )


def table_3(published: Sequence[Published], spec_r: float) -> tuple[Claim, ...]:
    """The claims of Table 3: each test AUC, that the general model exceeds UPM, and SpecR."""
    general, utility = (_places(each) for each in published)
    words = {each.model: f"The test AUC of {NAMES[each.model]} is {each.value:.2f}." for each in published}
    return (
        *(
            number(f"auc_{each.model}", each, words[each.model], *_places(each), decimals=2)
            for each in published
        ),
        Claim(
            name="general_above_utility", source=TABLE_3,
            words=f"{NAMES[published[0].model].capitalize()} has a higher test AUC than UPM.",
            test=Order(
                pairs=tuple(Pair(first=a, second=b) for a, b in zip(general, utility, strict=True)), side="above"
            ),
        ),
        Claim(
            name="spec_r", source=TABLE_3, words=f"SpecR, which measures how rankable the items are, is {spec_r:.2f}.",
            test=Number(
                value=spec_r, decimals=2,
                places=(Place(model=NO_MODEL, variant=ALL_DUELS, metric=SPEC_R, split="all"),),
            ),
        ),
    )  # fmt: skip


def table_2(**rows: int) -> tuple[Claim, ...]:
    """The sizes of a data set in Table 2: a number of rows for each part of its table."""
    named = {"comparisons": "duels", "contexts": "contexts of duels"}
    return tuple(
        Claim(
            name=f"n_{part}", source="pref-shap, Table 2", words=f"The data has {count:,} {named.get(part, part)}.",
            test=Rows.model_validate({"part": part, "value": count}),
        )
        for part, count in rows.items()
    )  # fmt: skip


def _places(published: Published) -> tuple[Place, ...]:
    """The AUC of duels that are split as they are, then what was published as AUC."""
    own = Place(model=published.model, variant=SPLIT_FIRST, metric=AUC)
    mirrored = own.but(variant=MIRRORED_FIRST, metric=BALANCED_ACCURACY, protocol=MIRRORED)
    return own, mirrored, mirrored.but(variant=AS_PUBLISHED, protocol=WITH_ADDED)
