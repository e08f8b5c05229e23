"""The page of the PMR study: how well a tree over features read by a model ranks patients' messages, and why."""

from __future__ import annotations

from models.records.published import gap
from models.records.studies.message_results import (
    BOTH_ORDERS,
    CLINICIANS_RANK,
    COMPARABILITY,
    FEATURES,
    FIRST_SHARE,
    ITEM_ID,
    LEAF,
    RANK,
    RANK_CORRELATION,
    RANKING,
    READABLE,
    READABLE_TREE,
    SD,
    SPLIT,
    TREE,
    UNANSWERED,
    UTILITY,
    WHOLE,
    Comparability,
    Obstacle,
)
from models.records.studies.respondent_results import SPLITS
from reports.messages.asked_model import Asked, asked_section, read_asked
from reports.messages.features import INTERVALS, constant_features, features_section, rounds_section
from reports.messages.plain_models import plain_blocks, plain_sentence_of
from reports.page.blocks import Answer, Block, Column, Figure, KeyNumber, Page, Prose, Row, Section, Table
from reports.page.finished_run import FinishedRun, Found
from reports.page.provenance import facts, provenance, warnings
from reports.page.wording import MISSING, between, fixed, points, share, spaced
from reports.respondents.example_tree import FittedTree, cut_in_words, read_tree, reading, tree_picture
from reports.respondents.tree_accuracy import MEASURES, definitions

TITLE = "Which patient’s message comes first"
RESEARCH_ONLY = "Research use only. Not a medical device."
INBOXES = {"train": "INBOX_A (training)", "test": "INBOX_B (test)"}
_RANKING = (SPLIT, ITEM_ID, RANK, CLINICIANS_RANK, UTILITY, SD, LEAF)


def page(run: FinishedRun) -> Page:
    """The report of a run. Raises NotARunError if a result it needs is missing or malformed."""
    asked = read_asked(run)
    _, without_tree = constant_features(run)
    return Page(
        study="PMR",
        title=TITLE,
        facts=(*facts(run.record), RESEARCH_ONLY),
        warnings=(*warnings(run.record), *asked.warnings),
        answer=_answer(run, asked),
        sections=[
            *(
                []
                if without_tree
                else [
                    Section(
                        "Published beside found" if _is_comparable(run) else "What was found", _comparison(run, asked)
                    ),
                    Section("The tree", [_readable_tree(run)]),
                    Section("The inbox, ranked", _ranking(run)),
                ]
            ),
            rounds_section(run),
            features_section(run),
            *([] if without_tree else [Section("The whole tree", [_whole_tree(run)])]),
            asked_section(run, asked),
            provenance(run.record, run.cards()),
        ],
        cover="accuracy-test",
        comparable=_is_comparable(run),
    )


def _is_comparable(run: FinishedRun) -> bool:
    return run.document(COMPARABILITY, Comparability).comparable


def _variants(run: FinishedRun) -> dict[str, str]:
    """The scored variants, in words; the model asked directly only if it was asked."""
    judged = {BOTH_ORDERS: "model asked directly"} if any(row.variant == BOTH_ORDERS for row in run.metrics) else {}
    return {WHOLE: "tree over its features", READABLE: "the same tree, cut short", **judged}


def _answer(run: FinishedRun, asked: Asked) -> Answer:
    test, train = (run.metric("accuracy", variant=WHOLE, split=split) for split in ("test", "train"))
    leaves = run.metric("leaves", variant=WHOLE, split="train")
    features = len(run.json(FEATURES))
    found = (
        f"A tree of {fixed(leaves.value, 0)} leaves over {features} features, read by {asked.who}, puts the more "
        f"urgent of two messages first in {share(test.value)} of {test.n or 0:,} pairs of an inbox it has not seen"
        f"{_over(test)}, "
        f"and in {share(train.value)} of the pairs it was fitted to, a tie counting one half."
    )
    constant, without_tree = constant_features(run)
    if without_tree:
        nothing = (
            "Every feature has the same value in all messages, so a tree can rank nothing, and nothing is reported."
        )
        return Answer([*asked.alarms, nothing, *_direct(run)], [])
    alarms = [*asked.alarms, *([f"The same value in all messages: {', '.join(constant)}."] if constant else [])]
    plain, leads = plain_sentence_of(run)
    own = [found, *_direct(run)]
    sentences = [*alarms, *([plain, *own] if leads else [*own, plain]), *_not_comparable(run, asked)]
    numbers = [
        KeyNumber(share(test.value), "accuracy on the unseen INBOX_B"),
        KeyNumber(share(train.value), "accuracy on INBOX_A, which it was fitted to"),
        KeyNumber(fixed(leaves.value, 0), "leaves"),
        KeyNumber(fixed(_tau(run, "test").value, 2), "rank correlation with the clinicians on INBOX_B"),
    ]
    return Answer(sentences, numbers)


def _over(found: Found) -> str:
    """The interval of a number in brackets; empty if it has none."""
    if found.lower is None or found.upper is None:
        return ""
    return f" (95% interval {between(found.lower, found.upper, 2)}, over {found.over})"


def _direct(run: FinishedRun) -> list[str]:
    if BOTH_ORDERS not in _variants(run):
        return []
    test = run.metric("accuracy", variant=BOTH_ORDERS, split="test")
    return [
        "Asked directly which of two messages comes first, in both orders, the model is right in "
        f"{share(test.value)} of the pairs of INBOX_B, a tie counting one half{_over(test)}; it names the one shown "
        f"first in {_first_share(run, 'test')} of its answers."
    ]


def _first_share(run: FinishedRun, split: str) -> str:
    """How often the model named the message shown first; a dash if it never answered."""
    [row] = [row for row in run.metrics if (row.variant, row.metric, row.split) == (BOTH_ORDERS, FIRST_SHARE, split)]
    return MISSING if row.value is None else f"{100 * row.value:.1f}%"


def _not_comparable(run: FinishedRun, asked: Asked) -> list[str]:
    """Why the published values are not comparable; empty if they are."""
    words: dict[Obstacle, str] = {
        "simulated": "the messages are simulated",
        "unpinned": "the files are not the published ones",
        "other_model": f"the published values are Qwen3.5-27B’s, and this run asked {asked.who}",
    }
    reasons = [words[obstacle] for obstacle in run.document(COMPARABILITY, Comparability).obstacles]
    return [f"What was published is not comparable: {'; '.join(reasons)}."] if reasons else []


def _comparison(run: FinishedRun, asked: Asked) -> list[Block]:
    comparable = _is_comparable(run)
    headers = ("found", "95% interval", *(("published", "points") if comparable else ()))
    rows = []
    for variant, label in _variants(run).items():
        for metric, name in MEASURES.items():
            cells = [name]
            for split in SPLITS:
                cells += _cells(run.metric(metric, variant=variant, split=split), comparable=comparable)
            rows.append(Row(cells, group=_heading(run, variant, label) if metric == "accuracy" else ""))
    table = Table(
        "How often the right message is put first.",
        [Column("", "left"), *(Column(header, group=group) for group in INBOXES.values() for header in headers)],
        rows,
        note=f"{INTERVALS} A tree has none on the inbox it was fitted to. "
        + (
            "Published: dt-pbo, Table 1. Points: 100 × (found − published)."
            if comparable
            else " ".join(_not_comparable(run, asked))
        ),
    )
    figure, plain = plain_blocks(run)
    return [figure, table, plain, *_bias(run), definitions()]


def _cells(found: Found, *, comparable: bool) -> list[str]:
    cells = [share(found.value), between(found.lower, found.upper, 2)]
    return [*cells, share(found.published), points(gap(found.value, found.published))] if comparable else cells


def _heading(run: FinishedRun, variant: str, label: str) -> str:
    pairs = run.metric("accuracy", variant=variant, split="test").n or 0
    if variant == BOTH_ORDERS:
        return f"{label.capitalize()}: both orders of {pairs:,} pairs of INBOX_B"
    leaves, depth = (run.metric(name, variant=variant, split="train").value for name in ("leaves", "depth"))
    return f"{label.capitalize()}: {fixed(leaves, 0)} leaves, depth {fixed(depth, 0)}"


def _bias(run: FinishedRun) -> list[Block]:
    if BOTH_ORDERS not in _variants(run):
        return []
    missing = {split: run.metric(UNANSWERED, variant=BOTH_ORDERS, split=split) for split in SPLITS}
    shares = "; ".join(
        f"{_first_share(run, split)} of its answers on {name}, with {fixed(missing[split].value, 0)} of "
        f"{missing[split].n or 0:,} questions unanswered"
        for split, name in INBOXES.items()
    )
    return [
        Prose(
            [
                "Asked directly, the model sees every pair twice, each message once in front. Where the place decides, "
                f"its two answers differ, and the pair counts as a tie. It named the message shown first in {shares}; "
                "without a position bias it would be 50%."
            ]
        )
    ]


# ------------------------------------------------------------------------------------------- the tree


def _readable_tree(run: FinishedRun) -> Figure:
    readable = read_tree(run, READABLE_TREE)
    first, last = (_way(readable, readable.extreme_leaf(best=best)) for best in (True, False))
    short = readable.bare.draw()
    return Figure(
        [tree_picture("readable-tree", short, f"The tree cut short. First: {first}. Last: {last}.")],
        f"Who comes first, in {len(readable.leaf_mean)} leaves.",
        f"The tree grown no deeper than {readable.depth}. First come messages with {first}; last, those with "
        f"{last}.{reading(short, of='messages', utility='urgency')}{cut_in_words(short)}",
    )


def _whole_tree(run: FinishedRun) -> Figure:
    whole = read_tree(run, TREE)
    drawn = whole.draw()
    return Figure(
        [tree_picture("tree", drawn, f"The whole tree of {len(whole.leaf_mean)} leaves.")],
        f"The whole tree: {len(whole.leaf_mean)} leaves, up to {whole.depth} questions.",
        f"Under each leaf the messages of INBOX_A it holds, by id.{cut_in_words(drawn)}",
    )


def _way(tree: FittedTree, leaf: int) -> str:
    """The path to a leaf in words; of several thresholds on one scale only the last on either side is named."""
    asked: dict[tuple[str, str], str] = {}
    for question, answer in tree.way(leaf):
        side = "low" if answer.startswith(("below", "<")) else "high" if answer.endswith("or above") else answer[:1]
        asked.pop((question, side), None)
        asked[question, side] = answer
    return ", ".join(f"{spaced(question)} ({spaced(answer)})" for (question, _), answer in asked.items())


# ------------------------------------------------------------------------------------------- the ranking


def _ranking(run: FinishedRun) -> list[Block]:
    ranking = run.table(RANKING, _RANKING)
    test = ranking[ranking[SPLIT] == "test"]
    tree = read_tree(run, TREE)
    rows = []
    for leaf in dict.fromkeys(test[LEAF].tolist()):
        held = test[test[LEAF] == leaf]
        messages = ", ".join(
            f"{item} ({rank})" for item, rank in zip(held[ITEM_ID], held[CLINICIANS_RANK], strict=True)
        )
        utility = f"{fixed(held[UTILITY].iloc[0], 2)} ± {fixed(held[SD].iloc[0], 2)}"
        rows.append(Row((str(held[RANK].iloc[0]), messages, utility, _way(tree, leaf) or MISSING)))
    taus = "; ".join(
        f"{fixed(found.value, 3)} in {name}{_over(found)}"
        for found, name in ((_tau(run, split), name) for split, name in INBOXES.items())
    )
    return [
        Prose(
            [
                f"Kendall’s rank correlation (tau-b) between the tree’s order and the clinicians’ levels is {taus}. "
                "The reason for a message’s rank is its path through the tree: the questions asked, and the answers."
            ]
        ),
        Table(
            f"INBOX_B as the tree ranks it, the most urgent first: {len(test)} messages in {len(rows)} of the leaves.",
            [
                Column("Rank"),
                Column("Messages (clinicians’ rank)", "left"),
                Column("Utility"),
                Column("Because", "left"),
            ],
            rows,
            note="Messages in one leaf are ties, as are those on one level of the clinicians. Utility: mean and "
            "standard deviation of the leaf. Both inboxes, a line a message, are in results/ranking.parquet.",
        ),
    ]


def _tau(run: FinishedRun, split: str) -> Found:
    return run.metric(RANK_CORRELATION, variant=WHOLE, split=split)
