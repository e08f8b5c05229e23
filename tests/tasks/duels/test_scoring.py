"""Scoring of duels: the models' input, the splits, the choice of settings, and the metrics."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.parquet import read_table, write_table
from models.kernels.selection import Chosen, Tuning, choose, fit, preference, probability
from models.records.duel_results import PROTOCOLS
from models.records.errors import UsageError
from models.scores.duel_splits import hold_out, in_folds
from tasks.claims.duel_claims import published_auc
from tasks.duels.rankability import write_rankability
from tasks.duels.read_duels import read_duels
from tasks.duels.scoring import DuelTrial, score_models, write_scores
from tasks.runs.results import METRICS

PLAIN_MODELS = ("coin", "difference_logit", "by_name", "boosting")
QUICK = Tuning(
    rank=None,
    steps=3,
    inner_folds=3,
    lengthscales=(2.0,),
    penalties=(1e-3, 1e-2),
    depths=(2, 3),
)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small simulated tables of the studies of duels."""
    folder = tmp_path_factory.mktemp("duels")
    for name, users in (("chameleon", 14), ("tennis", 24), ("synthetic", 40)):
        source = adapter(name)
        simulate(source, folder / "raw" / name, seed=3, users=users)
        for table in build(source, locate(source, folder / "raw" / name)):
            write_table(table, folder)
    return folder


def test_features_of_a_side_go_with_the_one_who_stood_there(tables: Path):
    table = read_table(tables / "chameleon").comparisons.to_pandas()
    duels = read_duels(tables / "chameleon", sides=("prior_wins", "won_last"))
    assert [column.name for column in duels.columns[-2:]] == ["prior_wins", "won_last"]
    won = duels.items[duels.comparisons[:, 0], -2]
    lost = duels.items[duels.comparisons[:, 1], -2]
    left, right = table["left_prior_wins"].to_numpy(), table["right_prior_wins"].to_numpy()
    assert np.array_equal(won, np.where(table["left_wins"], left, right))
    assert np.array_equal(lost, np.where(table["left_wins"], right, left))


def test_features_left_out_are_not_there(tables: Path):
    names = [column.name for column in read_duels(tables / "synthetic", leave_out=("cluster",)).columns]
    assert names == ["within", "between_ab", "between_ac", "between_bc"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_split_takes_every_duel_as_often_as_the_protocol_says(tables: Path, protocol):
    duels = read_duels(tables / "tennis")
    times = {"split_first": 1, "mirrored_first": 2}[protocol]
    split = hold_out(duels, protocol, validation_share=0.1, test_share=0.2, seed=5)
    together = np.concatenate([split.train, split.validation, split.test])
    assert np.array_equal(np.bincount(together), np.full(len(duels.keys), times))
    assert len(split.test) == round(0.2 * times * len(duels.keys))
    leaked = np.isin(split.test, split.train).mean()
    assert leaked == 0 if protocol == "split_first" else leaked > 0.6


def test_a_mirror_image_has_its_sides_changed(tables: Path):
    duels = read_duels(tables / "tennis")
    folds = in_folds(duels, "mirrored_first", 4, seed=1)
    rows = np.concatenate([split.test for split in folds])
    left = np.concatenate([split.left_wins for split in folds])
    assert np.array_equal(np.bincount(rows, weights=left), np.ones(len(duels.keys)))


def test_who_is_held_out_does_not_depend_on_the_order_of_rows(tables: Path):
    duels = read_duels(tables / "synthetic")
    order = np.random.default_rng(0).permutation(len(duels.keys))
    shuffled = type(duels)(**{**vars(duels), "keys": duels.keys[order]})
    one, other = (
        hold_out(each, "split_first", validation_share=0.1, test_share=0.1, seed=2) for each in (duels, shuffled)
    )
    assert set(duels.keys[one.test]) == set(shuffled.keys[other.test])


def test_folds_test_every_duel_once_and_never_train_on_it(tables: Path):
    duels = read_duels(tables / "chameleon")
    folds = in_folds(duels, "split_first", 5, seed=0)
    assert np.array_equal(np.sort(np.concatenate([split.test for split in folds])), np.arange(len(duels.keys)))
    assert not any(np.isin(split.test, split.train).any() or len(split.validation) for split in folds)


@pytest.mark.parametrize("kind", ["gpm", "gpm_u", "c_gpm", "c_gpm_u", "upm", "preference_tree"])
def test_a_choice_is_the_model_it_names_and_predicts(tables: Path, kind):
    duels = read_duels(tables / "tennis")
    split = hold_out(duels, "split_first", validation_share=0.2, test_share=0.2, seed=0)
    chosen = choose(kind, duels, split, QUICK, seed=0)
    assert Chosen(**chosen.model_dump(mode="json")) == chosen
    model = fit(chosen.unfitted(duels), duels, split.train)
    scores, chances = preference(model, duels, split.test), probability(model, duels, split.test)
    assert np.array_equal(scores > 0, chances > 0.5)
    assert (scores > 0).mean() > 0.5


def test_what_is_chosen_in_inner_folds_is_one_of_those_tried(tables: Path):
    duels = read_duels(tables / "chameleon")
    [split, *_] = in_folds(duels, "split_first", 4, seed=0)
    assert choose("gpm", duels, split, QUICK, seed=0).penalty in QUICK.penalties
    assert choose("gpm", duels, split, QUICK, seed=0).utility == 0
    assert choose("gpm_u", duels, split, QUICK, seed=0).utility > 0
    assert choose("preference_tree", duels, split, QUICK, seed=0).max_depth in QUICK.depths


def test_scores_are_written_and_the_published_figure_stands_beside_what_it_measures(tables: Path, tmp_path: Path):
    trial = DuelTrial(table=tables / "synthetic", models=("gpm", "upm"), mirrored=("gpm",), tuning=QUICK, seed=0)
    runs = [score_models(trial, run, protocol) for protocol in PROTOCOLS for run in range(2)]
    duels = trial.duels()
    write_scores("synthetic", runs, duels.names[duels.comparisons], published_auc({"gpm": 0.98}), tmp_path)
    rows = METRICS.validate_json((tmp_path / "metrics.json").read_bytes())
    found = pd.read_parquet(tmp_path / "runs.parquet")
    assert len(found) == 2 * (2 + len(PLAIN_MODELS)) + 2 * 1
    [beside] = [row for row in rows if row.published is not None]
    assert (beside.variant, beside.metric, beside.model) == ("mirrored_first", "balanced_accuracy", "gpm")
    of_gpm = found[(found["variant"] == "split_first") & (found["model"] == "gpm")]["auc"]
    [auc] = [row for row in rows if (row.variant, row.model, row.metric) == ("split_first", "gpm", "auc")]
    assert (auc.value, auc.sd, auc.n) == pytest.approx((of_gpm.mean(), of_gpm.std(), 2))
    assert auc.value > 0.9
    chosen = json.loads((tmp_path / "chosen_models.json").read_text())
    assert [each["model"] for each in chosen] == ["gpm", "upm"] * 2 + ["gpm"] * 2

    write_rankability.fn("synthetic", tables / "synthetic", 0.09, tmp_path, resamples=5, seed=0, by_context=False)
    added = METRICS.validate_json((tmp_path / "metrics.json").read_bytes())[len(rows) :]
    assert [row.metric for row in added] == ["spec_r", "cyclic_share"]
    assert added[0].published == 0.09
    assert 0 < added[1].value < 0.3


def test_the_same_seed_scores_the_same(tables: Path):
    trial = DuelTrial(table=tables / "chameleon", models=("gpm", "preference_tree"), tuning=QUICK, seed=4, folds=3)
    once, again = (score_models(trial, 1, "split_first") for _ in range(2))
    assert once[:3] == again[:3]
    for model, splits in once.tested.items():
        for one, other in zip(splits, again.tested[model], strict=True):
            assert np.array_equal(one.rows, other.rows)
            assert np.array_equal(one.preference, other.preference)


def test_a_test_share_of_no_duel_and_more_folds_than_duels_are_refused_with_how_many_there_are(tables: Path):
    duels = read_duels(tables / "chameleon")
    n = len(duels.keys)
    with pytest.raises(UsageError, match=f"test_share = 0.001 holds out none of {n} duels"):
        hold_out(duels, "split_first", validation_share=0.1, test_share=0.001, seed=0)
    with pytest.raises(UsageError, match=f"folds = {n + 1} exceeds the number of duels. Set {n} at most"):
        in_folds(duels, "mirrored_first", n + 1, seed=0)


@pytest.mark.parametrize("settings", [{"lengthscales": ()}, {"lengthscales": (-1.0,)}, {"penalties": (0.0,)},
                                      {"penalties": ()}, {"depths": ()}, {"depths": (0,)}])  # fmt: skip
def test_nothing_to_try_and_what_cannot_be_tried_are_refused(settings):
    with pytest.raises(ValidationError, match=next(iter(settings))):
        Tuning(**settings)


def test_plain_models_are_scored_on_the_splits_of_ours_and_none_by_name_on_items_never_seen(tables: Path):
    trial = DuelTrial(table=tables / "tennis", models=("upm",), mirrored=("upm",), tuning=QUICK, seed=0)
    by_variant = {variant: score_models(trial, 0, variant) for variant in (*PROTOCOLS, "unseen_items")}
    models = {variant: [row["model"] for row in found.rows] for variant, found in by_variant.items()}
    assert models == {
        "split_first": ["upm", "coin", "difference_logit", "by_name", "by_name_and_context", "boosting"],
        "mirrored_first": ["upm"],
        "unseen_items": ["upm", "coin", "difference_logit", "boosting"],
    }
    for found in by_variant.values():
        assert len({row["duels"] for row in found.rows}) == 1
    coin = by_variant["split_first"].rows[1]
    assert (coin["auc"], coin["accuracy"], coin["log_loss"]) == (0.5, 0.5, pytest.approx(np.log(2)))


def test_no_item_that_is_tested_was_trained_or_chosen_on(tables: Path):
    for name, folds, sides in (("tennis", None, ()), ("chameleon", 4, ("prior_wins",))):
        trial = DuelTrial(table=tables / name, models=("upm",), tuning=QUICK, seed=0, folds=folds, sides=sides)
        duels = trial.duels()
        who = duels.names[duels.comparisons]
        parts = trial.parts(duels, "unseen_items", 0)
        assert parts
        for part in parts:
            held_out = set(who[part.split.test].ravel().tolist())
            assert not held_out & set(who[part.split.train].ravel().tolist())
            for fitted, tried in part.choosing:
                assert not set(who[fitted].ravel().tolist()) & set(who[tried].ravel().tolist())
                assert {*fitted.tolist(), *tried.tolist()} <= set(part.split.train.tolist())
