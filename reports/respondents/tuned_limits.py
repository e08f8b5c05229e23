"""Limits of trees that were chosen on training choices: in words, and the table of what was tried."""

from __future__ import annotations

from collections.abc import Sequence

from models.records.studies.respondent_results import TUNED_LIMITS, TriedLimits, TunedLimits
from reports.page.blocks import Column, Row, Table
from reports.page.finished_run import FinishedRun
from reports.page.wording import MISSING, listed, share

CATEGORIES = {"categorical_3": "at most three categories a split", "categorical": "any number of categories a split"}


def read_limits(run: FinishedRun) -> TunedLimits:
    """The limits that were tried. Raises NotARunError if the file is missing or malformed."""
    found: TunedLimits = run.document(TUNED_LIMITS, TunedLimits)
    return found


def chosen(tried: Sequence[TriedLimits]) -> TriedLimits:
    """The limits of the highest accuracy, the first of equals."""
    return max(tried, key=lambda each: each.accuracy)


def in_words(limits: TriedLimits) -> str:
    """`depth 3 at most, any number of categories a split`.

    >>> in_words(TriedLimits(tree="each", encoding="categorical", max_depth=None, accuracy=0.7))
    'any depth, any number of categories a split'
    """
    return f"{_depth(limits.max_depth)}, {CATEGORIES.get(limits.encoding, limits.encoding)}"


def limits_table(limits: TunedLimits, *, who: str) -> Table:
    """What was tried for the trees of single respondents, and for one tree for all if its depth was chosen too."""
    blocks = {(f"a tree for each {who}", encoding): tried for encoding, tried in _by_encoding(limits.each).items()}
    blocks |= {("one tree for all", encoding): tried for encoding, tried in _by_encoding(limits.pooled).items()}
    depths = list(dict.fromkeys(each.max_depth for tried in blocks.values() for each in tried))
    rows = []
    for (tree, encoding), tried in blocks.items():
        accuracy = {each.max_depth: each.accuracy for each in tried}
        cells = [share(accuracy[depth]) if depth in accuracy else MISSING for depth in depths]
        rows.append(Row([f"{tree}, {CATEGORIES.get(encoding, encoding)}", *cells]))
    taken = [f"for each {who} {in_words(chosen(limits.each))}"]
    taken += [f"for all {in_words(chosen(limits.pooled))}"] if limits.pooled else []
    names = ["any" if depth is None else str(depth) for depth in depths]
    return Table(
        "Limits tried on training choices: accuracy by largest depth.",
        [Column("", "left"), *(Column(name, group="largest depth") for name in names)],
        rows,
        note=f"Straddlers discarded. The training choices are in {limits.folds} folds; those of each are predicted "
        "from the others. No held-out choice takes part. The highest accuracy is taken, of equals the first: "
        f"{listed(taken)}.",
    )


def _by_encoding(tried: Sequence[TriedLimits]) -> dict[str, list[TriedLimits]]:
    found: dict[str, list[TriedLimits]] = {}
    for each in tried:
        found.setdefault(each.encoding, []).append(each)
    return found


def _depth(limit: int | None) -> str:
    return "any depth" if limit is None else f"depth {limit} at most"
