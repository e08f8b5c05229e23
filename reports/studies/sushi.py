"""The page of the sushi study: how well a user's tree predicts that user's choices, and which variant was published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from models.records.studies.respondent_results import (
    ACCURACY,
    DISCARDED,
    EFFECT_MEASURES,
    ENCODING,
    KEPT,
    LEAVES,
    N_USERS,
    NEAREST_PROTOCOLS,
    PROTOCOL_EFFECTS,
    PROTOCOLS,
    RATIO,
    SPLIT,
    STRADDLERS,
    TEST,
    TEST_ACCURACY,
    TIE_BREAK,
    TRAIN,
    TRAIN_ACCURACY,
    NearestProtocol,
    NearestProtocols,
    ProtocolEffect,
    ProtocolEffects,
)
from reports.asking.active_learning import Courses, asking_section, asking_sentence, read_courses
from reports.asking.history import history_section
from reports.page.blocks import Answer, Block, Column, Figure, KeyNumber, Page, Prose, Row, Section, Table
from reports.page.conclusions import compared
from reports.page.finished_run import FinishedRun
from reports.page.provenance import facts, provenance, warnings
from reports.page.wording import change, fixed, points, share
from reports.respondents.example_tree import example_blocks, read_example
from reports.respondents.gp_accuracy import gp_table
from reports.respondents.leaving_out import leaving_out_section
from reports.respondents.many_trees import asked_blocks, gallery_blocks
from reports.respondents.plain_models import plain_sentences, plain_table
from reports.respondents.protocols import PublishedMark, draw_protocols
from reports.respondents.tree_accuracy import (
    LEAVES_AXIS,
    VARIANTS,
    accuracy_figure,
    accuracy_table,
    definitions,
    difference_to_first,
    half,
    reason_ties,
    spreads,
)

CHOICE_NAMES: Mapping[str, str] = {
    STRADDLERS: "straddlers",
    SPLIT: "held out",
    TIE_BREAK: "tied splits",
    ENCODING: "minor group",
    RATIO: "noise ratio",
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
_PROTOCOLS = (STRADDLERS, SPLIT, TRAIN_ACCURACY, TEST_ACCURACY, LEAVES, N_USERS)


def page(run: FinishedRun) -> Page:
    """The report of a run of the sushi study. Raises NotARunError if a result it needs is missing or malformed."""
    nearest: NearestProtocols = run.document(NEAREST_PROTOCOLS, NearestProtocols)
    moved: ProtocolEffects = run.document(PROTOCOL_EFFECTS, ProtocolEffects)
    example = read_example(run, tuple(VARIANTS))
    courses = read_courses(run)
    published = nearest.source is not None
    return Page(
        study="Sushi",
        title="A preference tree for each sushi eater",
        facts=facts(run.record),
        warnings=warnings(run.record),
        cover="accuracy-test",
        answer=_answer(run, nearest, courses),
        sections=[
            Section("Published beside found" if published else "What was found", _comparison(run, nearest)),
            Section("Across users", [spreads(run, VARIANTS)]),
            Section("What trees ask about", asked_blocks(run)),
            leaving_out_section(run),
            Section("One user’s tree", example_blocks(example, small=DISCARDED, large=KEPT)),
            Section("Which choices move the number", _protocols(run, moved, nearest)),
            Section("Why they differ" if published else "What makes the difference", [_reasons(run, moved, nearest)]),
            *([asking_section(run, courses)] if courses else []),
            history_section(run),
            Section("Trees of single users", gallery_blocks(run)),
            provenance(run.record, run.cards()),
        ],
    )


def _answer(run: FinishedRun, nearest: NearestProtocols, courses: Courses | None) -> Answer:
    accuracy = {variant: run.metric(ACCURACY, variant=variant, split=TEST) for variant in VARIANTS}
    leaves = {variant: run.metric(LEAVES, variant=variant, split=TRAIN).value for variant in VARIANTS}
    first, second = accuracy[DISCARDED], accuracy[KEPT]
    found = (
        f"A tree fitted to some of a user’s choices predicts that user’s held-out choices with accuracy "
        f"{share(first.value)} (standard deviation {fixed(first.sd, 2)} over {first.n or 0:,} users), with "
        f"{fixed(leaves[DISCARDED], 1)} leaves on average. If the straddlers, the pairs a split has already separated, "
        f"are kept, accuracy is {share(second.value)}, with {fixed(leaves[KEPT], 1)} leaves."
    )
    kept = compared("a tree with straddlers kept", "one with straddlers discarded", difference_to_first(run, KEPT))
    numbers = [
        KeyNumber(text, f"{name}, {VARIANTS[variant]}")
        for variant in VARIANTS
        for text, name in (
            (share(accuracy[variant].value), "accuracy"),
            (fixed(leaves[variant], 1), "leaves"),
        )
    ]
    asking = [asking_sentence(courses)] if courses else []
    plain, leads = plain_sentences(run)
    own = f"{found} {kept}"
    return Answer([*([plain, own] if leads else [own, plain]), _verdict(nearest), *asking], numbers)


def _verdict(nearest: NearestProtocols) -> str:
    """Which variant the published figures belong to."""
    if nearest.source is None:
        return (
            "These data are simulated from known preferences, so what was published about people cannot be compared "
            "with them, and no difference is shown."
        )
    figure = f"was published ({share(nearest.train)} on training and {share(nearest.test)} on test choices)"
    if not nearest.others_tried:
        own = "; ".join(f"{_off(near)} with {VARIANTS[near.variant]}" for near in nearest.nearest)
        return f"The trees with these settings differ from what {figure} by {own}. Other protocols were not tried."
    distance = "; ".join(map(_distance, nearest.nearest))
    if len(nearest.reproducing) == 1:
        only = VARIANTS[nearest.reproducing[0]]
        return f"Only the tree with {only} comes within half a point of what {figure}: {distance}."
    if nearest.reproducing:
        return f"Both variants come within half a point of what {figure}, so it does not tell them apart: {distance}."
    return f"No protocol tried comes within half a point of what {figure}: {distance}."


def _distance(near: NearestProtocol) -> str:
    return f"the nearest of {near.among} protocols with {VARIANTS[near.variant]} is {_off(near)} off"


def _off(near: NearestProtocol) -> str:
    return f"{fixed(100 * near.distance, 2)} points"


def _comparison(run: FinishedRun, nearest: NearestProtocols) -> list[Block]:
    trees = Prose(
        [
            "Every user has two trees. They differ in what becomes of a straddler, a pair whose two items a "
            "split has already separated. Discarded, it no longer has a say in the splits below; kept, it has."
        ]
    )
    return [
        trees,
        accuracy_figure(run, VARIANTS, published=nearest.source),
        accuracy_table(run, VARIANTS, published=nearest.source),
        gp_table(run, published=nearest.source is not None),
        plain_table(run),
        definitions(),
    ]


def _protocols(run: FinishedRun, moved: ProtocolEffects, nearest: NearestProtocols) -> list[Block]:
    if moved.best_other is None:
        return [Prose(["Only the two variants were fitted in this run: other protocols were not tried."])]
    protocols = run.table(PROTOCOLS, _PROTOCOLS)
    axes = {TRAIN_ACCURACY: ("accuracy on training choices", False), LEAVES: (f"mean {LEAVES_AXIS}", True)}
    pictures = []
    for x, (axis, log) in axes.items():
        train = nearest.train if x == TRAIN_ACCURACY else None
        marked = None if nearest.test is None else PublishedMark(train, nearest.test)
        drawing = draw_protocols(protocols, x, axis=axis, log=log, published=marked, height=74)
        pictures.append(half(f"protocols-{x.replace('_', '-')}", drawing, f"Test accuracy against {axis}."))
    caption = (
        "Each mark is one protocol, a mean over users. Circles hold out single choices; triangles hold out items, "
        "with every choice they are part of."
    )
    users = int(protocols[N_USERS].max())
    blocks: list[Block] = [
        Figure(
            pictures,
            f"All {len(protocols)} protocols tried, on {users:,} users.",
            caption,
        ),
        _effects_table(moved.effects),
    ]
    return [*blocks, _nearest_table(nearest.nearest)] if nearest.nearest else blocks


def _effects_table(moved: Sequence[ProtocolEffect]) -> Table:
    rows, last = [], ""
    for effect in moved:
        train, test, strict = (change(100 * effect.change[measure]) for measure in EFFECT_MEASURES[:3])
        choice = "" if effect.choice == last else CHOICE_NAMES[effect.choice]
        levels = (_level(effect.level), _level(effect.reference))
        rows.append(Row((choice, *levels, train, test, strict, change(effect.change[LEAVES]), str(effect.pairs))))
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


def _nearest_table(nearest: Sequence[NearestProtocol]) -> Table:
    rows = []
    for near in nearest:
        choices = [_level(near.choices[choice]) for choice in CHOICE_NAMES]
        train, test, leaves = share(near.train_accuracy), share(near.test_accuracy), fixed(near.leaves, 1)
        rows.append(Row((*choices, train, test, leaves, fixed(100 * near.distance, 1))))
    return Table(
        "The protocol of each variant that comes nearest to the published figures.",
        [
            *(Column(name, "left") for name in CHOICE_NAMES.values()),
            *(Column(header) for header in ("train", "test", "leaves", "points off")),
        ],
        rows,
        note="Points off: the larger of the two differences, on training and on test choices.",
    )


def _level(level: object) -> str:
    return f"{level:g}" if isinstance(level, float) else LEVEL_NAMES.get(str(level), str(level))


def _reasons(run: FinishedRun, moved: ProtocolEffects, nearest: NearestProtocols) -> Prose:
    return Prose([*_reason_straddlers(moved), reason_ties(run, VARIANTS), *_reason_reading(run, nearest)])


def _reason_straddlers(moved: ProtocolEffects) -> list[str]:
    keeping = [effect.change for effect in moved.effects if effect.choice == STRADDLERS]
    if not keeping or moved.best_other is None:
        return []
    kept, best = keeping[0], moved.effects[moved.best_other]
    other = (
        f"Of the other choices, the one that raises mean test accuracy most does so by "
        f"{points(best.change[TEST_ACCURACY])} points ({CHOICE_NAMES[best.choice]}: {_level(best.level)} instead of "
        f"{_level(best.reference)}). These are means over protocols fitted to the same choices, without intervals: "
        "they describe the table, and decide nothing about other users."
    )
    return [
        f"On average over all protocols tried, keeping straddlers moves training accuracy by "
        f"{points(kept['train_accuracy'])} points, test accuracy by {points(kept['test_accuracy'])} points and the "
        f"number of leaves by {change(kept['leaves'])}. {other}"
    ]


def _reason_reading(run: FinishedRun, nearest: NearestProtocols) -> list[str]:
    """The size of the trees that meet the published accuracy, beside that of the trees to read."""
    if nearest.reproducing != (KEPT,) or not nearest.others_tried:
        return []
    few, many = (run.metric(LEAVES, variant=variant, split=TRAIN).value for variant in VARIANTS)
    return [
        f"So the published accuracy is met by trees of about {fixed(many, 0)} leaves; the trees with straddlers "
        f"discarded, which are shown to be read, have about {fixed(few, 0)}. "
        + compared("a tree with straddlers kept", "one with straddlers discarded", difference_to_first(run, KEPT))
    ]
