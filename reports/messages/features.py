"""The sections on the PMR study's features: how they were found, what each one asks, and what it contributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from models.records.feature_spec import FeatureSpec
from models.records.studies.message_results import (
    COMPARABILITY,
    EXTRACTION_ACCURACY,
    FEATURES,
    SEARCH,
    WORDINGS,
    WORTH,
    Comparability,
    FeatureWorth,
    FoundFeature,
    HardKind,
    Round,
    SearchRounds,
)
from models.records.studies.respondent_results import SPLITS
from reports.page.blocks import Block, Column, Prose, Row, Section, Table, italic
from reports.page.finished_run import FinishedRun
from reports.page.wording import MISSING, between, fixed, points, share, spaced

INTERVALS = (
    "95% intervals are over other patients: each patient is left out in turn with all of its pairs. How often they "
    "contain the truth on simulated data is in docs/calibration.md."
)
HARD: Mapping[HardKind, str] = {"same_leaf": "same leaf", "same_value": "same value", "reversed": "reversed"}


def rounds_section(run: FinishedRun) -> Section:
    """Every round of the search: what was hard, what was proposed, and what became of it."""
    found: SearchRounds = run.document(SEARCH, SearchRounds)
    if not found.rounds:
        return Section("How the features were found", [Prose(["The features were given; none was proposed."])])
    how = (
        "In every round the model reasons about pairs that the tree gets wrong and proposes one feature, which is read "
        "from every message. Validation pairs decide whether the feature is kept."
    )
    return Section("How the features were found", [Prose([how]), _rounds(found), _traces(found.rounds)])


def features_section(run: FinishedRun) -> Section:
    """What each feature is, what leaving it out does, and, for simulated messages, how often it was read right."""
    features: list[FoundFeature] = run.document(FEATURES, list[FoundFeature])
    own = sum(feature.round is not None for feature in features)
    what = (
        f"A feature is a question put to every message, and the answers it may have. Of the tree’s {len(features)} "
        f"features the search proposed {own}."
    )
    blocks = [Prose([what]), _features(features), *_sensitivity(run), *_accuracy(run)]
    return Section("The features", blocks)


def constant_features(run: FinishedRun) -> tuple[list[str], bool]:
    """The features that have one value in all messages of INBOX_A, and whether that holds for all features."""
    features: list[FoundFeature] = run.document(FEATURES, list[FoundFeature])
    names = [spaced(feature.spec.name) for feature in features if feature.constant]
    return names, len(names) == len(features)


def _rounds(found: SearchRounds) -> Table:
    rows = []
    for each in found.rounds:
        name = (
            MISSING if each.proposal is None else f"{spaced(each.proposal.name)} ({spaced(each.proposal.kind.value)})"
        )
        hard = [str(each.hard.get(kind, 0)) for kind in HARD]
        rows.append(Row((str(each.number), name, *hard, share(each.before), share(each.after), _verdict(each))))
    return Table(
        "Every round: one proposal, judged by the validation part of INBOX_A.",
        [
            Column("Round"),
            Column("Proposed", "left"),
            *(Column(label, group="Hard comparisons") for label in HARD.values()),
            *(Column(label, group="Validation accuracy") for label in ("before", "after")),
            Column("Verdict", "left"),
        ],
        rows,
        note=f"Why it ended: {found.ended}. Hard comparisons are training pairs that lie in one leaf, in two leaves of "
        "the same value, or the wrong way round.",
    )


def _verdict(each: Round) -> str:
    if each.verdict == "refused":
        return f"refused: {spaced(each.reason)}"
    pruned = f"; pruned then: {', '.join(map(spaced, each.pruned))}" if each.pruned else ""
    return f"{each.verdict}{pruned}"


def _traces(rounds: Sequence[Round]) -> Table:
    """The comparisons that each proposal rests on, by the ids of the two messages."""
    rows = [
        Row((str(each.number), "; ".join(f"{trace.comparison.replace('_', ' > ')}" for trace in each.traces)))
        for each in rounds
    ]
    return Table(
        "The comparisons reasoned about in each round, the more urgent message in front.",
        [Column("Round"), Column("Comparisons", "left")],
        rows,
        note="The reasoning is in the ledger, under the keys that results/search.json names: it may speak of "
        "patients, so no report shows it.",
    )


def _features(features: Sequence[FoundFeature]) -> Table:
    rows = [
        Row(
            (
                spaced(each.spec.name),
                spaced(each.spec.kind.value),
                f"{each.spec.instruction} {italic(_values(each.spec))}",
                MISSING if each.round is None else str(each.round),
                str(sum(each.missing.values())),
            )
        )
        for each in features
    ]
    return Table(
        f"The {len(features)} features of the tree.",
        [
            Column("Feature", "left"),
            Column("Kind", "left"),
            Column("How it is read", "left"),
            Column("Round"),
            Column("Missing"),
        ],
        rows,
        note="Round: the one that brought it; a dash, it was there from the start. Missing: values in both inboxes.",
    )


def _values(spec: FeatureSpec) -> str:
    if spec.minimum is not None and spec.maximum is not None:
        return f"{spec.minimum:g} to {spec.maximum:g}"
    return ", ".join(map(spaced, spec.values)) or "yes or no"


def _sensitivity(run: FinishedRun) -> list[Block]:
    """Accuracy without each feature (dt-pbo, Table 10), in the order of the results."""
    worth: list[FeatureWorth] = run.document(WORTH, list[FeatureWorth])
    if not worth:
        return []
    published = run.document(COMPARABILITY, Comparability).comparable and any(each.published for each in worth)
    rows = []
    for each in worth:
        cells = [spaced(each.feature)]
        for split in SPLITS:
            cells += [share(each.accuracy[split]), points(each.change[split])]
            cells += [points(each.published.get(split))] if published else []
        rows.append(Row([*cells, _interval(each)]))
    groups = {"train": "INBOX_A", "test": "INBOX_B"}
    headers = ("accuracy", "points", *(("published",) if published else ()))
    return [
        Table(
            "The tree without one feature: its accuracy, and the change in percentage points.",
            [
                Column("Left out", "left"),
                *(Column(header, group=group) for group in groups.values() for header in headers),
                Column("95% interval", group="INBOX_B"),
            ],
            rows,
            note=f"The tree is grown again without the feature. {INTERVALS}{_unchanged(worth)}"
            + (" Published: dt-pbo, Table 10." if published else ""),
        )
    ]


def _unchanged(worth: Sequence[FeatureWorth]) -> str:
    """What a dash in place of an interval means, if there is one."""
    if all(each.lower is not None for each in worth):
        return ""
    return " A dash: no interval, because leaving patients out changes nothing."


def _interval(each: FeatureWorth) -> str:
    """The interval of the change on INBOX_B in percentage points."""
    lower, upper = (None if bound is None else 100 * bound for bound in (each.lower, each.upper))
    return between(lower, upper, 1)


def _accuracy(run: FinishedRun) -> list[Block]:
    """How often features were read exactly, if the messages are simulated and the truth is known."""
    if not (run.path / "results" / f"{EXTRACTION_ACCURACY}.parquet").is_file():
        return []
    table = run.table(EXTRACTION_ACCURACY, ("feature", "wording", "accuracy", "n"))
    found = {(row.feature, row.wording): row for row in table.itertuples()}
    rows = [
        Row((spaced(name), *(_share_of(found.get((name, wording))) for wording in WORDINGS)))
        for name in dict.fromkeys(table["feature"])
    ]
    return [
        Table(
            "How often a feature was read exactly as it was planted in the simulated messages.",
            [Column("Feature", "left"), *(Column(f"{wording} messages") for wording in WORDINGS)],
            rows,
            note="In brackets how many messages. A paraphrased message names no medical term. If a feature has "
            "several labels, all must be right. The other features were not planted.",
        )
    ]


def _share_of(row: Any) -> str:
    return MISSING if row is None else f"{fixed(row.accuracy, 3)} ({row.n})"
