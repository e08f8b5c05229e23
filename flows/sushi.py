"""The sushi study: a preference tree for each of 5,000 people, from the ten kinds of sushi that each of them ranked."""

from __future__ import annotations

from pathlib import Path

from prefect import flow, unmapped
from pydantic import Field

from tasks.active_learning import ASKING, Asked, ask_users, portions, write_courses
from tasks.asking import CHOICES, WAYS, Way
from tasks.protocols import Protocol, protocol_grid
from tasks.publish import keep_artifacts, publish
from tasks.run_folder import run_folder
from tasks.scoring import (
    TRYING,
    Published,
    Trial,
    batches,
    draw_example,
    score_variants,
    try_protocols,
    write_protocols,
)
from tasks.table import build_table
from tasks.tree_study import TreeConfig
from tasks.workers import one_thread_a_core

PUBLISHED = Published(accuracy={"train": 0.998, "test": 0.888}, source="dt-pbo, Table 1")
FOUND = {"tree_top_leaf": 0.7, "gp_qeubo": 0.7}
"""Share of users whose favourite is found within 9 questions: "about 70%" (dt-pbo, section 4.2)."""


class SushiConfig(TreeConfig):
    """The study's settings; the defaults are the paper's."""

    protocols: bool = Field(default=True, description="try every combination of the choices the paper leaves open")

    active_learning: bool = Field(default=True, description="ask every user questions, and see what is found")
    questions: int = Field(default=20, ge=9, description="how many questions each user is asked")
    gp_users: int = Field(default=500, ge=2, description="how many users are asked with a Gaussian process")

    @property
    def ways(self) -> dict[str, Way]:
        """The ways of asking: the paper's curves, and the choices it leaves open."""
        return {**WAYS, **CHOICES} if self.active_learning else {}

    @property
    def tried(self) -> tuple[Protocol, ...]:
        """The variants, and the protocols whose accuracy is compared with the published one."""
        return tuple(dict.fromkeys([*self.variants.values(), *(protocol_grid() if self.protocols else ())]))


PAPER = SushiConfig()
DEMO = SushiConfig(simulated=True, users=600, gp_users=50)


@flow(name="sushi", task_runner=one_thread_a_core())
def sushi_study(config: SushiConfig = PAPER) -> Path:
    """Learn each user's taste from four fifths of her 45 pairs, and predict the others (dt-pbo, Table 1)."""
    with run_folder("sushi", config) as run:
        with run.step("Build the table"):
            table = build_table("sushi", config, run.work, users=config.users)
        trial = Trial(table=table.folder, users=config.users, test_share=config.test_share, seed=config.seed)
        with run.step("Fit two trees to each user"):
            score_variants("sushi", trial, config.variants, [PUBLISHED], run.results)
            draw_example(trial, config.variants, config.example_user, run.results)
        with run.step(TRYING, total=len(config.tried)):
            rows = try_protocols.map(batches(config.tried), unmapped(trial))
            write_protocols(rows.result(), run.results)
        asked = Asked(table=table.folder, users=config.users, questions=config.questions, seed=config.seed)
        work = portions(config.ways, asked, known=table.manifest.rows["users"], gp_users=config.gp_users)
        with run.step(ASKING, total=len(work)):
            found = ask_users.map(work, unmapped(asked), unmapped(run.work)).result()
            write_courses("sushi", work, found, run.results, published=FOUND, source="dt-pbo, section 4.2")
        with run.step("Write the report"):
            publish(run, [table])
    keep_artifacts(run.path)
    return run.path
