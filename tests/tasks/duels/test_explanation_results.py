"""Explanations and verdicts in the results of a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from data_adapters.catalogue import adapter
from models.records.errors import UsageError
from models.shap.explanation import PreferenceExplanation
from models.shap.findings import Finding
from models.shap.refits import Refitted
from tasks.duels.explanation_results import VERDICTS, Explained, write_explanations, write_verdicts
from tasks.duels.explanation_settings import ExplainConfig
from tasks.duels.published_findings import CHAMELEON, POKEMON, SYNTHETIC, TENNIS

FINDING = Finding(
    name="speed_first", source="a paper", claim="Speed matters most.", explained="battles",
    statistic="importance_ratio", players=("speed",), threshold=1.0,
)  # fmt: skip


def explained(model: str = "gpm", *, sampled: bool = False, seed: int = 0) -> Explained:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(30, 2)) * [3.0, 1.0]
    data = np.where([True, False], values, np.nan)
    error = np.full(values.shape, 0.1) if sampled else None
    full = values.sum(axis=1)
    explanation = PreferenceExplanation(
        players=("speed", "types"), values=values, standard_error=error, empty=np.zeros(30), full=full,
        score=full - 0.25, data=data, coalitions=4,
    )  # fmt: skip
    return Explained("battles", "All battles", model, explanation)


def test_what_a_run_keeps_is_the_explanation_whole(tmp_path):
    one = explained()
    write_explanations([one, explained("upm", sampled=True)], tmp_path)
    values = pq.read_table(tmp_path / "explanations.parquet").to_pandas()
    gpm, upm = values[values["model"] == "gpm"], values[values["model"] == "upm"]
    np.testing.assert_allclose(gpm["value"].to_numpy().reshape(30, 2), one.explanation.values, rtol=1e-11)
    assert gpm["standard_error"].isna().all()
    assert (upm["standard_error"] == 0.1).all()
    assert gpm.loc[gpm["player"] == "types", "difference"].isna().all()
    duels = pq.read_table(tmp_path / "explained_duels.parquet").to_pandas()
    sums = gpm.groupby("duel")["value"].sum()
    np.testing.assert_allclose(duels.loc[duels["model"] == "gpm", "explained"], sums)
    np.testing.assert_allclose(duels["gap"], 0.25)


def test_findings_are_judged_by_the_explanations_they_name(tmp_path):
    one = explained()
    matches = Refitted((one.explanation, explained(seed=1).explanation), np.ones((2, 30)))
    write_verdicts([FINDING], [replace(one, matches=matches)], tmp_path, n_items=12)
    [verdict] = VERDICTS.validate_json((tmp_path / "findings.json").read_bytes())
    assert verdict.finding == FINDING
    assert verdict.matches is not None
    assert verdict.items is None, "two refits and twelve items say nothing of other items"
    assert (verdict.refits, verdict.n_items) == (2, 12)


def test_a_finding_that_nothing_explains_is_refused(tmp_path):
    with pytest.raises(UsageError, match="findings, speed_first: nothing explains battles by upm"):
        write_verdicts([FINDING.model_copy(update={"model": "upm"})], [explained()], tmp_path, n_items=12)


def test_the_config_becomes_the_models_settings_and_refuses_what_cannot_be():
    config = ExplainConfig(reference="interventional", budget=1e9)
    assert config.settings(seed=3).smoothing is None
    assert config.settings(seed=3).budget == 1e9
    with pytest.raises(ValidationError, match="regularisation"):
        ExplainConfig(regularisation=0)


def test_what_is_about_one_players_losses_can_be_left_out():
    left = TENNIS.without_losses()
    assert {kind.name for kind in left.kinds} == {"all", "environment"}
    assert {finding.source for finding in left.findings} == {"pref-shap, Figure 7"}
    assert POKEMON.without_losses() == POKEMON


@pytest.mark.parametrize("config", [SYNTHETIC, POKEMON, CHAMELEON, TENNIS])
def test_published_findings_are_about_kinds_of_duels_that_are_explained(config):
    assert {finding.explained for finding in config.findings} <= {kind.name for kind in config.kinds}
    names = [finding.name for finding in config.findings]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("name", "config"), [("synthetic", SYNTHETIC), ("pokemon", POKEMON), ("chameleon", CHAMELEON), ("tennis", TENNIS)]
)
def test_published_findings_are_about_features_of_their_data(name, config):
    dataset = adapter(name).dataset
    features = {feature.name for feature in (*dataset.items, *(dataset.contexts or ()))}
    levels = {f"{feature.name}={level}" for feature in dataset.items for level in feature.levels or ()}
    named = {player for finding in config.findings for player in (*finding.players, *finding.rivals)}
    assert named <= features | levels
