"""How often features were read right in simulated messages, where the truth is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from data_adapters.source.planted import Hidden
from data_adapters.source.simulation import simulated_record
from models.records.feature_spec import FeatureSpec
from models.records.features import FeatureKind
from models.records.studies.message_results import WORDINGS


def extraction_accuracy(
    raw: Path, ids: Sequence[str], specs: Sequence[FeatureSpec], values: Mapping[str, Sequence[Any]]
) -> pa.Table | None:
    """How often each planted feature was read exactly: in all messages, in plain and in paraphrased ones.

    raw: the folder of raw files; values: by feature, in the order of `ids`. Returns None if the data is not simulated,
    or none of the features was planted.
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
    """The planted value of a feature; None for a feature that was not planted."""
    if spec.name == "message_actionability" and spec.kind is FeatureKind.ORDINAL:
        return spec.values[int(hidden["actionability"])]
    if spec.name == "red_flag_syndrome":
        return [label for label in spec.values if hidden["red_flag"] and label == hidden["complaint"]]
    return None
