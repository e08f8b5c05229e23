"""The PMR study: a language model reads and proposes features of patients' messages, and a tree ranks the inbox."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect import flow
from pydantic import Field

from flows.nightly import Nightly
from models.records.feature_spec import FeatureSpec
from prompts.conversation import Budget
from prompts.engines.rules import RulesSettings
from prompts.engines.start import EngineSettings
from prompts.engines.vllm import VllmSettings
from prompts.feature_file import read_features
from tasks.messages.message_ranking import Inboxes, conversation, evaluate, find_features, judge_both
from tasks.messages.settings import LoopSettings, TreeSettings
from tasks.runs.publish import keep_artifacts, publish
from tasks.runs.run_folder import run_folder
from tasks.runs.study import Place, StudyConfig
from tasks.runs.table import build_tables

SEARCHING, JUDGING = "Find features", "Judge pairs directly"


class PmrConfig(StudyConfig):
    """The study's settings; the defaults are the paper's where it states them."""

    patients: int | None = Field(default=None, ge=6, description="number of patients in each simulated inbox")
    engine: EngineSettings = Field(
        default=VllmSettings(), description="what answers the questions: vllm, server, rules or replay"
    )
    ledger: Place | None = Field(
        default=None, description="file that records all answers; OUT/pmr/ledger.sqlite if not set"
    )
    chunk_size: int = Field(default=256, ge=1, description="requests that are answered and recorded together")
    budget: Budget = Field(default=Budget(), description="limits of requests and tokens for the whole run")
    features: str = Field(
        default="propose",
        description="propose: start from three published features and let the model propose more; table9: the eleven "
        "published ones, without proposals; or a file (TOML) of your own",
    )
    loop: LoopSettings = Field(default=LoopSettings(), description="how features are searched for")
    tree: TreeSettings = Field(default=TreeSettings(), description="how the tree is grown")
    readable_depth: int = Field(default=3, ge=1, description="depth of the short tree that the report shows first")
    judge: bool = Field(default=True, description="also ask the model about every pair directly, in both orders")

    @property
    def answers(self) -> Path:
        """The file of the ledger."""
        return self.ledger or self.out / "pmr" / "ledger.sqlite"

    @property
    def start(self) -> tuple[FeatureSpec, ...]:
        """The features the search starts from."""
        if self.features == "propose":
            return read_features().starting
        return read_features().features if self.features == "table9" else read_features(Path(self.features)).features

    def contents(self) -> dict[str, Any]:
        """The features of a file given by the user."""
        if self.features in {"propose", "table9"}:
            return {}
        return {"features": [feature.model_dump(mode="json") for feature in self.start]}

    @property
    def search(self) -> LoopSettings:
        """The settings of the search; no rounds if the features are given."""
        return self.loop if self.features == "propose" else self.loop.model_copy(update={"rounds": 0})


PAPER = PmrConfig()
DEMO = PmrConfig(simulated=True, engine=RulesSettings())
NIGHTLY = Nightly(
    pool="prefstudy-gpu",
    tags=("gpu",),
    note="Needs a worker on a machine with a GPU and the real inboxes; README: Language models.",
)


@flow(name="pmr")
def pmr_study(config: PmrConfig = PAPER) -> Path:
    """Find features in INBOX_A, fit a tree to its comparisons, and rank INBOX_B (dt-pbo, section 4.2 and G.2)."""
    start, tree = config.start, config.tree
    with run_folder("pmr", config) as run:
        with run.step("Build the tables"):
            inboxes = Inboxes(*build_tables("pmr", config, run.work, users=config.patients))
        with conversation(config.engine, config.answers, run, config.chunk_size, config.budget) as talk:
            with run.step(SEARCHING):
                found = find_features(
                    talk, inboxes, start, loop=config.search, tree=tree, seed=config.seed, step=SEARCHING
                )
            with run.step(JUDGING):
                judged = judge_both(talk, inboxes, step=JUDGING) if config.judge else ()
        with run.step("Fit and rank"):
            evaluate(
                inboxes, found, judged, run.results, settings=tree, readable_depth=config.readable_depth,
                model=talk.engine.model,
            )  # fmt: skip
        with run.step("Write the report"):
            publish(run, list(inboxes))
    keep_artifacts(run.path)
    return run.path
