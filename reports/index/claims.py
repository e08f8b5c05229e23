"""Published claims and what the latest runs found of each, as a section of the index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from models.records.studies.claims import STATUSES, ClaimResult
from reports.page.blocks import Block, Column, Prose, Row, Section, Table
from reports.page.wording import MISSING, decimals_to_tell, fixed, listed, spaced

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
COLUMNS = tuple(Column(header, "left") for header in ("Claim", "Published", "Found", "Result"))
UNTESTED = (Column("Claim", "left"), Column("Why it is not testable here", "left"))
LARGE = 100
"""A number of at least this size is shown with the decimals that were published, not with one more."""


def claims_section(results: Sequence[ClaimResult]) -> Section:
    """Rules, counts, and for each paper what was found, what is not testable, and what was not run.

    results: paper by paper, study by study.
    """
    blocks: list[Block] = [Prose([*RULES, counts_in_words(results)])]
    for paper, of_paper in groupby(results, key=lambda result: result.paper):
        blocks += _of_paper(paper, list(of_paper))
    return Section(HEADING, blocks)


def _of_paper(paper: str, results: Sequence[ClaimResult]) -> Iterator[Block]:
    found = [result for result in results if result.status not in {"not_testable", "not_run"}]
    untested = [result for result in results if result.status == "not_testable"]
    not_run = Counter(result.study for result in results if result.status == "not_run")
    rows = [row for study, of in groupby(found, key=lambda result: result.study) for row in _rows(study, list(of))]
    if rows:
        yield Table(f"Claims of {paper}. {counts_in_words(results)}", COLUMNS, rows)
    if untested:
        whys = [Row((_claim(result), result.reason)) for result in untested]
        yield Table(f"Claims of {paper} that are not testable here.", UNTESTED, whys)
    if not_run:
        counted = [f"{study} ({n})" for study, n in not_run.items()]
        yield Prose([f"Claims of {paper} that the latest runs did not test: {listed(counted)}."])


def _rows(study: str | None, results: Sequence[ClaimResult]) -> Iterator[Row]:
    for at, result in enumerate(results):
        cells = (_claim(result), published_text(result), found_text(result), status_text(result))
        yield Row(cells, group="" if at else study_heading(study, results))


def _claim(result: ClaimResult) -> str:
    return f"{result.words} ({result.source.removeprefix(f'{result.paper}, ')})"


def counts_in_words(results: Sequence[ClaimResult]) -> str:
    """How many claims have each status.

    >>> counts_in_words([ClaimResult(claim="a", words="A.", source="p", study=None, tested="", status="not_run")])
    'Of 1 claim: 1 not run.'
    """
    counts = Counter(result.status for result in results)
    named = [f"{counts[status]} {words}" for status, words in STATUSES.items() if counts[status]]
    return f"Of {len(results)} claim{'' if len(results) == 1 else 's'}: {listed(named)}."


def study_heading(study: str | None, results: Sequence[ClaimResult]) -> str:
    """The study, and what the intervals in its rows are over.

    >>> row = ClaimResult(claim="a", words="A.", source="p", study="tea", tested="", status="not_run")
    >>> study_heading("tea", [row, row.model_copy(update={"over": "other users"})])
    'Tea; intervals over other users'
    """
    overs = dict.fromkeys(result.over for result in results if result.over)
    name = "No study" if study is None else spaced(study).capitalize()
    return name + (f"; intervals over {' or '.join(overs)}" if overs else "")


def published_text(result: ClaimResult) -> str:
    """The published number with its decimals; a dash if the claim is not a number."""
    return fixed(result.published, result.decimals)


def found_text(result: ClaimResult) -> str:
    """The number found with its interval, with one decimal more than was published; with more if it would round to 1.

    >>> found_text(ClaimResult(
    ...     claim="a", words="A.", source="p", study="s", tested="", status="reproduced", published=0.98, decimals=2,
    ...     found=0.9812, lower=0.975, upper=0.9871, over="other users",
    ... ))
    '0.981 (0.975 to 0.987)'
    >>> found_text(ClaimResult(
    ...     claim="a", words="A.", source="p", study="s", tested="", status="reproduced", published=0.98, decimals=2,
    ...     found=0.99984,
    ... ))
    '0.9998'
    """
    large = result.found is not None and abs(result.found) >= LARGE
    decimals = result.decimals if large or not result.decimals else max(result.decimals + 1, 3)
    if result.found is not None and not large:
        decimals = max(decimals, decimals_to_tell(1.0 - result.found, decimals))
    value = fixed(result.found, decimals)
    if not result.over:
        return value
    lower = "−∞" if result.lower is None else fixed(result.lower, decimals)
    upper = "∞" if result.upper is None else fixed(result.upper, decimals)
    return f"{value} ({lower} to {upper})"


def status_text(result: ClaimResult) -> str:
    """The status with its reason."""
    return STATUSES[result.status] + (f": {result.reason}" if result.reason else "")


def decided_text(result: ClaimResult) -> str:
    """What decides the claim; a dash if nothing here does."""
    return result.tested or MISSING
