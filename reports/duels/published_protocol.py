"""What was published about duels, step by step from what is measured here to what was measured there."""

from __future__ import annotations

import numpy as np

from reports.duels.scores import AS_PUBLISHED, LEAKING, MIRRORED_FIRST, MODELS, SHORT, Duel, Scores
from reports.page.blocks import Block, Column, Prose, Row, Table
from reports.page.wording import fixed, listed, points, share

NEAR = 0.02
"""A figure as near to the published one as this counts as found again."""


def protocol_blocks(scores: Scores, duel: Duel, *, comparable: bool) -> list[Block]:
    """The table of the steps, what each of them is, and what they leave open."""
    if not scores.mirrored:
        return [Prose(["The published protocol was not tried in this run (setting published_protocol)."])]
    later = {MIRRORED_FIRST: "mirrored first"}
    if scores.last == AS_PUBLISHED:
        later[AS_PUBLISHED] = "and data as published"
    rows = []
    for model in scores.mirrored:
        last = scores(model, LEAKING, scores.last)
        off = last.value - last.published if last.published is not None and comparable else None
        first = (share(scores(model, "auc").value), share(scores(model, LEAKING).value))
        steps = [share(scores(model, LEAKING, variant).value) for variant in later]
        rows.append(Row((MODELS[model], *first, *steps, fixed(last.published, 2), points(off))))
    table = Table(
        "What the published figure measures, step by step.",
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
        + (".", "; none, as these data are not those.")[not comparable],
    )
    return [_steps(scores, duel), table, *([_left_over(scores)] if comparable else [])]


def _left_over(scores: Scores) -> Prose:
    """What the steps do not explain of the difference to the published figures."""
    last = {model: scores(model, LEAKING, scores.last) for model in scores.mirrored}
    off = {model: score.value - score.published for model, score in last.items() if score.published is not None}
    far = [f"the {SHORT[model]} by {points(by)} points" for model, by in off.items() if abs(by) > NEAR]
    if not far:
        return Prose(
            [f"After these steps no figure is more than {fixed(100 * NEAR, 0)} points from the published one."]
        )
    return Prose(
        [
            f"After these steps there is still a difference to what was published: {listed(far)}. The published code "
            "also fits a squared loss where this one is logistic, scales the features of each side and each part by "
            "themselves, and searches other settings."
        ]
    )


def _steps(scores: Scores, duel: Duel) -> Prose:
    leaked = [
        100 * (scores(model, LEAKING, MIRRORED_FIRST).value - scores(model, LEAKING).value) for model in scores.mirrored
    ]
    most = scores.mirrored[int(np.argmax(leaked))]
    made_up = (
        [
            f"The published data have {duel.many} beside these of which nobody knows who won: the published code "
            f"counts each of them as a win of the second. No model can predict those, which takes from every figure."
        ]
        if scores.last == AS_PUBLISHED
        else []
    )
    return Prose(
        [
            f"The published protocol differs in two steps. First, every {duel.one} is doubled with its sides changed, "
            f"and the doubled ones are split: of most tested {duel.many} the mirror image is then in training, which "
            f"for these models is the {duel.one} itself. That changes most for the {SHORT[most]}, by "
            f"{fixed(max(leaked), 1)} points. "
            f"Second, scores are thresholded before the area under the curve is taken, which leaves the mean of two "
            f"accuracies: a number lower than the AUC whenever scores say more than their sign.",
            *made_up,
        ]
    )
