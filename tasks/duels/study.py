"""Settings and steps of the studies that fit preference models to duels (pref-shap, section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from prefect import unmapped
from pydantic import Field

from models.kernels.selection import Tuning
from models.records.duel_results import (
    AS_PUBLISHED,
    BALANCED_ACCURACY,
    PROTOCOLS,
    UNSEEN_ITEMS,
    DuelModel,
    ScoredVariant,
    SplitProtocol,
)
from models.records.published import Published
from tasks.duels.explain_run import check_explainable, explain_run
from tasks.duels.explanation_settings import ExplainConfig
from tasks.duels.rankability import write_rankability
from tasks.duels.scoring import SCORING, DuelTrial, score_run, write_scores
from tasks.runs.publish import keep_artifacts, publish
from tasks.runs.run_folder import run_folder
from tasks.runs.study import StudyConfig
from tasks.runs.table import build_table


class DuelConfig(StudyConfig):
    """Settings of studies of duels; the defaults are the paper's where it states them."""

    items: int | None = Field(default=None, ge=12, description="number of items to simulate")
    runs: int = Field(
        default=5, ge=1, description="number of runs; each splits the duels, then chooses and fits models"
    )
    validation_share: float = Field(
        default=0.1, gt=0, lt=0.5, description="share of the duels held out for choosing settings"
    )
    test_share: float = Field(default=0.1, gt=0, lt=0.5, description="share of the duels held out for testing")
    folds: int | None = Field(
        default=None,
        ge=2,
        description="folds of a cross-validation that tests every duel once in each run, instead of one validation "
        "part and one test part; settings are then chosen in inner folds",
    )
    item_groups: int = Field(
        default=3,
        ge=2,
        description="groups of items for the second split, which tests duels between items never seen: one group is "
        "held out, or each in turn with folds",
    )
    unseen_runs: int = Field(default=3, ge=0, description="number of runs of the second split; 0 leaves it out")
    tuning: Tuning = Field(default=Tuning(), description="search for lengthscales, penalty and depth")
    published_protocol: bool = Field(
        default=True,
        description="also score under the published protocol: duels mirrored before the split, scores thresholded",
    )
    explaining: ExplainConfig = Field(
        default=ExplainConfig(), description="duels to explain, and published findings to judge by the explanations"
    )
    resamples: int = Field(default=20, ge=2, description="number of samples for the interval of SpecR")

    def protocols(self, *, published: bool, as_published: bool) -> tuple[SplitProtocol, ...]:
        """The protocols under which models are scored: also the published ones if there are published figures."""
        if not (published and self.published_protocol):
            return PROTOCOLS[:1]
        return (*PROTOCOLS, AS_PUBLISHED) if as_published else PROTOCOLS


def study_duels(
    name: str,
    config: DuelConfig,
    *,
    models: tuple[DuelModel, ...] = ("gpm", "upm", "preference_tree"),
    published: Sequence[Published] = (),
    published_spec_r: float | None = None,
    published_variant: str | None = None,
    rank_by_context: bool = False,
    leave_out: tuple[str, ...] = (),
    sides: tuple[str, ...] = (),
) -> Path:
    """Fit preference models to most of the duels, predict the others, and measure how rankable the items are.

    published, published_spec_r: figures to report beside those found, if any; a model with a published balanced
    accuracy is also scored under the published protocol. published_variant: variant of the data set that also has the
    duels which were published without an outcome. rank_by_context: average SpecR over contexts.
    leave_out: features of the items that models do not get. sides: features of a comparison that models get as
    features of the two items, see `tasks.duels.read_duels.read_duels`.
    Returns the run's folder (pref-shap, Table 3).
    """
    with_published = {each.model for each in published if each.metric == BALANCED_ACCURACY}
    protocols = config.protocols(published=bool(with_published), as_published=published_variant is not None)
    explaining = config.explaining.without_losses() if config.simulated else config.explaining
    with run_folder(name, config) as run:
        with run.step("Build the table"):
            table = build_table(name, config, run.work, users=config.items)
            tables = [table]
            if AS_PUBLISHED in protocols:
                tables.append(build_table(name, config, run.work, users=config.items, variant=published_variant))
        trial = DuelTrial(
            table=table.folder,
            published_table=tables[-1].folder,
            models=models,
            mirrored=tuple(kind for kind in models if kind in with_published),
            tuning=config.tuning,
            seed=config.seed,
            folds=config.folds,
            item_groups=config.item_groups,
            validation_share=config.validation_share,
            test_share=config.test_share,
            leave_out=leave_out,
            sides=sides,
        )
        if explaining.kinds:
            check_explainable(trial, explaining)
        scored: list[tuple[int, ScoredVariant]] = [
            (number, protocol) for protocol in protocols for number in range(config.runs)
        ]
        scored += [(number, UNSEEN_ITEMS) for number in range(config.unseen_runs)]
        with run.step(SCORING, total=len(scored)):
            numbers, variants = zip(*scored, strict=True)
            scores = score_run.map(list(numbers), list(variants), unmapped(trial))
            duels = trial.duels()
            write_scores(name, scores.result(), duels.names[duels.comparisons], published, run.results)
        if explaining.kinds:
            explain_run(trial, explaining, run)
        with run.step("Measure rankability"):
            write_rankability(
                name, table.folder, published_spec_r, run.results,
                resamples=config.resamples, seed=config.seed, by_context=rank_by_context,
            )  # fmt: skip
        with run.step("Write the report"):
            publish(run, tables)
    keep_artifacts(run.path)
    return run.path
