"""Plain models of the messages beside the tree: scored on the second inbox, fitted to the first.

No text of a patient, nor a word of one, leaves this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from models.baselines.beside import Beside
from models.baselines.coin import Coin
from models.baselines.text_logit import TextLogit
from models.records.arrays import FloatArray
from models.records.feature_spec import FeatureSpec
from models.records.results import BESIDE_PLAIN, MetricRow
from models.records.studies.message_results import (
    CHOSEN_SINGLE,
    COIN,
    PLAIN_VARIANTS,
    SINGLE_FEATURE,
    START_FEATURES,
    TEXT_LOGIT,
    WHOLE,
    ChosenSingle,
)
from models.records.studies.respondent_results import ACCURACIES, ACCURACY, SPLITS, TEST, TREE_MODEL
from models.scores.accuracy import accuracies
from models.scores.comparing import Difference
from tasks.messages.inbox import Inbox, Values, is_constant
from tasks.messages.settings import TreeSettings
from tasks.runs.results import METRICS, add_metrics, write_json

OTHER_PATIENTS = "other patients"


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
    rows = [
        *_rows(study, COIN, COIN, [Coin().decision_function(_nothing(box), box.comparisons) for box in boxes]),
        *_rows(study, TEXT_LOGIT, TEXT_LOGIT, [text.decision_function(_texts(box), box.comparisons) for box in boxes]),
    ]
    varies = any(not is_constant(start_values[0][spec.name]) for spec in start)
    if varies and {spec.name for spec in start} != {spec.name for spec in specs}:
        rows += _rows(study, TREE_MODEL, START_FEATURES, _grown(boxes, start, start_values, settings))
    usable = [spec for spec in specs if not is_constant(values[0][spec.name])]
    by_feature = {spec.name: _grown(boxes, [spec], values, settings) for spec in usable}
    if len(usable) > 1:
        # The first inbox chooses; the second has no part in it.
        chosen = max(by_feature, key=lambda name: _accuracy(by_feature[name][0]))
        rows += _rows(study, TREE_MODEL, SINGLE_FEATURE, by_feature[chosen])
        write_json(results / f"{CHOSEN_SINGLE}.json", ChosenSingle(feature=chosen).model_dump(mode="json"))
    add_metrics(results / "metrics.json", rows)
    _write_beside(results)


def _write_beside(results: Path) -> None:
    """The tree over all features beside the best plain model on the second inbox.

    With so few patients no interval is known that covers the truth as often as it says.
    """
    metrics = METRICS.validate_json((results / "metrics.json").read_bytes())
    found = {row.variant: row.value for row in metrics if (row.metric, row.split) == (ACCURACY, TEST)}
    plain = {name: value for name in PLAIN_VARIANTS if (value := found.get(name)) is not None}
    whole = found[WHOLE]
    best = max(plain, key=lambda name: plain[name])
    difference = Difference(estimate=None if whole is None else whole - plain[best], over=OTHER_PATIENTS)
    beside = Beside(variant=TEST, model=WHOLE, plain=best, difference=difference)
    write_json(results / f"{BESIDE_PLAIN}.json", [beside.model_dump(mode="json")])


def _grown(
    boxes: Sequence[Inbox], specs: Sequence[FeatureSpec], values: Sequence[Values], settings: TreeSettings
) -> list[FloatArray]:
    """The tree over some features, fitted to the first inbox: the difference it gives each pair of both inboxes."""
    encoded = [box.encoded(specs, each) for box, each in zip(boxes, values, strict=True)]
    tree = settings.grow(encoded[0].items, encoded[0].columns, encoded[0].comparisons)
    return [tree.decision_function(each.items, each.comparisons) for each in encoded]


def _rows(study: str, model: str, variant: str, differences: Sequence[FloatArray]) -> Iterator[MetricRow]:
    for split, difference in zip(SPLITS, differences, strict=True):
        for metric, value in zip(ACCURACIES, accuracies(difference), strict=True):
            yield MetricRow(
                study=study, model=model, variant=variant, metric=metric, split=split, value=float(value[0]),
                n=len(difference),
            )  # fmt: skip


def _accuracy(difference: FloatArray) -> float:
    return float(accuracies(difference).accuracy[0])


def _texts(box: Inbox) -> list[str]:
    return ["\n".join(patient.texts) for patient in box.patients]


def _nothing(box: Inbox) -> list[list[float]]:
    return [[0.0]] * len(box.ids)
