"""The page of the benchmark study: where a tree keeps up with Gaussian processes, where not, and by how much."""

from __future__ import annotations

from models.records.studies.benchmark_results import CONVERGENCE, SURFACES
from reports.benchmark.convergence import answer_sentences, convergence_section, key_numbers
from reports.benchmark.functions import function_section, no_data
from reports.benchmark.results import Results
from reports.benchmark.settings import setting_sections
from reports.benchmark.surfaces import surface_section
from reports.benchmark.times import time_sentences, times_section
from reports.page.blocks import Answer, Page, Section
from reports.page.finished_run import FinishedRun
from reports.page.provenance import facts, provenance

TITLE = "Searching for what is liked best, with a tree and with Gaussian processes"
IN_BRACKETS = "In brackets: the size of the difference, in standard deviations over runs."
OWN_TIMES = "Times are of this machine."
NOTHING_COMPARED = "This run compares no two models on the functions themselves; its parts follow."


def page(run: FinishedRun) -> Page:
    """The report of a run of the benchmark study. Raises NotARunError if a result it needs is missing or malformed."""
    results = Results(run)
    rests_on = provenance(run.record, run.cards())
    return Page(
        study="Benchmark",
        title=TITLE,
        facts=facts(run.record),
        cover=f"regret-{results.functions[0]}",
        answer=_answer(results),
        sections=[
            *([convergence_section(results), times_section(results)] if results.has(CONVERGENCE) else []),
            *([surface_section(results)] if results.has(SURFACES) else []),
            *setting_sections(results),
            function_section(results),
            Section(rests_on.heading, [no_data(), *rests_on.blocks]),
        ],
    )


def _answer(results: Results) -> Answer:
    found = list(answer_sentences(results))
    if not found:
        return Answer([NOTHING_COMPARED])
    sizes = [IN_BRACKETS] if any("(" in sentence for sentence in found) else []
    faster = list(time_sentences(results))
    times = [" ".join([*faster, OWN_TIMES])] if faster else []
    return Answer([*found, *sizes, *times], key_numbers(results))
