"""The page of a choice experiment: how well trees predict choices, one respondent's tree, and one tree for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from models.records.published import gap
from models.records.results import MetricRow
from models.records.studies.respondent_results import (
    ACCURACY,
    CHOICE_SUMMARY,
    DISCARDED,
    GP,
    KEPT,
    LEAVES,
    POOLED,
    POOLED_TREE,
    TEST,
    TRAIN,
    TUNED,
    ChoiceSummary,
)
from reports.figures.tree import MOST_HEIGHT
from reports.page.blocks import Answer, Block, Column, Figure, KeyNumber, Page, Prose, Row, Section, Table
from reports.page.conclusions import compared
from reports.page.finished_run import FinishedRun
from reports.page.provenance import facts, provenance, warnings
from reports.page.wording import MISSING, fixed, points, share, spaced
from reports.respondents.example_tree import FittedTree, cut_in_words, read_example, read_tree, reading, tree_picture
from reports.respondents.gp_accuracy import gp_table
from reports.respondents.leaving_out import leaving_out_section
from reports.respondents.many_trees import asked_blocks, gallery_blocks
from reports.respondents.plain_models import plain_sentences, plain_table
from reports.respondents.tree_accuracy import (
    SPLITS,
    VARIANTS,
    accuracy_figure,
    accuracy_table,
    definitions,
    difference_to_first,
    read_summaries,
    reason_ties,
    spreads,
    unscored_users,
)
from reports.respondents.tuned_limits import chosen, in_words, limits_table, read_limits

ALL_VARIANTS: Mapping[str, str] = {**VARIANTS, TUNED: "limits tuned", POOLED: "one tree for all"}
MODELS: Mapping[str, str] = {**ALL_VARIANTS, GP: "Gaussian process"}
WHO = "respondent"
ITEM, ITEMS = "profile", "profiles"
"""What the leaves of a tree hold."""

_LARGE_TREE = 78.0  # mm, the height of the tree with straddlers kept


def choice_page(run: FinishedRun, *, study: str, title: str) -> Page:
    """The report of a run of a choice study. Raises NotARunError if a result it needs is missing or malformed."""
    summary: ChoiceSummary = run.document(CHOICE_SUMMARY, ChoiceSummary)
    example = read_example(run, tuple(VARIANTS))
    pooled = read_tree(run, POOLED_TREE).counting(ITEM)
    published = [row for row in run.metrics if row.published is not None]
    named = run.record.config.get("example_user") is not None
    comparable = bool(published) and not run.record.simulated
    return Page(
        study=study,
        title=title,
        facts=facts(run.record),
        warnings=warnings(run.record),
        cover="accuracy-test",
        answer=_answer(run, summary),
        sections=[
            Section("Published beside found" if comparable else "What was found", _comparison(run, published)),
            Section(f"Across {WHO}s", [spreads(run, VARIANTS, who=WHO)]),
            Section("One respondent’s tree", _example(example.user_id, example.trees, named=named)),
            Section("One tree for all respondents", _pooled(run, pooled)),
            Section("What trees ask about", asked_blocks(run, who=WHO)),
            leaving_out_section(run, who=WHO),
            Section(f"Trees of single {WHO}s", gallery_blocks(run, who=WHO, counting=ITEM)),
            Section("Why they differ" if comparable else "How to read the numbers", [_reasons(run, summary)]),
            provenance(run.record, run.cards()),
        ],
    )


def _answer(run: FinishedRun, summary: ChoiceSummary) -> Answer:
    own, kept, tuned, all_ = (run.metric(ACCURACY, variant=variant, split=TEST) for variant in ALL_VARIANTS)
    leaves = {variant: run.metric(LEAVES, variant=variant, split=TRAIN).value for variant in ALL_VARIANTS}
    found = (
        f"A tree fitted to some of a respondent’s choices predicts the held-out ones with accuracy {share(own.value)} "
        f"(standard deviation {fixed(own.sd, 2)} over {own.n or 0:,} respondents), with {fixed(leaves[DISCARDED], 1)} "
        f"leaves on average; keeping straddlers, with {share(kept.value)} and {fixed(leaves[KEPT], 1)} leaves; with "
        f"limits tuned on training choices ({in_words(chosen(read_limits(run).each))}), with {share(tuned.value)} and "
        f"{fixed(leaves[TUNED], 1)} leaves. One tree of {fixed(leaves[POOLED], 0)} leaves for all respondents predicts "
        f"them with {share(all_.value)}. "
        + compared(
            "a tree for each with tuned limits", "a tree for each without", difference_to_first(run, TUNED, who=WHO)
        )
        + " "
        + compared(
            "one tree for all", "a tree for each without tuned limits", difference_to_first(run, POOLED, who=WHO)
        )
    )
    numbers = [
        KeyNumber(share(own.value), "held-out accuracy, a tree each"),
        KeyNumber(fixed(leaves[DISCARDED], 1), "leaves, a tree each"),
        KeyNumber(share(all_.value), "held-out accuracy, one tree for all"),
        KeyNumber(fixed(leaves[POOLED], 0), "leaves, one tree for all"),
    ]
    plain, leads = plain_sentences(run, who=WHO)
    return Answer([*([plain, found] if leads else [found, plain]), *_verdict(run, summary)], numbers)


def _verdict(run: FinishedRun, summary: ChoiceSummary) -> list[str]:
    if not any(row.published is not None for row in run.metrics):
        simulated = "These data are simulated from known preferences. " if run.record.simulated else ""
        return [f"{simulated}No published numbers are known to compare these with."]
    if summary.smallest_gap is None or summary.largest_gap is None:
        return ["These data are simulated from known preferences: what was published about people is not comparable."]
    return [
        f"The {summary.n_published} published accuracies are between {fixed(100 * summary.smallest_gap, 1)} and "
        f"{fixed(100 * summary.largest_gap, 1)} points away from what was found here."
    ]


def _comparison(run: FinishedRun, published: Sequence[MetricRow]) -> list[Block]:
    trees = Prose(
        [
            "Every respondent has three trees. The first two differ in what becomes of a straddler, a pair whose two "
            "profiles a split has already separated. Discarded, it no longer has a say in the splits below; kept, it "
            "has. The third discards straddlers and has limits, the same for all respondents, that were chosen on "
            "training choices. One more tree, with straddlers discarded, is fitted to the choices of all respondents "
            "together, and judged on the same held-out choices of each."
        ]
    )
    blocks: list[Block] = [
        trees,
        *unscored_users(run, who=WHO),
        accuracy_figure(run, ALL_VARIANTS, who=WHO),
        accuracy_table(run, ALL_VARIANTS, who=WHO),
        gp_table(run, who=WHO),
        plain_table(run, who=WHO),
        limits_table(read_limits(run), who=WHO),
    ]
    if published:
        blocks.append(_published_table(run, published))
    return [*blocks, definitions()]


def _published_table(run: FinishedRun, published: Sequence[MetricRow]) -> Table:
    simulated = run.record.simulated
    rows_of: dict[tuple[str, str], dict[str, MetricRow]] = {}
    for row in published:
        rows_of.setdefault((row.published_source or "", row.variant), {})[row.split] = row
    rows = []
    for (source, variant), by_split in rows_of.items():
        cells = [source, MODELS[variant]]
        for split in SPLITS:
            at = by_split.get(split)
            found, stated = (at.value, at.published) if at is not None else (None, None)
            cells += [share(found), share(stated), MISSING if simulated else points(gap(found, stated))]
        rows.append(Row(cells))
    note = (
        "Not comparable: these data are simulated, and the published values are those of people."
        if simulated
        else "Points: 100 × (found − published). How the paper counts a tie is not said."
    )
    return Table(
        "What was published about the accuracy of a respondent’s tree or process.",
        [
            Column("published in", "left"),
            Column("model", "left"),
            *(Column(header, group=group) for group in SPLITS.values() for header in ("found", "published", "points")),
        ],
        rows,
        note=note,
    )


def _example(user_id: str, trees: Mapping[str, FittedTree], *, named: bool) -> list[Block]:
    why = "is named in the settings" if named else "was chosen because size and accuracy of the tree are typical"
    readable, unreadable = trees[DISCARDED].counting(ITEM), trees[KEPT].counting(ITEM)
    drawn, part = readable.draw_at_most(MOST_HEIGHT), unreadable.draw_at_most(_LARGE_TREE)
    extremes = readable.extremes_in_words()
    return [
        Prose([f"Respondent {user_id} {why}. The leaves count the profiles that the respondent was shown."]),
        Figure(
            [tree_picture("tree", drawn, f"Preference tree of respondent {user_id}. {extremes}")],
            f"What respondent {user_id} prefers, in {len(readable.leaf_mean)} leaves ({spaced(DISCARDED)}).",
            f"{extremes}{reading(drawn, of=ITEMS)}{cut_in_words(drawn)}",
        ),
        Figure(
            [tree_picture("tree-large", part, f"The same respondent's tree, {spaced(KEPT)}.")],
            f"The same respondent’s tree, {spaced(KEPT)}: {len(unreadable.leaf_mean)} leaves, up to "
            f"{unreadable.depth} questions.",
            f"{unreadable.empty_leaves} of its leaves hold none of the profiles the respondent saw."
            + cut_in_words(part),
        ),
    ]


def _pooled(run: FinishedRun, tree: FittedTree) -> list[Block]:
    drawn = tree.draw_at_most(MOST_HEIGHT)
    extremes = tree.extremes_in_words()
    limit, tried = run.record.config.get("pooled_depth"), read_limits(run).pooled
    limited = f" It was not grown beyond {limit} questions a path, as the settings say." if limit is not None else ""
    if tried:
        limited = f" Its limits were chosen on training choices: {in_words(chosen(tried))}."
    users = read_summaries(run)[DISCARDED].users
    return [
        Prose(
            [
                f"This tree is fitted to the training choices of all {users:,} respondents, and so "
                f"shows what they have in common.{limited}"
            ]
        ),
        Figure(
            [tree_picture("tree-pooled", drawn, f"Preference tree of all respondents. {extremes}")],
            f"What respondents prefer on the whole, in {len(tree.leaf_mean)} leaves.",
            f"{extremes}{reading(drawn, of=ITEMS)}{cut_in_words(drawn)}",
        ),
    ]


def _reasons(run: FinishedRun, summary: ChoiceSummary) -> Prose:
    own = run.metric(ACCURACY, variant=DISCARDED, split=TEST)
    return Prose(
        [
            f"A respondent made {fixed(summary.comparisons_each, 1)} choices on average that say something about two "
            f"profiles, and {fixed(summary.held_out_each, 1)} of them are held out. One respondent’s accuracy can "
            f"therefore take only a few values, and its standard deviation over respondents is {fixed(own.sd, 2)}; if "
            f"every choice were predicted with the same chance, it would be up to {fixed(summary.chance_sd, 2)} from "
            "so few trials alone.",
            f"One tree for all knows {summary.training:,} choices and nobody’s taste in particular; a tree each "
            "knows one respondent’s choices alone.",
            reason_ties(run, ALL_VARIANTS),
            *_reason_open(run),
        ]
    )


def _reason_open(run: FinishedRun) -> list[str]:
    """What the paper leaves open, if its values are compared with what was found."""
    if run.record.simulated or not any(row.published is not None for row in run.metrics):
        return []
    return [
        "The paper does not say which choices it held out, how it counts a tie, or which of several equally good "
        "splits it takes; each of these moves a mean over so few held-out choices."
    ]
