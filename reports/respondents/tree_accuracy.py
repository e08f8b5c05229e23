"""How well trees predict choices: the tables, figures and words shared by all studies of respondents."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure as Drawing

from models.records.published import gap
from models.records.studies.respondent_results import (
    ACCURACY,
    ACCURACY_DIFFERENCES,
    COIN,
    COVARIATE_LOGIT,
    DECIDED_SHARE,
    DEPTH,
    DIFFERENCE_LOGIT,
    DISCARDED,
    GP,
    KEPT,
    LEAVES,
    MAJORITY,
    POOLED,
    STRICT_ACCURACY,
    TEST,
    TEST_ACCURACY,
    TRAIN,
    TREE_SUMMARIES,
    UNSEEN_USERS,
    USERS,
    VARIANT,
    TreeSummary,
)
from models.scores.comparing import Difference
from reports.figures.comparison import Estimate, draw_comparison
from reports.figures.distribution import draw_spread
from reports.page import style
from reports.page.blocks import Column, Definitions, Figure, Picture, Prose, Row, Table
from reports.page.finished_run import FinishedRun, NotARunError
from reports.page.wording import between, fixed, points, share

VARIANTS: Mapping[str, str] = {DISCARDED: "straddlers discarded", KEPT: "straddlers kept"}
SPLITS: Mapping[str, str] = {TRAIN: "Training choices", TEST: "Held-out choices"}
MEASURES: Mapping[str, str] = {
    ACCURACY: "accuracy",
    STRICT_ACCURACY: "strict accuracy",
    DECIDED_SHARE: "decided share",
}
PLAIN_SHORT: Mapping[str, str] = {
    MAJORITY: "majority",
    DIFFERENCE_LOGIT: "logit",
    COVARIATE_LOGIT: "logit, covariates",
    COIN: "coin",
}
LEAVES_AXIS = "number of leaves (log scale)"


def accuracy_figure(
    run: FinishedRun, variants: Mapping[str, str], *, published: str | None = None, who: str = "user"
) -> Figure:
    """Accuracy of each variant and of plain models, on held-out choices and on respondents never seen.

    published: source of the published values, if they are marked.
    """
    panels = {TEST: SPLITS[TEST], UNSEEN_USERS: f"{who.capitalize()}s never seen"}
    labels = {**variants, GP: "Gaussian process", POOLED: "one tree for all", **PLAIN_SHORT}
    found = {(row.variant, row.split) for row in run.metrics if row.metric == ACCURACY}
    shown = [label for label in labels if label != COIN and any((label, split) in found for split in panels)]
    by_panel: dict[str, list[Estimate]] = {}
    for split in panels:
        by_panel[split] = []
        for variant in shown:
            row = run.metric(ACCURACY, variant=variant, split=split) if (variant, split) in found else None
            value, bar, stated = (None, None, None) if row is None else (row.value, row.interval, row.published)
            is_plain = variant in PLAIN_SHORT
            by_panel[split].append(Estimate(labels[variant], value, bar, stated if published else None, is_plain))
    lowest = min(estimate.lowest for estimates in by_panel.values() for estimate in estimates)
    pictures = [
        half(
            f"accuracy-{split}",
            draw_comparison(panels[split], estimates, lowest=lowest, width=style.HALF_WIDTH, coin=0.5),
            f"{panels[split]}, accuracy: "
            + "; ".join(f"{e.label} {share(e.value) if e.value is not None else 'not scored'}" for e in estimates),
        )
        for split, estimates in by_panel.items()
    ]
    diamonds = f" Open diamonds: {published}." if published else ""
    return Figure(
        pictures,
        f"Accuracy on held-out choices, and on the choices of {who}s of whom no model has seen any.",
        f"Dots: models of this study; grey squares: plain models of all {who}s; dashed line: a coin. Each is a mean "
        f"over {who}s. Bars: 95% interval of the mean, over other {who}s.{diamonds}",
    )


def difference_to_first(run: FinishedRun, variant: str, *, who: str = "user") -> Difference:
    """How much the held-out accuracy of a variant exceeds that of the first, with its interval over other users.

    Raises NotARunError if the results lack it.
    """
    found: dict[str, Difference] = run.document(ACCURACY_DIFFERENCES, dict[str, Difference])
    if variant not in found:
        raise NotARunError(f"{run.path}: results/{ACCURACY_DIFFERENCES}.json has no {variant}. Run the study again.")
    return found[variant].model_copy(update={"over": f"other {who}s"})


def half(name: str, figure: Drawing, alt: str) -> Picture:
    """A picture of half the page's width."""
    return Picture(name, style.to_svg(figure), style.HALF_WIDTH, alt)


def accuracy_table(
    run: FinishedRun, variants: Mapping[str, str], *, published: str | None = None, who: str = "user"
) -> Table:
    """The three accuracies of each variant. published: source of the published values, if they are shown."""
    headers = ("found", "95% interval", *(("published", "points") if published else ()))
    rows = []
    for variant, label in variants.items():
        for metric, name in MEASURES.items():
            cells = [name]
            for split in SPLITS:
                found = run.metric(metric, variant=variant, split=split)
                cells += [share(found.value), between(found.lower, found.upper)]
                if published:
                    cells += [share(found.published), points(gap(found.value, found.published))]
            rows.append(
                Row(cells, group=f"{label.capitalize()}: {size(run, variant, who=who)}" if metric == ACCURACY else "")
            )
    return Table(
        f"How often a {who}’s tree is right: mean over {who}s, and its interval.",
        [Column("", "left"), *(Column(header, group=group) for group in SPLITS.values() for header in headers)],
        rows,
        note=_intervals(who)
        + (
            f" Published: {published}; how it counts a tie is not said. Points: 100 × (found − published)."
            if published
            else ""
        ),
    )


def _intervals(who: str) -> str:
    """What the intervals are over, and how they were calibrated."""
    return (
        f"95% intervals are over other {who}s (mean ± Student’s t times the standard deviation over {who}s, divided by "
        f"the root of their number; after ± stands that standard deviation itself). One tree for all counts each {who} "
        "once; it is not grown again for its interval, which is that of the tree at hand. How often such intervals "
        "contain the truth on simulated data is in docs/calibration.md."
    )


def read_summaries(run: FinishedRun) -> dict[str, TreeSummary]:
    """The summary of each variant's trees. Raises NotARunError."""
    summaries: dict[str, TreeSummary] = run.document(TREE_SUMMARIES, dict[str, TreeSummary])
    return summaries


def unscored_users(run: FinishedRun, *, who: str = "user") -> list[Prose]:
    """A paragraph on users who are not scored: too few choices to hold one out, or to learn from; empty if none."""
    own = read_summaries(run)[DISCARDED]
    few = {"to hold any out": own.unscored_test, "to learn from": own.unscored_train}
    reasons = [
        f"{'One has' if number == 1 else f'{number:,} have'} too few choices {what}"
        for what, number in few.items()
        if number
    ]
    if not reasons:
        return []
    return [
        Prose(
            [
                f"The table has {own.users:,} {who}s. {'; '.join(reasons)}: accuracy on held-out choices is that of "
                f"{own.scored:,} {who}s."
            ]
        )
    ]


def definitions() -> Definitions:
    """Definitions of the three accuracies and of a tie."""
    return Definitions(
        [
            ("Accuracy", "share of choices the tree predicts, a tie counting one half; the headline."),
            ("Strict accuracy", "the same, a tie counting as wrong."),
            ("Decided share", "share of choices that are no ties; strict accuracy over it leaves ties out."),
            ("Tie", "both items of a choice lie in one leaf, so the tree is neither right nor wrong."),
        ],
        boxed=True,
    )


def size(run: FinishedRun, variant: str, *, who: str = "user") -> str:
    """The size of the trees of a variant, in words; the size of a single tree has no spread."""
    leaves, depth = (run.metric(name, variant=variant, split=TRAIN) for name in (LEAVES, DEPTH))
    if leaves.sd is None:
        return f"one tree of {fixed(leaves.value, 0)} leaves, depth {fixed(depth.value, 0)}"
    (many, deep) = (f"{fixed(found.value, 1)} ± {fixed(found.sd, 1)}" for found in (leaves, depth))
    return f"{many} leaves, depth {deep}, {leaves.n or 0:,} {who}s"


def spreads(run: FinishedRun, variants: Mapping[str, str], *, who: str = "user") -> Figure:
    """The distributions of test accuracy and of the number of leaves over users."""
    users, summaries = run.table(USERS, (VARIANT, TEST_ACCURACY, LEAVES)), read_summaries(run)
    groups = {label: users[users[VARIANT] == variant] for variant, label in variants.items()}
    medians = "; ".join(
        f"{label} {share(summaries[variant].median_accuracy)} and {fixed(summaries[variant].median_leaves, 0)} leaves"
        for variant, label in variants.items()
    )
    pictures = []
    for column, axis, log in ((TEST_ACCURACY, "accuracy on held-out choices", False), (LEAVES, LEAVES_AXIS, True)):
        values = {label: group[column].to_numpy(float) for label, group in groups.items()}
        drawing = draw_spread(axis, values, log=log, width=style.HALF_WIDTH, height=47)
        pictures.append(half(f"users-{column.replace('_', '-')}", drawing, f"{axis} over {who}s; medians: {medians}"))
    return Figure(
        pictures,
        f"Accuracy and leaves over the {who}s.",
        f"For every value, the share of {who}s whose tree reaches at least it. Medians: {medians}.",
    )


def reason_ties(run: FinishedRun, variants: Mapping[str, str]) -> str:
    """What the accuracies would be if ties were counted otherwise."""
    summaries = read_summaries(run)
    strict = {variant: run.metric(STRICT_ACCURACY, variant=variant, split=TEST).value for variant in variants}
    return "How a tie is counted matters where leaves are few. " + " ".join(
        f"With {label}, {share(summaries[variant].tied_share)} of the held-out choices are ties; counted as wrong "
        f"they leave an accuracy of {share(strict[variant])}, left out of the count "
        f"{share(summaries[variant].without_ties)}."
        for variant, label in variants.items()
    )
