"""Settings of explanations: which duels are explained, how, and which published findings are judged."""

from __future__ import annotations

from collections.abc import Container, Sequence

from pydantic import Field

from models.records.base import Record
from models.records.duel_results import KernelModel
from models.records.errors import UsageError
from models.shap.explanation import ShapSettings
from models.shap.findings import Finding
from models.shap.mean_embedding import Reference


class DuelKind(Record):
    """A kind of duels to explain: the held-out duels that meet every condition given."""

    name: str = Field(description="name that findings refer to")
    title: str = Field(description="heading shown in the report")
    by_contexts: bool = Field(default=False, description="explain by features of the contexts instead of the items")
    between: tuple[str, str, str] | None = Field(
        default=None,
        description="keeps duels between two levels of a categorical feature: the feature and the two levels",
    )
    within: tuple[str, tuple[str, ...]] | None = Field(
        default=None, description="keeps duels of items with no level but these: a multi_hot feature and the levels"
    )
    where: tuple[str, str] | None = Field(
        default=None, description="keeps duels in contexts of one level: a feature of the contexts and the level"
    )
    apart: tuple[str, ...] = Field(
        default=(),
        description="columns, such as types=Fire, that are one player each; all other columns form one more player",
    )
    together: tuple[str, tuple[str, ...]] | None = Field(
        default=None, description="features that count as one player: the name of the player and the features"
    )
    lost_by: str | None = Field(
        default=None, description="keeps all duels that one item lost, held out or not: the name of the item"
    )


class ExplainConfig(Record):
    """The settings of a study's explanations."""

    kinds: tuple[DuelKind, ...] = Field(default=(), description="kinds of duels to explain, each separately")
    findings: tuple[Finding, ...] = Field(default=(), description="published findings to judge by the explanations")
    duels: int = Field(
        default=1_000, ge=2, description="largest number of duels to explain of each kind, drawn at random"
    )
    refits: int = Field(
        default=20,
        ge=2,
        description="number of times that the models are fitted again, to redrawn outcomes and to resampled items "
        "each, for the intervals of findings; fewer refits cost less and widen the intervals",
    )
    reference: Reference = Field(
        default="observational",
        description="distribution of the features outside a coalition: conditional on those inside (observational), or "
        "marginal (interventional)",
    )
    regularisation: float = Field(
        default=1e-3, gt=0, description="lambda, the ridge penalty of the observational reference"
    )
    budget: float = Field(
        default=4e12,
        gt=0,
        description="largest number of coalitions times the cubed number of items; above it, coalitions are sampled",
    )

    def without_losses(self) -> ExplainConfig:
        """The settings without kinds and findings about one item's losses, for data that lacks the item."""
        gone = {kind.name for kind in self.kinds if kind.lost_by is not None}
        return self.model_copy(
            update={
                "kinds": tuple(kind for kind in self.kinds if kind.name not in gone),
                "findings": tuple(finding for finding in self.findings if finding.explained not in gone),
            }
        )

    def settings(self, seed: int) -> ShapSettings:
        """The settings as the models take them."""
        return ShapSettings(reference=self.reference, regularisation=self.regularisation, budget=self.budget, seed=seed)


def check_findings(findings: Sequence[Finding], explained: Container[tuple[str, KernelModel]]) -> None:
    """Raise UsageError if a finding refers to a kind of duels and a model that are not explained."""
    for finding in findings:
        if (finding.explained, finding.model) not in explained:
            raise UsageError(
                f"explaining.findings, {finding.name}: nothing explains {finding.explained} by {finding.model}. "
                f"Leave the finding out, or add {finding.explained} to explaining.kinds."
            )
