"""Explanations of preferences as results: what a run writes of them, and of the findings that they decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from pydantic import TypeAdapter

from models.records.duel_results import (
    EXPLAINED,
    EXPLAINED_DUELS,
    EXPLANATIONS,
    FINDINGS,
    ExplanationSummary,
    KernelModel,
)
from models.shap.explanation import REST, PreferenceExplanation
from models.shap.findings import Finding, Verdict, judge
from models.shap.refits import Refitted
from models.shap.summary import leading_player, summarise_all, summarise_players
from tasks.duels.explanation_settings import check_findings
from tasks.runs.results import write_json, write_parquet, write_records

VERDICTS = TypeAdapter(tuple[Verdict, ...])


@dataclass(frozen=True, eq=False)
class Explained:
    """Explanations of the duels of one kind by one model, from the winner's side.

    name, title: of the kind. of: whose features explain the duels, those of the items or of the contexts.
    matches, items: the same by models fitted to redrawn outcomes, and to resampled items.
    """

    name: str
    title: str
    model: KernelModel
    explanation: PreferenceExplanation
    of: Literal["items", "contexts"] = "items"
    matches: Refitted | None = None
    items: Refitted | None = None

    def summary(self) -> ExplanationSummary:
        """The summary of these explanations, players by importance."""
        players = summarise_players(self.explanation)
        return ExplanationSummary(
            kind=self.name,
            title=self.title,
            model=self.model,
            of=self.of,
            duels=len(self.explanation.values),
            players=players,
            leading=leading_player(players),
            leads=self._leads(leading_player(players)),
        )

    def _leads(self, leading: str) -> bool | None:
        """Whether a player is shown to be more important than every other one; None without refits or others."""
        others = tuple(name for name in self.explanation.players if name not in {leading, REST})
        if self.matches is None or not others:
            return None
        more = Finding(
            name="leads", source="this run", claim="It matters most.", explained=self.name, model=self.model,
            statistic="importance_ratio", players=(leading,), rivals=others, threshold=1,
        )  # fmt: skip
        return judge(more, self.explanation, matches=self.matches).outcome == "holds"


def write_explanations(explained: Sequence[Explained], results: Path) -> None:
    """Write `explanations.parquet`, `explained_duels.parquet` and `explained.json`.

    The first has a row for each duel and player, the second a row for each duel.
    """
    write_parquet(results / f"{EXPLANATIONS}.parquet", pa.concat_tables([_values(one) for one in explained]))
    write_parquet(results / f"{EXPLAINED_DUELS}.parquet", pa.concat_tables([_duels(one) for one in explained]))
    summary = summarise_all([one.summary() for one in explained], [one.explanation for one in explained])
    write_json(results / f"{EXPLAINED}.json", summary.model_dump(mode="json"))


def write_verdicts(findings: Sequence[Finding], explained: Sequence[Explained], results: Path, *, n_items: int) -> None:
    """Judge each finding by the explanations it names, among n_items items, and write `findings.json`.

    Raises UsageError if a finding refers to an explanation that does not exist.
    """
    by_name = {(one.name, one.model): one for one in explained}
    check_findings(findings, by_name)
    verdicts = []
    for finding in findings:
        one = by_name[finding.explained, finding.model]
        verdicts.append(judge(finding, one.explanation, matches=one.matches, items=one.items, n_items=n_items))
    write_records(results / f"{FINDINGS}.json", VERDICTS, verdicts)


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
