"""Published figures about duels, step by step from the protocol of this study to the published one."""

from __future__ import annotations

from models.records.duel_results import AS_PUBLISHED, AUC, BALANCED_ACCURACY, MIRRORED_FIRST
from reports.duels.scores import MODELS, SHORT, Duel, Scores
from reports.page.blocks import Block, Column, Prose, Row, Table
from reports.page.wording import fixed, listed, points, share


def protocol_blocks(scores: Scores, duel: Duel, *, comparable: bool) -> list[Block]:
    """The steps in words and as a table, and the difference that they leave."""
    if not scores.mirrored:
        return [Prose(["The published protocol was not tried in this run (setting published_protocol)."])]
    found = scores.comparisons
    off: dict[str, float] = {each.model: each.difference for each in found.published} if comparable else {}
    later = {MIRRORED_FIRST: "mirrored first"}
    if found.last_protocol == AS_PUBLISHED:
        later[AS_PUBLISHED] = "and data as published"
    rows = []
    for model in scores.mirrored:
        last = scores(model, BALANCED_ACCURACY, found.last_protocol)
        first = (share(scores(model, AUC).value), share(scores(model, BALANCED_ACCURACY).value))
        steps = [share(scores(model, BALANCED_ACCURACY, variant).value) for variant in later]
        rows.append(Row((MODELS[model], *first, *steps, fixed(last.published, 2), points(off.get(model)))))
    table = Table(
        "From the AUC of this study to the published figure, step by step.",
        [
            Column("", "left"),
            Column("AUC", group="split first"),
            Column("thresholded", group="split first"),
            *(Column("thresholded", group=name) for name in later.values()),
            Column("published"),
            Column("points"),
        ],
        rows,
        note="Published: pref-shap, Table 3, where it is called test AUC. Points: 100 × (the last step − published)"
        + (".", "; not shown, because the published figures are of other data.")[not comparable],
    )
    return [_steps(scores, duel), table, *([_unexplained(scores)] if comparable else [])]


def _unexplained(scores: Scores) -> Prose:
    """The differences to the published figures that the steps leave unexplained."""
    found = scores.comparisons
    far = [f"the {SHORT[each.model]} by {points(each.difference)} points" for each in found.published if not each.near]
    if not far:
        return Prose(
            [f"After these steps no figure is more than {fixed(100 * found.near, 0)} points from the published one."]
        )
    return Prose(
        [
            f"After these steps there is still a difference to what was published: {listed(far)}. The published code "
            "also fits a squared loss where this one is logistic, scales the features of each side and each part "
            "separately, and searches other settings."
        ]
    )


def _steps(scores: Scores, duel: Duel) -> Prose:
    found = scores.comparisons
    most = next((leak for leak in found.leaks if leak.model == found.most_leaked), None)
    leaked = (
        []
        if most is None
        else [f"That moves the figures by up to {fixed(100 * most.difference, 1)} points (the {SHORT[most.model]}’s)."]
    )
    unknown = (
        [
            f"The published data also have {duel.many} whose winner is not known. The published code counts each of "
            "them as a win of the second. No model can predict those, which lowers every figure."
        ]
        if found.last_protocol == AS_PUBLISHED
        else []
    )
    return Prose(
        [
            " ".join(
                [
                    f"The published protocol differs in two steps. First, every {duel.one} is doubled with its sides "
                    f"swapped before the split. For most tested {duel.many} the mirror image is then in training, "
                    f"which for these models is the {duel.one} itself.",
                    *leaked,
                    "Second, scores are thresholded before the area under the curve is taken. That leaves the mean of "
                    f"two accuracies, on {duel.many} that the left one won and on those that the right one won; what "
                    "scores say beyond their sign no longer counts.",
                ]
            ),
            *unknown,
        ]
    )
