"""How the PMR study's features were found, what each of them is, and what it contributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from models.records.feature_spec import FeatureSpec
from reports.page.blocks import Block, Column, Prose, Row, Section, Table
from reports.page.finished_run import FinishedRun, NotARunError
from reports.page.wording import MISSING, fixed, points, share, spaced

HARD = {"same_leaf": "same leaf", "same_value": "same value", "reversed": "reversed"}


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True)


class Trace(_Read):
    """A comparison the model reasoned about."""

    comparison: str
    kind: str
    request: str


class Round(_Read):
    """A round of the search."""

    number: int
    hard: dict[str, int]
    traces: tuple[Trace, ...]
    proposal: FeatureSpec | None
    verdict: Literal["kept", "dropped", "refused"]
    reason: str
    before: float
    after: float | None
    pruned: tuple[str, ...]


class RoundsFound(_Read):
    """All rounds, and why the search ended."""

    ended: str
    rounds: tuple[Round, ...]


class FoundFeature(_Read):
    """A feature of the tree, the round that brought it, and how many of its values are missing in each inbox."""

    spec: FeatureSpec
    round: int | None
    missing: dict[str, int]


def rounds_section(run: FinishedRun) -> Section:
    """Every round of the search: what was hard, what was proposed, and what became of it."""
    found: RoundsFound = _read(run, "search", TypeAdapter(RoundsFound))
    if not found.rounds:
        return Section("How the features were found", [Prose(["They were given; nothing was proposed."])])
    told = (
        "In every round pairs that the tree gets wrong are reasoned about, and one feature is proposed and read from "
        "every message. Validation pairs decide whether it is kept."
    )
    return Section("How the features were found", [Prose([told]), _rounds(found), _traces(found.rounds)])


def features_section(run: FinishedRun) -> Section:
    """What each feature is, what leaving it out does, and, of simulated messages, how well it was read."""
    features: list[FoundFeature] = _read(run, "features", TypeAdapter(list[FoundFeature]))
    own = sum(feature.round is not None for feature in features)
    told = (
        f"A feature is a question put to every message, and the answers it may have. Of the tree’s {len(features)} "
        f"features the search proposed {own}."
    )
    blocks = [Prose([told]), _features(features), *_sensitivity(run, features), *_accuracy(run)]
    return Section("The features", blocks)


def _rounds(found: RoundsFound) -> Table:
    rows = []
    for each in found.rounds:
        name = (
            MISSING if each.proposal is None else f"{spaced(each.proposal.name)} *({spaced(each.proposal.kind.value)})*"
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
        note=f"How it ended: {found.ended}. Hard comparisons are training pairs that lie in one leaf, in two leaves of "
        "the same value, or the wrong way round.",
    )


def _verdict(each: Round) -> str:
    if each.verdict == "refused":
        return f"refused: {spaced(each.reason)}"
    pruned = f"; pruned then: {', '.join(map(spaced, each.pruned))}" if each.pruned else ""
    return f"{each.verdict}{pruned}"


def _traces(rounds: Sequence[Round]) -> Table:
    """Which reasonings each proposal rests on, by the ids of the two messages; their words are in the ledger."""
    rows = [
        Row((str(each.number), "; ".join(f"{trace.comparison.replace('_', ' > ')}" for trace in each.traces)))
        for each in rounds
    ]
    return Table(
        "The comparisons reasoned about in each round, the more urgent message in front.",
        [Column("Round"), Column("Comparisons", "left")],
        rows,
        note="The reasoning is in the ledger, under the keys that results/search.json names: it may speak of "
        "patients, and no report does.",
    )


def _features(features: Sequence[FoundFeature]) -> Table:
    rows = [
        Row(
            (
                spaced(each.spec.name),
                spaced(each.spec.kind.value),
                f"{each.spec.instruction} *{_values(each.spec)}*",
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


def _sensitivity(run: FinishedRun, features: Sequence[FoundFeature]) -> list[Block]:
    """What the accuracies become without each feature (dt-pbo, Table 10), the most missed first."""
    names = [each.spec.name for each in features if any(row.variant == each.spec.name for row in run.metrics)]
    if not names:
        return []
    change = {
        (name, split): run.metric("delta_accuracy", variant=name, split=split)
        for name in names
        for split in ("train", "test")
    }
    published = not run.record.simulated and any(found.published is not None for found in change.values())
    rows = []
    for name in sorted(names, key=lambda name: change[name, "test"].value):
        cells = [spaced(name)]
        for split in ("train", "test"):
            found = change[name, split]
            cells += [share(run.metric("accuracy", variant=name, split=split).value), points(found.value)]
            cells += [points(found.published)] if published else []
        rows.append(Row(cells))
    groups = {"train": "INBOX_A", "test": "INBOX_B"}
    headers = ("accuracy", "points", *(("published",) if published else ()))
    return [
        Table(
            "The tree without one feature: its accuracy, and the change in percentage points.",
            [
                Column("Left out", "left"),
                *(Column(header, group=group) for group in groups.values() for header in headers),
            ],
            rows,
            note="The tree is grown again without the feature. Published: dt-pbo, Table 10."
            if published
            else "The tree is grown again without the feature.",
        )
    ]


def _accuracy(run: FinishedRun) -> list[Block]:
    """How exactly features were read, where the messages are simulated and the truth is known."""
    if not (run.path / "results" / "extraction_accuracy.parquet").is_file():
        return []
    table = run.table("extraction_accuracy", ("feature", "wording", "accuracy", "n"))
    found = {(row.feature, row.wording): row for row in table.itertuples()}
    wordings = ("all", "plain", "paraphrased")
    rows = [
        Row((spaced(name), *(_share_of(found.get((name, wording))) for wording in wordings)))
        for name in dict.fromkeys(table["feature"])
    ]
    return [
        Table(
            "How often a feature was read exactly as it was planted in the simulated messages.",
            [Column("Feature", "left"), *(Column(f"{wording} messages") for wording in wordings)],
            rows,
            note="In brackets how many messages. A paraphrased message names no medical term. Of several labels all "
            "must be right. Other features have no planted truth.",
        )
    ]


def _share_of(row: Any) -> str:
    return MISSING if row is None else f"{fixed(row.accuracy, 3)} ({row.n})"


def _read(run: FinishedRun, name: str, kind: TypeAdapter[Any]) -> Any:
    try:
        return kind.validate_python(run.json(name))
    except ValidationError as problem:
        first = problem.errors()[0]
        path = run.path / "results" / f"{name}.json"
        raise NotARunError(
            f"{path}, {'.'.join(map(str, first['loc']))}: {first['msg']}. Run the study again."
        ) from problem
