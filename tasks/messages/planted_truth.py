"""How well features were read out of simulated messages, of which the truth is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from data_adapters.source.planted import Hidden
from data_adapters.source.simulation import simulated_record
from models.records.feature_spec import FeatureSpec
from models.records.features import FeatureKind

WORDINGS = ("all", "plain", "paraphrased")


def extraction_accuracy(
    raw: Path, ids: Sequence[str], specs: Sequence[FeatureSpec], values: Mapping[str, Sequence[Any]]
) -> pa.Table | None:
    """How often each feature whose truth was planted was read exactly, in messages told plainly and paraphrased.

    raw: the folder of raw files; values: by feature, in the order of `ids`. None where the data is not simulated, or
    the truth of no feature was planted.
    """
    record = simulated_record(raw)
    if record is None:
        return None
    hidden = [record.preference.hidden[each] for each in ids]
    rows = []
    for spec in specs:
        truths = [_truth(spec, each) for each in hidden]
        if all(truth is None for truth in truths):
            continue
        for wording in WORDINGS:
            right = [
                value == truth
                for value, truth, each in zip(values[spec.name], truths, hidden, strict=True)
                if wording == "all" or bool(each["paraphrased"]) == (wording == "paraphrased")
            ]
            if right:
                share = sum(right) / len(right)
                rows.append({"feature": spec.name, "wording": wording, "accuracy": share, "n": len(right)})
    return pa.Table.from_pylist(rows, _SCHEMA) if rows else None


_SCHEMA = pa.schema({"feature": pa.string(), "wording": pa.string(), "accuracy": pa.float64(), "n": pa.int64()}.items())


def _truth(spec: FeatureSpec, hidden: Hidden) -> Any:
    """What was planted of a feature: how much has to be done, and which red flag; None of any other."""
    if spec.name == "message_actionability" and spec.kind is FeatureKind.ORDINAL:
        return spec.values[int(hidden["actionability"])]
    if spec.name == "red_flag_syndrome":
        return [label for label in spec.values if hidden["red_flag"] and label == hidden["complaint"]]
    return None
