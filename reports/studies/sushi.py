"""The sushi study's page: how well a user's tree predicts that user's choices, and whose the published figure is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from reports.asking.active_learning import Courses, asking_section, asking_sentence, read_courses
from reports.asking.history import history_section
from reports.page.blocks import Answer, Block, Column, Figure, KeyNumber, Page, Prose, Row, Section, Table
from reports.page.finished_run import FinishedRun
from reports.page.provenance import facts, provenance, warnings
from reports.page.wording import change, fixed, points, share
from reports.respondents.example_tree import example_blocks, read_example
from reports.respondents.gp_accuracy import gp_table
from reports.respondents.leaving_out import leaving_out_section
from reports.respondents.many_trees import asked_blocks, gallery_blocks
from reports.respondents.protocols import Effect, Nearest, Published, PublishedMark, draw_protocols, effects, nearest_by
from reports.respondents.tree_accuracy import (
    DISCARDED,
    KEPT,
    LEAVES_AXIS,
    VARIANTS,
    accuracy_figure,
    accuracy_table,
    definitions,
    half,
    reason_ties,
    spreads,
)

PAPERS_CHOICES: Mapping[str, object] = {
    "straddlers": "discard",
    "split": "pair",
    "tie_break": "lowest",
    "encoding": "categorical_3",
    "ratio": 0.25,
}
CHOICE_NAMES: Mapping[str, str] = {
    "straddlers": "straddlers",
    "split": "held out",
    "tie_break": "tied splits",
    "encoding": "minor group",
    "ratio": "noise ratio",
}
LEVEL_NAMES: Mapping[str, str] = {
    "discard": "discarded",
    "keep": "kept",
    "widest_gap": "widest gap",
    "categorical_3": "categories, ≤ 3",
    "categorical": "categories, any",
    "codes": "code numbers",
    "one_hot": "a column each",
}
REPRODUCED = 0.005
"""A protocol reproduces a published pair of accuracies if neither of its own is further away than half a point."""

_MOVED = ("train_accuracy", "test_accuracy", "test_strict_accuracy", "leaves")
_USERS = ("variant", "test_accuracy", "leaves")
_PROTOCOLS = (*PAPERS_CHOICES, *_MOVED)


def page(run: FinishedRun) -> Page:
    """The report of a run of the sushi study. Raises NotARunError if a result it needs is missing or malformed."""
    users = run.table("users", _USERS)
    protocols = run.table("protocols", _PROTOCOLS)
    example = read_example(run, tuple(VARIANTS))
    courses = read_courses(run)
    published = _published(run)
    nearest = {} if published is None else nearest_by("straddlers", protocols, published)
    moved = effects(protocols, PAPERS_CHOICES, _MOVED)
    return Page(
        study="Sushi",
        title="One preference tree for every sushi eater",
        facts=facts(run.record),
        warnings=warnings(run.record),
        cover="accuracy-test",
        answer=_answer(run, published, nearest, courses),
        sections=[
            Section("Published beside found" if published else "What was found", _comparison(run, published)),
            Section("Across users", [spreads(users, VARIANTS)]),
            Section("What trees ask about", asked_blocks(run, None)),
            leaving_out_section(run),
            Section("One user’s tree", example_blocks(example, small=DISCARDED, large=KEPT)),
            Section("Which choices move the number", _protocols(protocols, moved, published, nearest)),
            Section("Why they differ" if published else "What makes the difference", [_reasons(run, moved, nearest)]),
            *([asking_section(run, courses)] if courses else []),
            history_section(run),
            Section("Trees of single users", gallery_blocks(run)),
            provenance(run.record, run.cards()),
        ],
    )


def _published(run: FinishedRun) -> Published | None:
    """The published pair of accuracies; None for simulated data, with which nothing published can be compared."""
    train, test = (run.metric("accuracy", variant=DISCARDED, split=split) for split in ("train", "test"))
    if run.record.simulated or train.published is None or test.published is None:
        return None
    return Published(train.published, test.published, train.source or "published")


def _answer(
    run: FinishedRun, published: Published | None, nearest: Mapping[str, Nearest], courses: Courses | None
) -> Answer:
    accuracy = {variant: run.metric("accuracy", variant=variant, split="test") for variant in VARIANTS}
    leaves = {variant: run.metric("leaves", variant=variant, split="train").value for variant in VARIANTS}
    first, second = accuracy[DISCARDED], accuracy[KEPT]
    found = (
        f"A tree fitted to some of a user’s choices predicts that user’s held-out choices with accuracy "
        f"{share(first.value)} (standard deviation {fixed(first.sd, 2)} over {first.n or 0:,} users), with "
        f"{fixed(leaves[DISCARDED], 1)} leaves on average. Keeping the straddlers, the pairs a split has already "
        f"separated, {_moves(first.value, second.value)} {share(second.value)}, with "
        f"{fixed(leaves[KEPT], 1)} leaves."
    )
    numbers = [
        KeyNumber(text, f"{name}, {VARIANTS[variant]}")
        for variant in VARIANTS
        for text, name in (
            (share(accuracy[variant].value), "accuracy"),
            (fixed(leaves[variant], 1), "leaves"),
        )
    ]
    asking = [asking_sentence(courses)] if courses else []
    return Answer([found, _verdict(published, nearest), *asking], numbers)


def _moves(before: float, after: float) -> str:
    if share(before) == share(after):
        return "leaves that at"
    return "raises that to" if after > before else "lowers that to"


def _verdict(published: Published | None, nearest: Mapping[str, Nearest]) -> str:
    """Which variant the published figures belong to, decided by the protocols."""
    if published is None:
        return (
            "These data are simulated from known preferences, so what was published about people cannot be compared "
            "with them, and no difference is shown."
        )
    figure = f"published {share(published.train)} on training and {share(published.test)} on test choices"
    if not _were_tried(nearest):
        own = "; ".join(f"with straddlers {_level(level)} {_off(near)}" for level, near in nearest.items())
        return f"From the {figure} the trees as set here are away by: {own}. Other protocols were not tried."
    distance = "; ".join(_distance(level, near) for level, near in nearest.items())
    reproducing = [level for level, near in nearest.items() if near.distance <= REPRODUCED]
    if len(reproducing) == 1:
        return f"The {figure} belong to the tree with straddlers {_level(reproducing[0])}: {distance}."
    if reproducing:
        return f"The {figure} do not tell the variants apart: {distance}."
    return f"No protocol tried reproduces the {figure}: {distance}."


def _were_tried(nearest: Mapping[str, Nearest]) -> bool:
    """Whether there are protocols beside the one of each variant."""
    return any(near.among > 1 for near in nearest.values())


def _distance(level: str, near: Nearest) -> str:
    return f"the nearest of {near.among} protocols with straddlers {_level(level)} is {_off(near)} off"


def _off(near: Nearest) -> str:
    return f"{fixed(100 * near.distance, 2)} points"


def _comparison(run: FinishedRun, published: Published | None) -> list[Block]:
    trees = Prose(
        [
            "Every user has two trees. They differ in what becomes of a straddler, a pair whose two items a "
            "split has already separated. Discarded, it no longer has a say in the splits below; kept, it has."
        ]
    )
    source = published.source if published else None
    return [
        trees,
        accuracy_figure(run, VARIANTS, published=source),
        accuracy_table(run, VARIANTS, published=source),
        gp_table(run, published=source is not None),
        definitions(),
    ]


def _protocols(
    protocols: pd.DataFrame, moved: Sequence[Effect], published: Published | None, nearest: Mapping[str, Nearest]
) -> list[Block]:
    if not any(effect.choice != "straddlers" for effect in moved):
        return [Prose(["Only the two variants were fitted in this run: other protocols were not tried."])]
    axes = {"train_accuracy": ("accuracy on training choices", False), "leaves": (f"mean {LEAVES_AXIS}", True)}
    pictures = []
    for x, (axis, log) in axes.items():
        train = published.train if published and x == "train_accuracy" else None
        marked = PublishedMark(train, published.test) if published else None
        drawing = draw_protocols(protocols, x, axis=axis, log=log, published=marked, height=74)
        pictures.append(half(f"protocols-{x.replace('_', '-')}", drawing, f"Test accuracy against {axis}."))
    caption = (
        "Each mark is one protocol, a mean over users. Circles hold out single choices; triangles hold out items, "
        "with every choice they are part of."
    )
    users = int(protocols["users"].max())
    blocks: list[Block] = [
        Figure(
            pictures,
            f"All {len(protocols)} protocols tried, on {users:,} users.",
            caption,
        ),
        _effects_table(moved),
    ]
    return [*blocks, _nearest_table(nearest)] if nearest else blocks


def _effects_table(moved: Sequence[Effect]) -> Table:
    rows, last = [], ""
    for effect in moved:
        train, test, strict = (change(100 * effect.change[measure]) for measure in _MOVED[:3])
        choice = "" if effect.choice == last else CHOICE_NAMES[effect.choice]
        levels = (_level(effect.level), _level(PAPERS_CHOICES[effect.choice]))
        rows.append(Row((choice, *levels, train, test, strict, change(effect.change["leaves"]), str(effect.pairs))))
        last = effect.choice
    return Table(
        "What one choice moves, all others held fixed: the mean difference over pairs of protocols that differ in "
        "nothing else. Accuracies in points.",
        [
            *(Column(header, "left") for header in ("choice", "tried", "instead of")),
            *(Column(header, group="Accuracy") for header in ("training", "test", "strict test")),
            *(Column(header) for header in ("leaves", "pairs")),
        ],
        rows,
    )


def _nearest_table(nearest: Mapping[str, Nearest]) -> Table:
    rows = []
    for level, near in nearest.items():
        choices = [_level(near.protocol[choice]) for choice in PAPERS_CHOICES if choice != "straddlers"]
        train, test = share(near.protocol["train_accuracy"]), share(near.protocol["test_accuracy"])
        leaves = fixed(near.protocol["leaves"], 1)
        rows.append(Row((_level(level), *choices, train, test, leaves, fixed(100 * near.distance, 1))))
    names = [name for choice, name in CHOICE_NAMES.items() if choice != "straddlers"]
    return Table(
        "The protocol of each variant that comes nearest to the published figures.",
        [
            Column("straddlers", "left"),
            *(Column(name, "left") for name in names),
            *(Column(header) for header in ("train", "test", "leaves", "points off")),
        ],
        rows,
        note="Points off: the larger of the two differences, on training and on test choices.",
    )


def _level(level: object) -> str:
    return f"{level:g}" if isinstance(level, float) else LEVEL_NAMES.get(str(level), str(level))


def _reasons(run: FinishedRun, moved: Sequence[Effect], nearest: Mapping[str, Nearest]) -> Prose:
    return Prose([*_reason_straddlers(moved), reason_ties(run, VARIANTS), *_reason_reading(run, nearest)])


def _reason_straddlers(moved: Sequence[Effect]) -> list[str]:
    keeping = [effect.change for effect in moved if effect.choice == "straddlers"]
    others = [effect for effect in moved if effect.choice != "straddlers"]
    if not keeping or not others:
        return []
    kept, best = keeping[0], max(others, key=lambda effect: effect.change["test_accuracy"])
    gain = points(best.change["test_accuracy"])
    other = (
        f"The most any other choice tried adds to test accuracy is {gain} points ({CHOICE_NAMES[best.choice]}: "
        f"{_level(best.level)} instead of {_level(PAPERS_CHOICES[best.choice])})."
        if gain.startswith("+")
        else "No other choice tried adds to test accuracy."
    )
    return [
        f"Keeping straddlers moves training accuracy by {points(kept['train_accuracy'])} points, test accuracy by "
        f"{points(kept['test_accuracy'])} points and the number of leaves by {change(kept['leaves'])}. {other}"
    ]


def _reason_reading(run: FinishedRun, nearest: Mapping[str, Nearest]) -> list[str]:
    """Whether the published accuracy is that of a tree one can read."""
    reproducing = [level for level, near in nearest.items() if near.distance <= REPRODUCED]
    if reproducing != ["keep"] or not _were_tried(nearest):
        return []
    few, many = (run.metric("leaves", variant=variant, split="train").value for variant in VARIANTS)
    return [
        f"So the published accuracy seems to be that of a tree of about {fixed(many, 0)} leaves, which nobody would "
        f"read, while the tree shown as readable has about {fixed(few, 0)} and predicts a little less well."
    ]
