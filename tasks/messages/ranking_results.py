"""What the PMR study found: the tree's and the judge's metrics, both inboxes ranked, and the features they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.stats import kendalltau

from models.records.base import Record
from models.records.feature_spec import FeatureSpec
from models.records.features import Encoded
from models.records.results import MetricRow
from models.scores.accuracy import Accuracy, accuracies
from models.scores.ranks import competition_ranks
from models.trees.preference_tree import PreferenceTree
from models.trees.structure import way_to
from tasks.messages.feature_loop import Round, Search, TreeSettings
from tasks.messages.inbox import Inbox, Values, net_wins
from tasks.messages.reading_messages import Judged
from tasks.respondents.protocols import ACCURACIES
from tasks.runs.results import write_json, write_metrics, write_parquet

STUDY, MODEL, JUDGE = "pmr", "preference_tree", "llm_judge"
WHOLE, READABLE, BOTH_ORDERS = "all_features", "readable", "both_orders"
SPLITS = ("train", "test")
"""INBOX_A and INBOX_B."""


class Published(Record):
    """What was published of a model. accuracy: by kind of model and split; without: by feature left out and split."""

    model: str
    accuracy: Mapping[str, Mapping[str, float]]
    without: Mapping[str, Mapping[str, float]]
    source: str
    source_without: str


PUBLISHED = Published(
    model="Qwen/Qwen3.5-27B",
    accuracy={"preference_tree": {"train": 0.840, "test": 0.699}, "llm_judge": {"train": 0.703, "test": 0.650}},
    source="dt-pbo, Table 1",
    without={
        "message_actionability": {"train": -0.001, "test": -0.176},
        "red_flag_syndrome": {"train": 0.0, "test": -0.113},
        "diagnostic_uncertainty": {"train": 0.0, "test": -0.056},
        "patient_requested_action": {"train": 0.0, "test": -0.054},
        "vascular_thrombotic_risk_context": {"train": 0.0, "test": -0.038},
        "medication_complication_context": {"train": 0.0, "test": -0.026},
        "symptom_trajectory": {"train": 0.0, "test": -0.024},
        "acuity_conflict": {"train": 0.0, "test": 0.0},
        "frailty_or_fall_harm_risk": {"train": 0.0, "test": 0.0},
        "infection_risk_context": {"train": 0.0, "test": 0.0},
        "symptom_distribution_or_spread": {"train": 0.0, "test": 0.0},
    },
    source_without="dt-pbo, Table 10",
)


def write_results(
    results: Path,
    boxes: Sequence[Inbox],
    search: Search,
    test_values: Values,
    judged: Sequence[Judged],
    *,
    settings: TreeSettings,
    readable_depth: int,
    model: str,
) -> None:
    """Fit the tree to the first inbox, score it on both, and write all that was found; no text is among it.

    model: whose answers these are; what was published stands beside them only if it is of the same.
    """
    published = PUBLISHED if model == PUBLISHED.model else None
    specs, values = search.specs, [search.values, test_values]
    encoded = [box.encoded(specs, each) for box, each in zip(boxes, values, strict=True)]
    whole, readable = (_grow(settings, encoded[0], max_depth=depth) for depth in (None, readable_depth))
    rows = [
        *_tree_rows(whole, encoded, WHOLE, published),
        *_tree_rows(readable, encoded, READABLE, None),
        *_rank_rows(whole, encoded),
        *_rows_without(settings, boxes, specs, values, published),
        *_judge_rows(judged, published),
    ]
    write_metrics(results / "metrics.json", rows)
    write_json(results / "features.json", _features(specs, search.rounds, values))
    write_json(results / "search.json", {"ended": search.ended, "rounds": _rounds(search.rounds)})
    for name, tree in (("tree", whole), ("readable_tree", readable)):
        leaf = tree.apply(encoded[0].items)
        held = [[boxes[0].ids[at] for at in np.flatnonzero(leaf == each)] for each in range(tree.n_leaves_)]
        write_json(results / f"{name}.json", {**tree.to_dict(), "leaf_items": held})
    write_parquet(results / "ranking.parquet", _ranking(whole, boxes, encoded))
    write_parquet(results / "feature_values.parquet", _feature_values(boxes, specs, values))


def _grow(tree: TreeSettings, encoded: Encoded, *, max_depth: int | None = None) -> PreferenceTree:
    return tree.grow(encoded.items, encoded.columns, encoded.comparisons, max_depth=max_depth)


# ------------------------------------------------------------------------------------------- metrics


def _row(model: str, variant: str, metric: str, split: str, value: float | None, n: int, **more: Any) -> MetricRow:
    return MetricRow(study=STUDY, model=model, variant=variant, metric=metric, split=split, value=value, n=n, **more)


def _accuracy_rows(
    model: str, variant: str, split: str, found: Accuracy, n: int, published: Published | None
) -> Iterator[MetricRow]:
    for metric, value in zip(ACCURACIES, found, strict=True):
        known = published.accuracy[model].get(split) if published and metric == "accuracy" else None
        source = published.source if published and known is not None else None
        yield _row(model, variant, metric, split, float(value[0]), n, published=known, published_source=source)


def _tree_rows(
    tree: PreferenceTree, encoded: Sequence[Encoded], variant: str, published: Published | None
) -> Iterator[MetricRow]:
    for split, each in zip(SPLITS, encoded, strict=True):
        found = tree.accuracies(each.items, each.comparisons)
        yield from _accuracy_rows(MODEL, variant, split, found, len(each.comparisons), published)
    for metric, size in (("leaves", tree.n_leaves_), ("depth", tree.depth_)):
        yield _row(MODEL, variant, metric, "train", float(size), 1)


def _rank_rows(tree: PreferenceTree, encoded: Sequence[Encoded]) -> Iterator[MetricRow]:
    """Kendall's tau-b between the tree's ranking of an inbox and the clinicians' levels; 0 where it puts all alike."""
    for split, each in zip(SPLITS, encoded, strict=True):
        tau = kendalltau(tree.predict(each.items), net_wins(each.comparisons, len(each.items))).statistic
        yield _row(MODEL, WHOLE, "rank_correlation", split, 0.0 if np.isnan(tau) else float(tau), len(each.items))


def _rows_without(
    tree: TreeSettings,
    boxes: Sequence[Inbox],
    specs: Sequence[FeatureSpec],
    values: Sequence[Values],
    published: Published | None,
) -> Iterator[MetricRow]:
    """Accuracies of the tree that lacks one feature, and how far they are from those with all (dt-pbo Table 10)."""
    with_all = _scores(tree, boxes, specs, values)
    for left_out in specs if len(specs) > 1 else ():
        scores = _scores(tree, boxes, [spec for spec in specs if spec is not left_out], values)
        for split, box, score, whole in zip(SPLITS, boxes, scores, with_all, strict=True):
            known = published.without.get(left_out.name, {}).get(split) if published else None
            source = published.source_without if published and known is not None else None
            n = len(box.comparisons)
            yield _row(MODEL, left_out.name, "accuracy", split, score, n)
            change = {"published": known, "published_source": source}
            yield _row(MODEL, left_out.name, "delta_accuracy", split, score - whole, n, **change)


def _scores(
    tree: TreeSettings,
    boxes: Sequence[Inbox],
    specs: Sequence[FeatureSpec],
    values: Sequence[Values],
) -> list[float]:
    encoded = [box.encoded(specs, each) for box, each in zip(boxes, values, strict=True)]
    fitted = _grow(tree, encoded[0])
    return [fitted.score(each.items, each.comparisons) for each in encoded]


def _judge_rows(judged: Sequence[Judged], published: Published | None) -> Iterator[MetricRow]:
    for split, each in zip(SPLITS[: len(judged)], judged, strict=True):
        n = len(each.difference)
        yield from _accuracy_rows(JUDGE, BOTH_ORDERS, split, accuracies(each.difference), n, published)
        yield _row(JUDGE, BOTH_ORDERS, "first_share", split, each.first_share, 2 * n - each.missing)
        yield _row(JUDGE, BOTH_ORDERS, "missing", split, float(each.missing), 2 * n)


# ------------------------------------------------------------------------------------------- tables


def _rounds(rounds: Sequence[Round]) -> list[dict[str, Any]]:
    return [each.model_dump(mode="json") for each in rounds]


def _features(specs: Sequence[FeatureSpec], rounds: Sequence[Round], values: Sequence[Values]) -> list[dict[str, Any]]:
    """Each feature, the round it came from (None: given at the start), and how many values are missing."""
    origin = {each.proposal.name: each.number for each in rounds if each.proposal and each.verdict == "kept"}
    missing = [{name: sum(value is None for value in each[name]) for name in each} for each in values]
    return [
        {
            "spec": spec.model_dump(mode="json"),
            "round": origin.get(spec.name),
            "missing": {split: counts[spec.name] for split, counts in zip(SPLITS, missing, strict=True)},
        }
        for spec in specs
    ]


def _ranking(tree: PreferenceTree, boxes: Sequence[Inbox], encoded: Sequence[Encoded]) -> pa.Table:
    """Both inboxes, the most urgent first, with the way through the tree that put each message where it is."""
    ways = [
        "; ".join(f"{question}: {answer}" for question, answer in way_to(tree.nodes_, tree.columns_, leaf))
        for leaf in range(tree.n_leaves_)
    ]
    sd = np.sqrt(np.maximum(np.diag(tree.leaf_covariance_), 0.0))
    parts = []
    for split, box, each in zip(SPLITS, boxes, encoded, strict=True):
        utility, leaf = tree.predict(each.items), tree.apply(each.items)
        wins = net_wins(each.comparisons, len(box.ids))
        order = np.argsort(-utility, kind="stable")
        columns = {
            "split": [split] * len(order),
            "item_id": [box.ids[at] for at in order],
            "rank": competition_ranks(utility)[order],
            "clinicians_rank": competition_ranks(wins)[order],
            "utility": utility[order],
            "sd": sd[leaf[order]],
            "leaf": leaf[order],
            "reason": [ways[at] for at in leaf[order]],
        }
        parts.append(pa.table(columns))
    return pa.concat_tables(parts)


def _feature_values(boxes: Sequence[Inbox], specs: Sequence[FeatureSpec], values: Sequence[Values]) -> pa.Table:
    """What was read in both inboxes, by id."""
    tables = [box.with_features(specs, each).items for box, each in zip(boxes, values, strict=True)]
    split = [name for name, box in zip(SPLITS, boxes, strict=True) for _ in box.ids]
    return pa.concat_tables(tables).append_column("split", pa.array(split))
