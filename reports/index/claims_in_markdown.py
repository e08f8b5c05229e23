"""The table of published claims in Markdown: `docs/claims.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from models.records.studies.claims import ClaimResult
from reports.index.claims import (
    RULES,
    counts_in_words,
    decided_text,
    found_text,
    published_text,
    status_text,
    study_heading,
)

TITLE = "# Every published claim, and what was found"
MADE = "Made by `prefstudy claims --write` from the latest run of each study. Do not edit."
HEADER = ("Claim", "Source", "Tested by", "Published", "Found (95% interval)", "Result")
SPECIAL = str.maketrans({each: f"\\{each}" for each in r"\`*_[]<>|#"})


def claims_in_markdown(results: Sequence[ClaimResult]) -> str:
    """The document, with a table for each study of each paper. results: paper by paper, study by study."""
    return "\n".join(_lines(results)) + "\n"


def _lines(results: Sequence[ClaimResult]) -> Iterator[str]:
    yield from (TITLE, "", MADE, "")
    for rule in RULES:
        yield from (rule, "")
    yield from (counts_in_words(results), "")
    for paper, of_paper in groupby(results, key=lambda result: result.paper):
        claims = list(of_paper)
        yield from (f"## {_plain(paper)}", "", counts_in_words(claims), "")
        for study, of_study in groupby(claims, key=lambda result: result.study):
            yield from _study(study, list(of_study))


def _study(study: str | None, results: Sequence[ClaimResult]) -> Iterator[str]:
    yield from (f"### {_plain(study_heading(study, results))}", "")
    for run in dict.fromkeys(result.run for result in results if result.run):
        yield from (f"Run `{run}`.", "")
    yield f"| {' | '.join(HEADER)} |"
    yield "|---|---|---|--:|--:|---|"
    for result in results:
        source = result.source.removeprefix(f"{result.paper}, ")
        texts = (result.words, source, decided_text(result), published_text(result), found_text(result))
        yield f"| {' | '.join(_plain(text) for text in (*texts, status_text(result)))} |"
    yield ""


def _plain(text: str) -> str:
    """A text of which nothing is markup."""
    return text.translate(SPECIAL).replace("\n", " ")
