"""Comparisons of the protocols tried in a run: the nearest to the published ones, and the effect of each choice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from models.records.published import Published
from models.records.studies.respondent_results import (
    EFFECT_MEASURES,
    NEAREST_PROTOCOLS,
    PROTOCOL_EFFECTS,
    NearestProtocol,
    NearestProtocols,
    ProtocolEffect,
    ProtocolEffects,
)
from models.scores.protocols import effects, nearest_of_each
from tasks.respondents.protocols import Protocol
from tasks.runs.results import write_json

PAPERS_CHOICES = Protocol().model_dump()


def nearest_protocols(protocols: pd.DataFrame, published: Sequence[Published]) -> NearestProtocols:
    """The protocol of each variant that is nearest to the published accuracies; nothing if none were published.

    protocols: a row for each protocol, as in `protocols.parquet`.
    """
    known = {each.split: each for each in published if each.metric == "accuracy"}
    if not {"train", "test"} <= known.keys():
        return NearestProtocols()
    choices = [{name: row[name] for name in PAPERS_CHOICES} for row in protocols.to_dict("records")]
    found = nearest_of_each(
        [Protocol(**each).variant for each in choices],
        protocols["train_accuracy"].to_numpy(float),
        protocols["test_accuracy"].to_numpy(float),
        published=(known["train"].value, known["test"].value),
    )
    return NearestProtocols(
        train=known["train"].value,
        test=known["test"].value,
        source=known["train"].source,
        nearest=tuple(
            NearestProtocol(
                variant=variant,
                choices=choices[near.row],
                **{
                    name: float(protocols[name].iloc[near.row])
                    for name in ("train_accuracy", "test_accuracy", "leaves")
                },
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
    others = [at for at, effect in enumerate(found) if effect.choice != "straddlers"]
    return ProtocolEffects(
        effects=tuple(ProtocolEffect(reference=PAPERS_CHOICES[effect.choice], **effect._asdict()) for effect in found),
        best_other=max(others, key=lambda at: found[at].change["test_accuracy"], default=None),
    )


def compare_protocols(results: Path, protocols: pd.DataFrame, published: Sequence[Published]) -> None:
    """Write `nearest_protocols.json` and `protocol_effects.json`."""
    write_json(results / f"{NEAREST_PROTOCOLS}.json", nearest_protocols(protocols, published).model_dump(mode="json"))
    write_json(results / f"{PROTOCOL_EFFECTS}.json", protocol_effects(protocols).model_dump(mode="json"))
