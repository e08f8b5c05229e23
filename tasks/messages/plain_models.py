"""Plain models of the messages beside the tree: scored on the second inbox, fitted to the first.

No text of a patient, nor a word of one, leaves this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from models.baselines.beside import Beside
from models.baselines.coin import Coin
from models.baselines.text_logit import TextLogit
from models.records.arrays import FloatArray
from models.records.feature_spec import FeatureSpec
from models.records.results import BESIDE_PLAIN
from models.records.studies.message_results import (
    CHOSEN_SINGLE,
    COIN,
    SINGLE_FEATURE,
    START_FEATURES,
    TEXT_LOGIT,
    WHOLE,
    ChosenSingle,
)
from models.records.studies.respondent_results import SPLITS, TEST, TREE_MODEL
from models.scores.accuracy import accuracies
from models.scores.comparing import Difference
from models.scores.intervals import OTHER_PATIENTS
from models.scores.jackknife import mean_over_patients
from tasks.messages.inbox import Inbox, Values, is_constant
from tasks.messages.ranking_results import accuracy_rows
from tasks.messages.settings import TreeSettings
from tasks.runs.results import add_metrics, write_json


def write_plain(
    study: str,
    results: Path,
    boxes: Sequence[Inbox],
    specs: Sequence[FeatureSpec],
    values: Sequence[Values],
    start: Sequence[FeatureSpec],
    start_values: Sequence[Values],
    *,
    settings: TreeSettings,
) -> None:
    """Add the accuracies of plain models to `metrics.json`, and write `beside_plain.json` and `chosen_single.json`.

    values, start_values: of the features found and of those given at the start, in both inboxes. The tree over the
    latter is left out if the search ended with the very same ones, or if no tree can split by any of them.
    """
    text = TextLogit().fit(_texts(boxes[0]), boxes[0].comparisons)
    predicted = {
        COIN: [Coin().decision_function(_nothing(box), box.comparisons) for box in boxes],
        TEXT_LOGIT: [text.decision_function(_texts(box), box.comparisons) for box in boxes],
    }
    varies = any(not is_constant(start_values[0][spec.name]) for spec in start)
    if varies and {spec.name for spec in start} != {spec.name for spec in specs}:
        predicted[START_FEATURES] = _grown(boxes, start, start_values, settings)
    usable = [spec for spec in specs if not is_constant(values[0][spec.name])]
    by_feature = {spec.name: _grown(boxes, [spec], values, settings) for spec in usable}
    if len(usable) > 1:
        # The first inbox chooses; the second has no part in it.
        chosen = max(by_feature, key=lambda name: float(_right(by_feature[name][0]).mean()))
        predicted[SINGLE_FEATURE] = by_feature[chosen]
        write_json(results / f"{CHOSEN_SINGLE}.json", ChosenSingle(feature=chosen).model_dump(mode="json"))
    rows = [
        row.model_copy(update={"study": study})
        for variant, differences in predicted.items()
        for split, box, difference in zip(SPLITS, boxes, differences, strict=True)
        for row in accuracy_rows(
            TREE_MODEL if variant in {START_FEATURES, SINGLE_FEATURE} else variant,
            variant, split, difference, box.comparisons, known=split == TEST,
        )
    ]  # fmt: skip
    add_metrics(results / "metrics.json", rows)
    whole = _grown(boxes, specs, values, settings)[1] if usable else None
    beside = _beside(whole, {name: differences[1] for name, differences in predicted.items()}, boxes[1])
    write_json(results / f"{BESIDE_PLAIN}.json", [beside.model_dump(mode="json")])


def _beside(whole: FloatArray | None, plain: Mapping[str, FloatArray], box: Inbox) -> Beside:
    """The tree over all features beside the plain model of the highest accuracy in an inbox.

    whole, plain: the differences (n,) that they give its pairs; whole is None where every feature is constant, so that
    no tree can say anything. The interval is over other patients.
    """
    right = {name: _right(difference) for name, difference in plain.items()}
    best = max(right, key=lambda name: float(right[name].mean()))
    difference = Difference(estimate=None, over=OTHER_PATIENTS)
    if whole is not None:
        difference = mean_over_patients(_right(whole) - right[best], box.comparisons, len(box.ids))
    return Beside(variant=TEST, model=WHOLE, plain=best, difference=difference)


def _grown(
    boxes: Sequence[Inbox], specs: Sequence[FeatureSpec], values: Sequence[Values], settings: TreeSettings
) -> list[FloatArray]:
    """The tree over some features, fitted to the first inbox: the difference it gives each pair of both inboxes."""
    encoded = [box.encoded(specs, each) for box, each in zip(boxes, values, strict=True)]
    tree = settings.grow(encoded[0].items, encoded[0].columns, encoded[0].comparisons)
    return [tree.decision_function(each.items, each.comparisons) for each in encoded]


def _right(difference: FloatArray) -> FloatArray:
    """How right the prediction of each pair is, (n,): 1, 0, or one half for a tie."""
    n = len(difference)
    return accuracies(difference, np.arange(n), n).accuracy


def _texts(box: Inbox) -> list[str]:
    return ["\n".join(patient.texts) for patient in box.patients]


def _nothing(box: Inbox) -> list[list[float]]:
    return [[0.0]] * len(box.ids)
