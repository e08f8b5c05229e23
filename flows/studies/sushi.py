"""The sushi study: a preference tree for each of 5,000 people, from the ten kinds of sushi that each of them ranked."""

from __future__ import annotations

from pathlib import Path

from prefect import flow
from pydantic import Field

from tasks.asking.active_learning import AskingPlan, ask_everybody
from tasks.asking.history import LEARNING, Cohorts, learn_from_history
from tasks.asking.ways_of_asking import CHOICES, WAYS, Way
from tasks.claims.studies.sushi import PUBLISHED, PUBLISHED_ASKING, PUBLISHED_GP, QUESTIONS
from tasks.respondents.gp_accuracy import score_gps
from tasks.respondents.leaving_out import LEAVING_OUT, leave_features_out
from tasks.respondents.many_trees import describe_trees
from tasks.respondents.protocols import Protocol, protocol_grid
from tasks.respondents.scoring import PLAIN, Trial, draw_example, score_plain, score_variants, try_all
from tasks.respondents.tree_study import TreeConfig
from tasks.runs.publish import keep_artifacts, publish
from tasks.runs.run_folder import run_folder
from tasks.runs.table import build_tables
from tasks.runs.workers import one_thread_a_core


class SushiConfig(TreeConfig):
    """The study's settings; the defaults are the paper's."""

    protocols: bool = Field(default=True, description="try every combination of the choices that the paper leaves open")
    active_learning: bool = Field(
        default=True, description="ask every user question after question, in each way of asking"
    )
    questions: int = Field(default=QUESTIONS, ge=9, description="questions per user")
    gp_users: int = Field(default=500, ge=2, description="number of users asked with a Gaussian process")
    history_users: int = Field(
        default=950,
        ge=4,
        description="number of users, in cohorts, for the comparison with and without earlier users' answers",
    )
    cohort: int = Field(
        default=50, ge=2, description="users per cohort; each cohort can start from the answers of those before"
    )

    @property
    def ways(self) -> dict[str, Way]:
        """The ways of asking: the paper's curves, and the choices it leaves open."""
        return {**WAYS, **CHOICES} if self.active_learning else {}

    @property
    def cohorts(self) -> Cohorts:
        """The plan of the users in cohorts."""
        return Cohorts(users=self.history_users, cohort=self.cohort, questions=self.questions, seed=self.seed)

    @property
    def tried(self) -> tuple[Protocol, ...]:
        """The variants, and the protocols whose accuracy is compared with the published one."""
        return tuple(dict.fromkeys([*self.variants.values(), *(protocol_grid() if self.protocols else ())]))


PAPER = SushiConfig()
DEMO = SushiConfig(simulated=True, users=100, gp_users=10, history_users=60)


@flow(name="sushi", task_runner=one_thread_a_core())
def sushi_study(config: SushiConfig = PAPER) -> Path:
    """Learn each user's taste from four fifths of her 45 pairs, and predict the others (dt-pbo, Table 1)."""
    with run_folder("sushi", config) as run:
        with run.step("Build the tables"):
            tables = build_tables("sushi", config, run.work, users=config.users)
        table, _ = tables
        n_users = table.manifest.rows["users"]
        trial = Trial(table=table.folder, users=config.users, test_share=config.test_share, seed=config.seed)
        with run.step("Fit two trees to each user"):
            score_variants("sushi", trial, config.variants, PUBLISHED, run.results)
            draw_example(trial, config.variants, config.example_user, run.results)
            describe_trees(trial, config.paper_protocol, run.results)
        with run.step(LEAVING_OUT):
            leave_features_out("sushi", trial, config.paper_protocol, run.results)
        score_gps("sushi", run, trial, config.paper_protocol, PUBLISHED_GP, n_users=n_users)
        with run.step(PLAIN):
            score_plain("sushi", trial, config.paper_protocol, run.results)
        try_all(run, trial, config.tried, () if table.manifest.simulated else PUBLISHED)
        asked = AskingPlan(table=table.folder, users=config.users, questions=config.questions, seed=config.seed)
        ask_everybody(
            "sushi", run, asked, config.ways, known=n_users, gp_users=config.gp_users, published=PUBLISHED_ASKING
        )
        with run.step(LEARNING, total=len(tables)):
            learn_from_history("sushi", [table.folder for table in tables], config.cohorts, run.results)
        with run.step("Write the report"):
            publish(run, tables)
    keep_artifacts(run.path)
    return run.path
