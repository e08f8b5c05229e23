"""Results are rounded in one place, and agree between processors as far as the README promises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from threadpoolctl import threadpool_info

from models.records.results import MetricRow
from tasks.runs.results import METRICS, add_metrics, write_json, write_metrics, write_parquet

LAST_DIGITS_OFF = 0.1 + 0.2
KERNELS = ("Haswell", "Prescott")
DIGITS = 9

# One small study of duels without Prefect: fit, score on held-out pairs, explain, write.
DUELS = """
import sys
from pathlib import Path
import numpy as np
import pyarrow as pa
from models.kernels.gpm import GPM
from models.shap.explanation import ShapSettings
from models.shap.pref_shap import PrefShap
from tasks.runs.results import write_json, write_parquet

folder = Path(sys.argv[1])
rng = np.random.default_rng(0)
items = rng.normal(size=(60, 4))
pairs = np.array([(l, r) for l, r in rng.integers(60, size=(600, 2)) if l != r])
better = items[:, 0] + np.sin(2 * items[:, 1])
pairs = np.where((better[pairs[:, 0]] > better[pairs[:, 1]])[:, None], pairs, pairs[:, ::-1])
model = GPM().fit(items, pairs[:400])
found = PrefShap(model, items).duels(items, pairs[400:420])
write_parquet(folder / "scores.parquet", pa.table({"decision": model.decision_function(items, pairs[400:])}))
write_parquet(folder / "values.parquet", pa.table({name: found.values[:, at] for at, name in enumerate(found.players)}))
write_json(folder / "mean.json", {"mean": float(np.mean(found.values))})
"""


def row(value: float) -> MetricRow:
    return MetricRow(study="sushi", model="upm", variant="plain", metric="auc", split="test", value=value)


def test_metrics_are_rounded_to_twelve_digits_also_when_rows_are_added(tmp_path: Path) -> None:
    path = tmp_path / "metrics.json"
    write_metrics(path, [row(LAST_DIGITS_OFF)])
    add_metrics(path, [row(2 / 3)])
    assert [found.value for found in METRICS.validate_json(path.read_bytes())] == [0.3, 0.666666666667]


def test_floats_in_lists_and_structs_of_a_table_are_rounded_and_everything_else_is_kept(tmp_path: Path) -> None:
    table = pa.table(
        {
            "plain": pa.array([LAST_DIGITS_OFF, None, np.nan]),
            "list": pa.array([[LAST_DIGITS_OFF, None], [], None]),
            "struct": pa.array([{"x": LAST_DIGITS_OFF, "name": "a"}, None, {"x": 1e-20 / 3, "name": None}]),
            "count": pa.array([2**60 + 1, None, 0]),
            "word": pa.array(["0.30000000000000004", None, ""]).dictionary_encode(),
        },
        metadata={"pandas": "a version"},
    )
    write_parquet(tmp_path / "t.parquet", table)
    read = pq.read_table(tmp_path / "t.parquet", read_dictionary=["word"])
    assert read.schema == table.schema.remove_metadata()
    found = read.to_pydict()
    assert found["plain"][:2] == [0.3, None]
    assert np.isnan(found["plain"][2])
    assert found["list"] == [[0.3, None], [], None]
    assert found["struct"] == [{"x": 0.3, "name": "a"}, None, {"x": 3.33333333333e-21, "name": None}]
    assert found["count"] == [2**60 + 1, None, 0]
    assert found["word"] == ["0.30000000000000004", None, ""]


def test_a_document_with_nan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(tmp_path / "a.json", {"mean": [float("nan")]})


def under(kernel: str, folder: Path) -> dict[str, bytes]:
    """The bytes of a small run's results when OpenBLAS uses the kernel of a kind of processor."""
    folder.mkdir()
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernel, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", DUELS, str(folder)], check=True, env=environment)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def columns(folder: Path) -> dict[str, Any]:
    tables = {f"{path.name} {name}": values for path in folder.glob("*.parquet")
              for name, values in pq.read_table(path).to_pydict().items()}  # fmt: skip
    return {**tables, "mean": [json.loads((folder / "mean.json").read_text())["mean"]]}


@pytest.mark.skipif(
    not any(pool.get("internal_api") == "openblas" for pool in threadpool_info()), reason="NumPy's BLAS is another one"
)
def test_results_are_byte_identical_on_one_kind_of_processor_and_agree_to_nine_digits_on_another(
    tmp_path: Path,
) -> None:
    one, again, other = (tmp_path / name for name in ("one", "again", "other"))
    assert under(KERNELS[0], one) == under(KERNELS[0], again)
    under(KERNELS[1], other)
    for (name, expected), found in zip(columns(one).items(), columns(other).values(), strict=True):
        tolerance = 10.0**-DIGITS * np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance, err_msg=name)
