"""Comparisons of the protocols tried in a run: the nearest to the published ones, and the effect of each choice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from models.records.published import Published
from models.records.studies.respondent_results import (
    ACCURACY,
    EFFECT_MEASURES,
    LEAVES,
    NEAREST_PROTOCOLS,
    PROTOCOL_EFFECTS,
    STRADDLERS,
    TEST,
    TEST_ACCURACY,
    TRAIN,
    TRAIN_ACCURACY,
    NearestProtocol,
    NearestProtocols,
    ProtocolEffect,
    ProtocolEffects,
)
from models.scores.protocols import effects, nearest_of_each
from tasks.respondents.protocols import Protocol
from tasks.runs.results import write_json

PAPERS_CHOICES = Protocol().choices


def nearest_protocols(protocols: pd.DataFrame, published: Sequence[Published]) -> NearestProtocols:
    """The protocol of each variant that is nearest to the published accuracies; nothing if none were published.

    protocols: a row for each protocol, as in `protocols.parquet`.
    """
    known = {each.split: each for each in published if each.metric == ACCURACY}
    if not {TRAIN, TEST} <= known.keys():
        return NearestProtocols()
    choices = [{name: row[name] for name in PAPERS_CHOICES} for row in protocols.to_dict("records")]
    found = nearest_of_each(
        [Protocol(**each).variant for each in choices],
        protocols[TRAIN_ACCURACY].to_numpy(float),
        protocols[TEST_ACCURACY].to_numpy(float),
        published=(known[TRAIN].value, known[TEST].value),
    )
    return NearestProtocols(
        train=known[TRAIN].value,
        test=known[TEST].value,
        source=known[TRAIN].source,
        nearest=tuple(
            NearestProtocol(
                variant=variant,
                choices=choices[near.row],
                **{name: float(protocols[name].iloc[near.row]) for name in (TRAIN_ACCURACY, TEST_ACCURACY, LEAVES)},
                among=near.among,
                distance=near.distance,
            )
            for variant, near in found.items()
        ),
        reproducing=tuple(variant for variant, near in found.items() if near.reproduces),
        others_tried=any(near.among > 1 for near in found.values()),
    )


def protocol_effects(protocols: pd.DataFrame) -> ProtocolEffects:
    """The mean change of the measures for each choice tried, compared with the paper's choice."""
    found = effects(
        {name: protocols[name].tolist() for name in PAPERS_CHOICES},
        PAPERS_CHOICES,
        {name: protocols[name].to_numpy(float) for name in EFFECT_MEASURES},
    )
    others = [at for at, effect in enumerate(found) if effect.choice != STRADDLERS]
    return ProtocolEffects(
        effects=tuple(ProtocolEffect(reference=PAPERS_CHOICES[effect.choice], **effect._asdict()) for effect in found),
        best_other=max(others, key=lambda at: found[at].change[TEST_ACCURACY], default=None),
    )


def compare_protocols(results: Path, protocols: pd.DataFrame, published: Sequence[Published]) -> None:
    """Write `nearest_protocols.json` and `protocol_effects.json`."""
    write_json(results / f"{NEAREST_PROTOCOLS}.json", nearest_protocols(protocols, published).model_dump(mode="json"))
    write_json(results / f"{PROTOCOL_EFFECTS}.json", protocol_effects(protocols).model_dump(mode="json"))
