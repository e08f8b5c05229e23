"""The results of the PMR study: metrics of the tree and the judge, both inboxes ranked, and the features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy.stats import kendalltau

from models.records.arrays import BoolArray, FloatArray, IntArray
from models.records.base import Record
from models.records.feature_spec import FeatureSpec
from models.records.features import Encoded
from models.records.manifest import Manifest
from models.records.published import beside_published, published_by_split
from models.records.results import MetricRow
from models.records.studies.message_results import (
    BOTH_ORDERS,
    CLINICIANS_RANK,
    COMPARABILITY,
    FEATURE_VALUES,
    FEATURES,
    FIRST_SHARE,
    ITEM_ID,
    JUDGE_MODEL,
    LEAF,
    RANK,
    RANK_CORRELATION,
    RANKING,
    READABLE,
    READABLE_TREE,
    REASON,
    SD,
    SEARCH,
    SPLIT,
    TREE,
    UNANSWERED,
    UTILITY,
    WHOLE,
    WORTH,
    Comparability,
    FeatureWorth,
    FoundFeature,
    Obstacle,
    Round,
    SearchRounds,
)
from models.records.studies.respondent_results import ACCURACIES, DELTA_ACCURACY, SPLITS, TEST, TREE_MODEL
from models.scores.accuracy import accuracies
from models.scores.comparing import Difference
from models.scores.jackknife import mean_over_patients, over_patients
from models.scores.ranks import competition_ranks
from models.trees.leaf_summary import leaf_sd
from models.trees.preference_tree import PreferenceTree
from models.trees.structure import way_to
from tasks.messages.feature_loop import Search
from tasks.messages.inbox import Inbox, Values, is_constant, net_wins
from tasks.messages.reading_messages import Judged
from tasks.messages.settings import TreeSettings
from tasks.runs.results import write_json, write_metrics, write_parquet

STUDY = "pmr"


PUBLISHED_MODEL = "Qwen/Qwen3.5-27B"
"""The language model behind the published numbers."""

RANGES: Mapping[str, tuple[float, float]] = dict.fromkeys(ACCURACIES, (0.0, 1.0))
"""The lowest and highest value of metrics; rank correlations and differences of shares go from -1 to 1."""

CHANGE_WITHOUT = {
    "message_actionability": (-0.001, -0.176),
    "red_flag_syndrome": (0.0, -0.113),
    "diagnostic_uncertainty": (0.0, -0.056),
    "patient_requested_action": (0.0, -0.054),
    "vascular_thrombotic_risk_context": (0.0, -0.038),
    "medication_complication_context": (0.0, -0.026),
    "symptom_trajectory": (0.0, -0.024),
    "acuity_conflict": (0.0, 0.0),
    "frailty_or_fall_harm_risk": (0.0, 0.0),
    "infection_risk_context": (0.0, 0.0),
    "symptom_distribution_or_spread": (0.0, 0.0),
}
"""Published change of accuracy without a feature, on both inboxes."""

PUBLISHED = (
    *published_by_split({"train": 0.840, "test": 0.699}, model=TREE_MODEL, variant=WHOLE, source="dt-pbo, Table 1"),
    *published_by_split(
        {"train": 0.703, "test": 0.650}, model=JUDGE_MODEL, variant=BOTH_ORDERS, source="dt-pbo, Table 1"
    ),
    *(
        published
        for name, changes in CHANGE_WITHOUT.items()
        for published in published_by_split(
            dict(zip(SPLITS, changes, strict=True)),
            model=TREE_MODEL,
            variant=name,
            metric=DELTA_ACCURACY,
            source="dt-pbo, Table 10",
        )
    ),
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
    """Fit the tree to the first inbox, score it on both, and write the results, which hold no text of a patient.

    model: the model that answered; published values stand beside the metrics only if they are of the same model.
    """
    published = PUBLISHED if model == PUBLISHED_MODEL else ()
    specs, values = search.specs, [search.values, test_values]
    encoded = [box.encoded(specs, each) for box, each in zip(boxes, values, strict=True)]
    whole, readable = (_grow(settings, encoded[0], max_depth=depth) for depth in (None, readable_depth))
    of_trees = [
        *_tree_rows(whole, encoded, WHOLE),
        *_tree_rows(readable, encoded, READABLE),
        *_rank_rows(whole, encoded),
        *_rows_without(settings, boxes, specs, values),
    ]
    if all(is_constant(search.values[spec.name]) for spec in specs):  # then a tree can say nothing
        nothing = {"value": None, "lower": None, "upper": None, "over": None}
        of_trees = [row.model_copy(update=nothing) for row in of_trees]
    metrics = beside_published([*of_trees, *_judge_rows(judged, boxes)], published)
    write_metrics(results / "metrics.json", metrics)
    write_feature_worth(results, metrics, [spec.name for spec in specs])
    _write_records(results / f"{FEATURES}.json", _features(specs, search.rounds, values))
    found = SearchRounds(ended=search.ended, rounds=search.rounds)
    write_json(results / f"{SEARCH}.json", found.model_dump(mode="json"))
    for name, tree in ((TREE, whole), (READABLE_TREE, readable)):
        leaf = tree.apply(encoded[0].items)
        held = [[boxes[0].ids[at] for at in np.flatnonzero(leaf == each)] for each in range(tree.n_leaves_)]
        write_json(results / f"{name}.json", {**tree.to_dict(), "leaf_items": held})
    write_parquet(results / f"{RANKING}.parquet", _ranking(whole, boxes, encoded))
    write_parquet(results / f"{FEATURE_VALUES}.parquet", _feature_values(boxes, specs, values))


def write_comparability(results: Path, manifests: Sequence[Manifest], model: str) -> None:
    """Write `comparability.json`: what keeps the published values from being compared with those of this run."""
    found = comparability(manifests, model)
    write_json(results / f"{COMPARABILITY}.json", found.model_dump(mode="json"))


def comparability(manifests: Sequence[Manifest], model: str) -> Comparability:
    """Whether the same model was asked about the same data as in the paper. manifests: of both inboxes."""
    found: dict[Obstacle, bool] = {
        "simulated": any(manifest.simulated for manifest in manifests),
        "unpinned": any(manifest.unpinned for manifest in manifests),
        "other_model": model != PUBLISHED_MODEL,
    }
    return Comparability(obstacles=tuple(obstacle for obstacle, holds in found.items() if holds))


def _grow(tree: TreeSettings, encoded: Encoded, *, max_depth: int | None = None) -> PreferenceTree:
    return tree.grow(encoded.items, encoded.columns, encoded.comparisons, max_depth=max_depth)


# ------------------------------------------------------------------------------------------- metrics


def _row(model: str, variant: str, metric: str, split: str, value: float | None, n: int) -> MetricRow:
    return MetricRow(study=STUDY, model=model, variant=variant, metric=metric, split=split, value=value, n=n)


def accuracy_rows(
    model: str, variant: str, split: str, difference: FloatArray, pairs: IntArray, *, known: bool
) -> Iterator[MetricRow]:
    """The accuracies of predicted differences (n,) of pairs (n, 2); known: whether to give their intervals.

    A tree has no interval on the inbox it was fitted to.
    """
    n_patients = int(pairs.max()) + 1
    for at, metric in enumerate(ACCURACIES):
        value = float(accuracies(difference)[at][0])
        row = _row(model, variant, metric, split, value, len(pairs))
        yield _with_interval(row, over_patients(_accuracy_of(difference, at), pairs, n_patients)) if known else row


def _accuracy_of(difference: FloatArray, at: int) -> Callable[[BoolArray], float]:
    """One of the three accuracies as a function of the pairs that count."""
    return lambda counts: float(accuracies(difference[counts])[at][0])


def _with_interval(row: MetricRow, found: Difference) -> MetricRow:
    """The metric with its interval, as far as the metric can go."""
    lowest, highest = RANGES.get(row.metric, (-1.0, 1.0))
    lower = None if found.lower is None else max(found.lower, lowest)
    upper = None if found.upper is None else min(found.upper, highest)
    return row.model_copy(update={"lower": lower, "upper": upper, "over": found.over})


def _tree_rows(tree: PreferenceTree, encoded: Sequence[Encoded], variant: str) -> Iterator[MetricRow]:
    for split, each in zip(SPLITS, encoded, strict=True):
        difference = tree.decision_function(each.items, each.comparisons)
        yield from accuracy_rows(TREE_MODEL, variant, split, difference, each.comparisons, known=split == TEST)
    for metric, size in (("leaves", tree.n_leaves_), ("depth", tree.depth_)):
        yield _row(TREE_MODEL, variant, metric, "train", float(size), 1)


def _rank_rows(tree: PreferenceTree, encoded: Sequence[Encoded]) -> Iterator[MetricRow]:
    """Kendall's tau-b between the tree's ranking of an inbox and the clinicians' levels; 0 if the tree ties all."""
    for split, each in zip(SPLITS, encoded, strict=True):
        utility, n = tree.predict(each.items), len(each.items)
        row = _row(TREE_MODEL, WHOLE, RANK_CORRELATION, split, tau_of(utility, each.comparisons), n)
        found = over_patients(partial(_tau_among, utility, each.comparisons), each.comparisons, n)
        yield _with_interval(row, found) if split == TEST else row


def _tau_among(utility: FloatArray, comparisons: IntArray, counts: BoolArray) -> float:
    return tau_of(utility, comparisons[counts])


def tau_of(utility: FloatArray, comparisons: IntArray) -> float:
    """Tau-b between utilities (n,) of patients and the clinicians' order, over the patients in comparisons (m, 2)."""
    present = np.unique(comparisons)
    tau = kendalltau(utility[present], net_wins(comparisons, len(utility))[present]).statistic
    return 0.0 if np.isnan(tau) else float(tau)


def _rows_without(
    tree: TreeSettings,
    boxes: Sequence[Inbox],
    specs: Sequence[FeatureSpec],
    values: Sequence[Values],
) -> Iterator[MetricRow]:
    """Accuracy of the tree without each feature, and its change from the tree with all (dt-pbo Table 10)."""
    with_all = _scores(tree, boxes, specs, values)
    for left_out in specs if len(specs) > 1 else ():
        scores = _scores(tree, boxes, [spec for spec in specs if spec is not left_out], values)
        for split, box, score, whole in zip(SPLITS, boxes, scores, with_all, strict=True):
            n = len(box.comparisons)
            yield _row(TREE_MODEL, left_out.name, "accuracy", split, float(score.mean()), n)
            row = _row(TREE_MODEL, left_out.name, DELTA_ACCURACY, split, float(score.mean() - whole.mean()), n)
            found = mean_over_patients(score - whole, box.comparisons, len(box.ids))
            yield _with_interval(row, found) if split == TEST else row


def _scores(
    tree: TreeSettings,
    boxes: Sequence[Inbox],
    specs: Sequence[FeatureSpec],
    values: Sequence[Values],
) -> list[FloatArray]:
    """How right the tree is on each pair of each inbox: 1, 0, or one half for a tie."""
    encoded = [box.encoded(specs, each) for box, each in zip(boxes, values, strict=True)]
    fitted = _grow(tree, encoded[0])
    return [
        accuracies(fitted.decision_function(each.items, each.comparisons), np.arange(n), n).accuracy
        for each, n in ((each, len(each.comparisons)) for each in encoded)
    ]


def _judge_rows(judged: Sequence[Judged], boxes: Sequence[Inbox]) -> Iterator[MetricRow]:
    for split, each, box in zip(SPLITS, judged, boxes, strict=False):
        n = len(each.difference)
        yield from accuracy_rows(JUDGE_MODEL, BOTH_ORDERS, split, each.difference, box.comparisons, known=True)
        yield _row(JUDGE_MODEL, BOTH_ORDERS, FIRST_SHARE, split, each.first_share, 2 * n - each.missing)
        yield _row(JUDGE_MODEL, BOTH_ORDERS, UNANSWERED, split, float(each.missing), 2 * n)


# ------------------------------------------------------------------------------------------- tables


def _write_records(path: Path, records: Sequence[Record]) -> None:
    write_json(path, [each.model_dump(mode="json") for each in records])


def write_feature_worth(results: Path, metrics: Sequence[MetricRow], features: Sequence[str]) -> None:
    """Write `feature_worth.json` from the metrics of a run."""
    _write_records(results / f"{WORTH}.json", feature_worth(metrics, features))


def feature_worth(metrics: Sequence[MetricRow], features: Sequence[str]) -> list[FeatureWorth]:
    """The tree without each feature, from the metrics of a run; the feature missed most on INBOX_B comes first."""
    accuracy: dict[str, dict[str, float]] = {name: {} for name in features}
    change: dict[str, dict[str, float]] = {name: {} for name in features}
    published: dict[str, dict[str, float]] = {name: {} for name in features}
    on_test: dict[str, MetricRow] = {}
    for row in metrics:
        if row.variant not in accuracy or row.value is None:
            continue
        if row.metric == "accuracy":
            accuracy[row.variant][row.split] = row.value
        elif row.metric == DELTA_ACCURACY:
            change[row.variant][row.split] = row.value
            if row.split == TEST:
                on_test[row.variant] = row
            if row.published is not None:
                published[row.variant][row.split] = row.published
    return [
        FeatureWorth(
            feature=name,
            accuracy=accuracy[name],
            change=change[name],
            published=published[name],
            lower=on_test[name].lower,
            upper=on_test[name].upper,
        )
        for name in sorted((name for name in change if change[name]), key=lambda name: change[name]["test"])
    ]


def _features(specs: Sequence[FeatureSpec], rounds: Sequence[Round], values: Sequence[Values]) -> list[FoundFeature]:
    """Each feature, the round it came from (None: given at the start), and its missing values."""
    origin = {each.proposal.name: each.number for each in rounds if each.proposal and each.verdict == "kept"}
    missing = [{name: sum(value is None for value in each[name]) for name in each} for each in values]
    return [
        FoundFeature(
            spec=spec,
            round=origin.get(spec.name),
            missing={split: counts[spec.name] for split, counts in zip(SPLITS, missing, strict=True)},
            constant=is_constant(values[0][spec.name]),
        )
        for spec in specs
    ]


def _ranking(tree: PreferenceTree, boxes: Sequence[Inbox], encoded: Sequence[Encoded]) -> pa.Table:
    """Both inboxes, the most urgent message first, each with its path through the tree."""
    ways = [
        "; ".join(f"{question}: {answer}" for question, answer in way_to(tree.nodes_, tree.columns_, leaf))
        for leaf in range(tree.n_leaves_)
    ]
    sd = leaf_sd(tree.leaf_covariance_)
    parts = []
    for split, box, each in zip(SPLITS, boxes, encoded, strict=True):
        utility, leaf = tree.predict(each.items), tree.apply(each.items)
        wins = net_wins(each.comparisons, len(box.ids))
        order = np.argsort(-utility, kind="stable")
        columns = {
            SPLIT: [split] * len(order),
            ITEM_ID: [box.ids[at] for at in order],
            RANK: competition_ranks(utility)[order],
            CLINICIANS_RANK: competition_ranks(wins)[order],
            UTILITY: utility[order],
            SD: sd[leaf[order]],
            LEAF: leaf[order],
            REASON: [ways[at] for at in leaf[order]],
        }
        parts.append(pa.table(columns))
    return pa.concat_tables(parts)


def _feature_values(boxes: Sequence[Inbox], specs: Sequence[FeatureSpec], values: Sequence[Values]) -> pa.Table:
    """The values read in both inboxes, by id."""
    tables = [box.with_features(specs, each).items for box, each in zip(boxes, values, strict=True)]
    split = [name for name, box in zip(SPLITS, boxes, strict=True) for _ in box.ids]
    return pa.concat_tables(tables).append_column(SPLIT, pa.array(split))
