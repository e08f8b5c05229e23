"""Explanations of preferences and the findings they decide: settings, and what a run writes of them."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, TypeAdapter

from models.records.base import Record
from models.records.duel_results import (
    EXPLAINED,
    EXPLAINED_DUELS,
    EXPLANATIONS,
    FINDINGS,
    ExplanationSummary,
    KernelModel,
)
from models.records.errors import UsageError
from models.shap.explanation import PreferenceExplanation, ShapSettings
from models.shap.findings import Finding, Verdict, judge
from models.shap.mean_embedding import Reference
from models.shap.summary import leading_player, summarise_all, summarise_players
from tasks.runs.results import write_json, write_parquet, write_records

VERDICTS = TypeAdapter(tuple[Verdict, ...])


class DuelsOf(Record):
    """A kind of duels to explain: the held-out duels that meet every condition given."""

    name: str = Field(description="name that findings refer to")
    title: str = Field(description="heading shown in the report")
    by_contexts: bool = Field(default=False, description="explain by features of the contexts instead of the items")
    between: tuple[str, str, str] | None = Field(
        default=None, description="a categorical feature and two of its levels; keeps duels between the two levels"
    )
    within: tuple[str, tuple[str, ...]] | None = Field(
        default=None, description="a multi_hot feature and some of its levels; keeps duels of items with no other level"
    )
    where: tuple[str, str] | None = Field(
        default=None, description="a feature of the contexts and a level; keeps duels in such contexts"
    )
    apart: tuple[str, ...] = Field(
        default=(),
        description="columns, such as types=Fire, that are one player each; all other columns form one more player",
    )
    together: tuple[str, tuple[str, ...]] | None = Field(
        default=None, description="name of a player, and the features that it combines"
    )
    lost_by: str | None = Field(
        default=None, description="name of an item; keeps all duels it lost, whether held out or not"
    )


class ExplainConfig(Record):
    """How a study explains its models."""

    kinds: tuple[DuelsOf, ...] = Field(default=(), description="kinds of duels to explain, each separately")
    findings: tuple[Finding, ...] = Field(default=(), description="published findings to judge by the explanations")
    duels: int = Field(
        default=1_000, ge=2, description="largest number of duels to explain of each kind, drawn at random"
    )
    reference: Reference = Field(
        default="observational",
        description="distribution of the features outside a coalition: conditional on those inside (observational), or "
        "marginal (interventional)",
    )
    regularisation: float = Field(default=1e-3, gt=0, description="lambda of the observational reference")
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


@dataclass(frozen=True, eq=False)
class Explained:
    """Explanations of the duels of one kind by one model, from the winner's side.

    name, title: those of the kind. of: whether features of the items or of the contexts explain.
    """

    name: str
    title: str
    model: KernelModel
    explanation: PreferenceExplanation
    of: Literal["items", "contexts"] = "items"

    def summary(self) -> ExplanationSummary:
        """Its players by importance."""
        players = summarise_players(self.explanation)
        return ExplanationSummary(
            kind=self.name,
            title=self.title,
            model=self.model,
            of=self.of,
            duels=len(self.explanation.values),
            players=players,
            leading=leading_player(players),
        )


def write_explanations(explained: Sequence[Explained], results: Path) -> None:
    """Write `explanations.parquet`, `explained_duels.parquet` and `explained.json`.

    The first has a row for each duel and player, the second a row for each duel.
    """
    write_parquet(results / f"{EXPLANATIONS}.parquet", pa.concat_tables([_values(one) for one in explained]))
    write_parquet(results / f"{EXPLAINED_DUELS}.parquet", pa.concat_tables([_duels(one) for one in explained]))
    summary = summarise_all([one.summary() for one in explained], [one.explanation for one in explained])
    write_json(results / f"{EXPLAINED}.json", summary.model_dump(mode="json"))


def write_verdicts(findings: Sequence[Finding], explained: Sequence[Explained], results: Path, *, seed: int) -> None:
    """Judge each finding by the explanations it names, and write `findings.json`.

    Raises UsageError if a finding refers to an explanation that does not exist.
    """
    by_name = {(one.name, one.model): one.explanation for one in explained}
    check_findings(findings, by_name)
    verdicts = [judge(finding, by_name[finding.explained, finding.model], seed=seed) for finding in findings]
    write_records(results / f"{FINDINGS}.json", VERDICTS, verdicts)


def check_findings(findings: Sequence[Finding], explained: Container[tuple[str, KernelModel]]) -> None:
    """Raise UsageError if a finding refers to a kind of duels and a model that are not explained."""
    for finding in findings:
        if (finding.explained, finding.model) not in explained:
            raise UsageError(
                f"explaining.findings, {finding.name}: nothing explains {finding.explained} by {finding.model}. "
                f"Leave the finding out, or add {finding.explained} to explaining.kinds."
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
