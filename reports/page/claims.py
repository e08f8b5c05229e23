"""Published claims and what the latest runs found of each, as a section of the index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from models.records.claims import STATUSES, ClaimResult
from reports.page.blocks import Block, Column, Prose, Row, Section, Table
from reports.page.wording import MISSING, fixed, listed, spaced

HEADING = "Published claims"
RULES = (
    "A published number is *reproduced* if the 95% interval of the number found, widened by the rounding of the "
    "published one, contains it; without an interval, only if both round to the same. A wide interval contains much, "
    "and it stands beside each verdict. That one number exceeds another, or a bound, is reproduced if the whole "
    "interval of the difference says so. An interval that allows both decides nothing, and the claim counts as not "
    "reproduced.",
    "A claim is tried first as the paper describes it. If it then fails, the other protocols that the run tried are "
    "tried in turn; the first that gives the published result is named. A run with other settings than the paper's is "
    "another protocol. What was found on simulated data reproduces nothing, unless the paper simulated the data too.",
)
COLUMNS = (Column("Claim", "left"), Column("Published"), Column("Found"), Column("Result", "left"))


def claims_section(results: Sequence[ClaimResult]) -> Section:
    """Rules, counts, and a table for each paper. results: paper by paper."""
    blocks: list[Block] = [Prose([*RULES, counts_in_words(results)])]
    for paper, of_paper in groupby(results, key=lambda result: result.paper):
        blocks.append(_table(paper, list(of_paper)))
    return Section(HEADING, blocks)


def counts_in_words(results: Sequence[ClaimResult]) -> str:
    """How many claims have each status.

    >>> counts_in_words([ClaimResult(claim="a", words="A.", source="p", study=None, tested="", status="not_run")])
    'Of 1 claim: 1 not run.'
    """
    counts = Counter(result.status for result in results)
    named = [f"{counts[status]} {words}" for status, words in STATUSES.items() if counts[status]]
    return f"Of {len(results)} claim{'' if len(results) == 1 else 's'}: {listed(named)}."


def _table(paper: str, results: Sequence[ClaimResult]) -> Table:
    rows: list[Row] = []
    for study, of_study in groupby(results, key=lambda result: result.study):
        claims = list(of_study)
        heading = study_heading(study, claims)
        rows += [Row(_cells(result), group="" if at else heading) for at, result in enumerate(claims)]
    return Table(f"Claims of {paper}. {counts_in_words(results)}", COLUMNS, rows)


def study_heading(study: str | None, results: Sequence[ClaimResult]) -> str:
    """The study, its run, and what the intervals in its rows are over.

    >>> row = ClaimResult(claim="a", words="A.", source="p", study="tea", tested="", status="not_run")
    >>> study_heading("tea", [row, row.model_copy(update={"run": "tea/1", "over": "other users"})])
    'Tea, run tea/1; intervals over other users'
    """
    runs = dict.fromkeys(result.run for result in results if result.run)
    overs = dict.fromkeys(result.over for result in results if result.over)
    name = "No study" if study is None else spaced(study).capitalize()
    about = f"; intervals over {' or '.join(overs)}" if overs else ""
    return f"{name}{''.join(f', run {run}' for run in runs)}{about}"


def _cells(result: ClaimResult) -> tuple[str, str, str, str]:
    where = result.source.removeprefix(f"{result.paper}, ")
    return f"{result.words} ({where})", published_text(result), found_text(result), status_text(result)


def published_text(result: ClaimResult) -> str:
    """The published number with its decimals; a dash if the claim is not a number."""
    return fixed(result.published, result.decimals)


def found_text(result: ClaimResult) -> str:
    """The number found with its interval, with one decimal more than was published.

    >>> found_text(ClaimResult(
    ...     claim="a", words="A.", source="p", study="s", tested="", status="reproduced", published=0.98, decimals=2,
    ...     found=0.9812, lower=0.975, upper=0.9871, over="other users",
    ... ))
    '0.981 (0.975 to 0.987)'
    """
    decimals = result.decimals and max(result.decimals, 2) + (result.decimals < 3)
    value = fixed(result.found, decimals)
    if result.lower is None or result.upper is None:
        return value
    return f"{value} ({fixed(result.lower, decimals)} to {fixed(result.upper, decimals)})"


def status_text(result: ClaimResult) -> str:
    """The status with its reason."""
    return STATUSES[result.status] + (f": {result.reason}" if result.reason else "")


def tested_text(result: ClaimResult) -> str:
    """What decides the claim; a dash if nothing here does."""
    return result.tested or MISSING
