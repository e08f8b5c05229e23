"""The steps of the PMR study: search for features, read them in both inboxes, fit, rank, and judge pairs directly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from prefect import task
from prefect.cache_policies import NO_CACHE

from models.records.feature_spec import FeatureSpec
from models.records.studies.message_results import (
    CONVERSATION,
    EXTRACTION_ACCURACY,
    MOST_MISSING,
    AskedModel,
    TemplateCount,
)
from prompts.conversation import Budget, Conversation
from prompts.engines.replay import ReplaySettings
from prompts.engines.start import EngineSettings, started
from prompts.feature_file import read_features
from prompts.ledger import Ledger
from prompts.unquoted import unquoted
from tasks.messages.feature_loop import Search, search_features
from tasks.messages.inbox import Inbox, Values, read_inbox
from tasks.messages.plain_models import write_plain
from tasks.messages.planted_truth import extraction_accuracy
from tasks.messages.ranking_results import STUDY, write_comparability, write_results
from tasks.messages.reading_messages import Judged, extract_features, judge_pairs
from tasks.messages.settings import LoopSettings, TreeSettings
from tasks.runs.progress import advance
from tasks.runs.results import write_json, write_parquet
from tasks.runs.run_folder import RunFolder
from tasks.runs.table import BuiltTable


class Inboxes(NamedTuple):
    """The tables of both inboxes: the first for training, the second for testing."""

    train: BuiltTable
    test: BuiltTable


class Found(NamedTuple):
    """The features found, their values in both inboxes, and the rounds that led to them.

    start, start_values: the features the search started from, and their values in both inboxes.
    """

    search: Search
    test_values: Values
    start: tuple[FeatureSpec, ...]
    start_values: tuple[Values, Values]


@contextmanager
def conversation(
    settings: EngineSettings, ledger: Path, run: RunFolder, chunk_size: int, budget: Budget
) -> Iterator[Conversation]:
    """A conversation with the engine, recorded in the ledger; its times go to the run. Raises EngineError, LedgerError.

    The model, and how often each template was asked, is written to `conversation.json` when the block ends.
    """
    replayed = isinstance(settings, ReplaySettings)
    with Ledger(ledger, must_exist=replayed) as opened, started(settings, opened, read_features().features) as engine:
        talk = Conversation(engine, opened, chunk_size=chunk_size, budget=budget)
        yield talk
        run.answers.extend(talk.times())
        templates = tuple(TemplateCount(**count._asdict()) for count in talk.counts())
        unreliable = tuple(each.template for each in templates if each.missing > MOST_MISSING * each.requests)
        asked = AskedModel(model=engine.model, revision=engine.revision, templates=templates, unreliable=unreliable)
        write_json(run.results / f"{CONVERSATION}.json", asked.model_dump(mode="json"))


@task(name="find features", cache_policy=NO_CACHE, persist_result=False)
@unquoted()
def find_features(
    talk: Conversation,
    inboxes: Inboxes,
    start: Sequence[FeatureSpec],
    *,
    loop: LoopSettings,
    tree: TreeSettings,
    seed: int,
    step: str,
) -> Found:
    """Search for features in the first inbox, and read those found in the second."""
    talk.on_answered = partial(advance, step)
    train, test = (read_inbox(table.folder) for table in inboxes)
    search = search_features(talk, train, start, settings=loop, tree=tree, seed=seed)
    test_values = extract_features(talk, test, search.specs)
    return Found(
        search,
        test_values,
        tuple(start),
        (_with_start(talk, train, start, search.values), _with_start(talk, test, start, test_values)),
    )


def _with_start(talk: Conversation, inbox: Inbox, start: Sequence[FeatureSpec], known: Values) -> Values:
    """The values of the features given at the start; those that the search has dropped are read again."""
    dropped = [spec for spec in start if spec.name not in known]
    return {**known, **(extract_features(talk, inbox, dropped) if dropped else {})}


@task(name="judge pairs", cache_policy=NO_CACHE, persist_result=False)
@unquoted()
def judge_both(talk: Conversation, inboxes: Inboxes, *, step: str) -> tuple[Judged, ...]:
    """Ask about every pair of both inboxes, in both orders, which message comes first."""
    talk.on_answered = partial(advance, step)
    return tuple(judge_pairs(talk, read_inbox(table.folder)) for table in inboxes)


@task(name="evaluate", cache_policy=NO_CACHE, persist_result=False)
@unquoted()
def evaluate(
    inboxes: Inboxes,
    found: Found,
    judged: Sequence[Judged],
    results: Path,
    *,
    settings: TreeSettings,
    readable_depth: int,
    model: str,
) -> None:
    """Fit the tree, score it, rank both inboxes and write the results.

    For simulated messages, write also how often features were read right.
    """
    boxes = [read_inbox(table.folder) for table in inboxes]
    write_results(
        results, boxes, found.search, found.test_values, judged, settings=settings, readable_depth=readable_depth,
        model=model,
    )  # fmt: skip
    write_plain(
        STUDY, results, boxes, found.search.specs, [found.search.values, found.test_values], found.start,
        found.start_values, settings=settings,
    )  # fmt: skip
    write_comparability(results, [table.manifest for table in inboxes], model)
    ids = [each for box in boxes for each in box.ids]
    values = {name: [*train, *found.test_values[name]] for name, train in found.search.values.items()}
    accuracy = extraction_accuracy(inboxes.train.raw, ids, found.search.specs, values)
    if accuracy is not None:
        write_parquet(results / f"{EXTRACTION_ACCURACY}.parquet", accuracy)
