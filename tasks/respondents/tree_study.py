"""The settings of studies that fit a preference tree to each user, and the steps of a study of choices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from data_adapters import catalogue
from data_adapters.choice.mapping_file import read_mapping
from data_adapters.source.adapter import Adapter
from models.records.published import Published
from models.trees.growth.options import LEAST_RATIO
from models.trees.growth.splits import TieBreak
from tasks.respondents.choice_summary import write_choice_summary
from tasks.respondents.gp_accuracy import score_gps
from tasks.respondents.leaving_out import LEAVING_OUT, leave_features_out
from tasks.respondents.many_trees import describe_trees
from tasks.respondents.protocols import Encoding, Protocol, Split
from tasks.respondents.scoring import PLAIN, Pooled, Trial, draw_example, score_plain, score_variants
from tasks.runs.publish import keep_artifacts, publish
from tasks.runs.run_folder import run_folder
from tasks.runs.study import Place, StudyConfig
from tasks.runs.table import build_table


class TreeConfig(StudyConfig):
    """The settings of studies of one tree for each user; the defaults are the paper's."""

    users: int | None = Field(
        default=None,
        ge=2,
        description="number of users: the first of the table, or so many simulated ones; all if not set",
    )
    test_share: float = Field(default=0.2, gt=0, lt=1, description="share of each user's pairs held out for testing")
    split: Split = Field(
        default="pair",
        description="what is held out for testing: single pairs (pair), or all pairs of some items (item)",
    )
    tie_break: TieBreak = Field(
        default="random",
        description="which of several splits of equal score is taken: the first feature and lowest threshold (lowest: "
        "what trees ask about then follows the order of the columns), the one with the widest gap (widest_gap), or a "
        "random one (random)",
    )
    encoding: Encoding = Field(
        default="categorical_3",
        description="encoding of categorical features: categories, split where a node has at most three "
        "(categorical_3) or any number of them (categorical), code numbers (codes), or one column a level "
        "(one_hot)",
    )
    ratio: float = Field(
        default=0.25,
        ge=LEAST_RATIO,
        description="sigma_noise^2 / sigma_prior^2; a larger ratio pulls leaf values towards 0",
    )
    example_user: str | None = Field(
        default=None, description="id of the user whose trees are drawn; a typical user if not set"
    )

    @property
    def variants(self) -> dict[str, Protocol]:
        """The two trees of every user: straddlers discarded, as the paper says, and kept, as in its appendix C.2."""
        choices = {"split": self.split, "tie_break": self.tie_break, "encoding": self.encoding, "ratio": self.ratio}
        both = [Protocol(straddlers=straddlers, **choices) for straddlers in ("discard", "keep")]
        return {protocol.variant: protocol for protocol in both}

    @property
    def paper_protocol(self) -> Protocol:
        """The tree as the paper describes it: straddlers discarded."""
        return next(iter(self.variants.values()))


class ChoiceConfig(TreeConfig):
    """The settings of a study of a choice experiment."""

    mapping: Place | None = Field(
        default=None, description="mapping file (TOML) that describes the columns of the raw file"
    )
    pooled_encoding: Encoding = Field(
        default="categorical",
        description="encoding of categorical features for the tree fitted to all respondents together; with "
        "categorical_3 it cannot ask about an attribute of more than three levels",
    )
    pooled_depth: int | None = Field(
        default=None,
        ge=1,
        description="largest depth of the tree fitted to all respondents together (4 in dt-pbo, Figure 6); chosen by "
        "cross-validation of training choices if not set",
    )
    sensitive: tuple[str, ...] = Field(
        default=(), description="attributes for which the report says whether trees depend on them (dt-pbo, G.4)"
    )

    @property
    def pooled(self) -> Pooled:
        """The tree for all respondents: the paper's, with an encoding and a depth of its own."""
        protocol = self.paper_protocol.with_encoding(self.pooled_encoding)
        tuned = self.pooled_depth is None
        return Pooled(protocol=protocol.model_copy(update={"max_depth": self.pooled_depth}), tuned=tuned)

    def adapter(self, name: str) -> Adapter:
        """The adapter that reads raw files by the mapping."""
        return catalogue.adapter(name, mapping=self.mapping)

    def contents(self) -> dict[str, Any]:
        """The sha256 of the mapping."""
        return {} if self.mapping is None else {"mapping": read_mapping(self.mapping).sha256}


def study_choices(
    name: str, config: ChoiceConfig, published: Sequence[Published] = (), published_gp: Sequence[Published] = ()
) -> Path:
    """Fit a tree to each respondent's choices and one to those of all, and predict the choices held out.

    Returns the run's folder (dt-pbo, G.3 and G.4). An opt-out is not a comparison of two profiles.
    """
    with run_folder(name, config) as run:
        with run.step("Build the table"):
            table = build_table(name, config, run.work, users=config.users)
        trial = Trial(table=table.folder, users=config.users, test_share=config.test_share, seed=config.seed)
        with run.step("Fit trees to each respondent, and one to all"):
            score_variants(name, trial, config.variants, published, run.results, pooled=config.pooled)
            draw_example(trial, config.variants, config.example_user, run.results)
            describe_trees(trial, config.paper_protocol, run.results, config.sensitive)
        with run.step(LEAVING_OUT):
            leave_features_out(name, trial, config.paper_protocol, run.results)
        score_gps(name, run, trial, config.paper_protocol, published_gp, n_users=table.manifest.rows["users"])
        with run.step(PLAIN):
            score_plain(name, trial, config.paper_protocol, run.results, pooled=config.pooled)
        with run.step("Write the report"):
            comparable = not table.manifest.simulated
            write_choice_summary(run.results, trial, config.paper_protocol, comparable=comparable)
            publish(run, [table])
    keep_artifacts(run.path)
    return run.path
