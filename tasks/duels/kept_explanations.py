"""Explanations of preferences as a run keeps them, and the findings they decide."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, TypeAdapter

from models.records.base import Record
from models.records.errors import UsageError
from models.shap.explanation import PreferenceExplanation, ShapSettings
from models.shap.findings import Finding, Verdict, judge
from models.shap.mean_embedding import Reference
from tasks.runs.results import write_parquet, write_records

VERDICTS = TypeAdapter(tuple[Verdict, ...])
KernelModel = Literal["gpm", "c_gpm", "upm"]


class DuelsOf(Record):
    """A kind of duels that is explained: those that meet every condition given."""

    name: str = Field(description="what findings call it")
    title: str = Field(description="what a reader does")
    by_contexts: bool = Field(default=False, description="explain by the features of the contexts, not of the items")
    between: tuple[str, str, str] | None = Field(
        default=None, description="a categorical feature and two of its levels: duels of one with the other"
    )
    within: tuple[str, tuple[str, ...]] | None = Field(
        default=None, description="a multi_hot feature and some of its levels: duels of items that have no other"
    )
    where: tuple[str, str] | None = Field(default=None, description="a feature of the contexts and its level")
    apart: tuple[str, ...] = Field(
        default=(), description="columns that are a player each, such as types=Fire, with all others as one more"
    )
    together: tuple[str, tuple[str, ...]] | None = Field(
        default=None, description="a name, and features that are one player under it"
    )
    lost_by: str | None = Field(default=None, description="duels that the item of this name lost, held out or not")


class ExplainConfig(Record):
    """How a study explains its models."""

    kinds: tuple[DuelsOf, ...] = Field(default=(), description="which duels are explained, each kind by itself")
    findings: tuple[Finding, ...] = Field(default=(), description="published findings, and what decides each")
    duels: int = Field(default=1_000, ge=2, description="explain at most so many duels of a kind, drawn at random")
    reference: Reference = Field(
        default="observational", description="what stands for features that are not known: what is observed with those "
        "that are (observational), or whatever there is (interventional)",
    )  # fmt: skip
    regularisation: float = Field(default=1e-3, gt=0, description="lambda of the observational reference")
    budget: float = Field(
        default=4e12, gt=0, description="work above which coalitions are sampled: coalitions times cubed items"
    )

    def without_losses(self) -> ExplainConfig:
        """Without what is about one item's losses, for data in which that item is not."""
        gone = {kind.name for kind in self.kinds if kind.lost_by is not None}
        return self.model_copy(
            update={
                "kinds": tuple(kind for kind in self.kinds if kind.name not in gone),
                "findings": tuple(finding for finding in self.findings if finding.explained not in gone),
            }
        )

    def settings(self, seed: int) -> ShapSettings:
        """As models take them."""
        return ShapSettings(reference=self.reference, regularisation=self.regularisation, budget=self.budget, seed=seed)


@dataclass(frozen=True, eq=False)
class Explained:
    """Explained duels of one kind, by one model, for their winners.

    name: what findings call the kind; title: what a reader does. of: whether items or their contexts explain them.
    """

    name: str
    title: str
    model: KernelModel
    explanation: PreferenceExplanation
    of: Literal["items", "contexts"] = "items"


def write_explanations(explained: Sequence[Explained], results: Path) -> None:
    """Write `explanations.parquet`, a row a duel and player, and `explained_duels.parquet`, a row a duel."""
    write_parquet(results / "explanations.parquet", pa.concat_tables([_values(one) for one in explained]))
    write_parquet(results / "explained_duels.parquet", pa.concat_tables([_duels(one) for one in explained]))


def write_verdicts(findings: Sequence[Finding], explained: Sequence[Explained], results: Path, *, seed: int) -> None:
    """Judge each finding by the explanations it names, and write `findings.json`.

    Raises UsageError for a finding about explanations that there are not.
    """
    by_name = {(one.name, one.model): one.explanation for one in explained}
    check_findings(findings, by_name)
    verdicts = [judge(finding, by_name[finding.explained, finding.model], seed=seed) for finding in findings]
    write_records(results / "findings.json", VERDICTS, verdicts)


def check_findings(findings: Sequence[Finding], explained: Container[tuple[str, KernelModel]]) -> None:
    """Make sure that each finding is about a kind of duels and a model that explain. Raises UsageError."""
    for finding in findings:
        if (finding.explained, finding.model) not in explained:
            raise UsageError(
                f"explaining.findings, {finding.name}: nothing explains {finding.explained} by {finding.model}. Leave "
                "the finding out, or add what it is about to explaining.kinds."
            )


def _values(one: Explained) -> pa.Table:
    values = one.explanation.values
    duels, players = values.shape
    error = one.explanation.standard_error
    return pa.table({
        **_labels(one, values.size),
        "duel": np.repeat(np.arange(duels), players),
        "player": pa.array(list(one.explanation.players) * duels, pa.string()),
        "value": values.ravel(),
        "standard_error": pa.nulls(values.size, pa.float64()) if error is None else pa.array(error.ravel()),
        "difference": pa.array(one.explanation.data.ravel(), from_pandas=True),
    })  # fmt: skip


def _duels(one: Explained) -> pa.Table:
    found = one.explanation
    return pa.table({
        **_labels(one, len(found.values)),
        "duel": np.arange(len(found.values)),
        "preference": found.score,
        "explained": found.full - found.empty,
        "gap": found.gap,
        "coalitions": np.full(len(found.values), found.coalitions),
    })  # fmt: skip


def _labels(one: Explained, rows: int) -> dict[str, pa.Array]:
    return {
        name: pa.array([text] * rows, pa.string())
        for name, text in (("kind", one.name), ("title", one.title), ("model", one.model), ("of", one.of))
    }
