"""Raw files to test with: simulated sushi, and a small invented data set that uses every part of the contract."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from data_adapters.catalogue import adapter
from data_adapters.source import strict
from data_adapters.source.adapter import Adapter
from data_adapters.source.description import Counts, Dataset, RawFile, binary, categorical, multi_hot, numeric, ordinal
from data_adapters.source.planted import Preference
from data_adapters.source.raw_folder import RawFolder
from data_adapters.source.reading import Reading
from data_adapters.source.simulation import simulate
from models.records.manifest import DroppedRows, Licence


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no raw files supplied from outside."""
    monkeypatch.setenv("PREFSTUDY_CACHE", str(tmp_path / "cache"))
    for name in ("PREFSTUDY_RAW", "PREFSTUDY_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache"


REAL = os.environ.get("PREFSTUDY_RAW")
"""Read when the tests are collected, because each of them runs without the variable."""


@pytest.fixture(scope="session")
def real_raw() -> Path:
    """The folder of real raw files; skips where there is none."""
    if not REAL:
        pytest.skip("PREFSTUDY_RAW names no folder of real raw files")
    return Path(REAL)


@pytest.fixture(scope="session")
def simulated_sushi(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Raw files of 60 simulated people; not to be changed."""
    folder = tmp_path_factory.mktemp("simulated") / "sushi"
    simulate(adapter("sushi"), folder, seed=7, users=60)
    return folder


@pytest.fixture
def sushi_copy(simulated_sushi: Path, tmp_path: Path) -> Path:
    """A copy of them, to be changed."""
    return Path(shutil.copytree(simulated_sushi, tmp_path / "copy"))


TOY_LINES = (
    "match,winner,loser,surface,walkover,winner_rank,loser_rank",
    'm1,ada,"bob, the elder",clay,0,1.5,',
    "m2,cy,ada,grass,1,2,3",
    "m3,ada,cy,clay,0,,7",
    "m4,,,clay,0,,",
)


@pytest.fixture
def toy() -> Adapter:
    """Matches with contexts, a flag, a per-side number with gaps, every kind of feature, and a row that is dropped."""
    dataset = Dataset(
        name="toy",
        title="Invented matches",
        citation="Nobody (2000)",
        licence=Licence(name="CC0", terms="Free."),
        raw=(RawFile(name="matches.csv.gz"),),
        side="presented",
        items=(
            numeric("age", "age", unit="years", minimum=0, maximum=120),
            ordinal("size", "size", ("small", "large")),
            binary("tame", "tame or wild", false="wild", true="tame"),
            categorical("colour", "colour", ("red", "blue")),
            multi_hot("diet", "eats", ("meat", "leaves")),
        ),
        contexts=(categorical("surface", "what was played on", ("clay", "grass")),),
        comparisons=(
            binary("walkover", "whether nobody played", false="played", true="walkover"),
            numeric("left_rank", "rank of the left one"),
            numeric("right_rank", "rank of the right one"),
        ),
        published={"toy": Counts(items=3, comparisons=3, contexts=2)},
    )
    return Adapter(dataset=dataset, version="1", read=_read_toy, simulate=_simulate_toy)


def _read_toy(raw: RawFolder) -> tuple[Reading, ...]:
    rows = strict.read_rows(raw.file("matches.csv.gz"), separator=",", quoted=True)
    columns = rows.after_header(rows.fields[0]).columns(rows.fields[0])
    kept = [row for row, winner in enumerate(columns.texts["winner"]) if winner]
    texts = {name: [values[row] for row in kept] for name, values in columns.texts.items()}
    return (
        Reading(
            name="toy",
            items={
                "item_id": ["ada", "bob, the elder", "cy"],
                "age": np.array([1.0, np.nan, 3.0]),
                "size": ["small", None, "large"],
                "tame": [True, None, False],
                "colour": ["red", "blue", None],
                "diet": [["meat", "leaves"], [], None],
            },
            contexts={"context_id": ["clay", "grass"], "surface": ["clay", "grass"]},
            comparisons={
                "comparison_id": texts["match"],
                "left_id": texts["winner"],
                "right_id": texts["loser"],
                "left_wins": [True] * len(kept),
                "context_id": texts["surface"],
                "task_index": list(range(len(kept))),
                "walkover": [text == "1" for text in texts["walkover"]],
                "left_rank": [float(text) if text else None for text in texts["winner_rank"]],
                "right_rank": [float(text) if text else None for text in texts["loser_rank"]],
            },
            rows_read={"matches.csv.gz": len(columns.texts["match"])},
            dropped=(DroppedRows(table="comparisons", reason="no outcome", rows=1),),
        ),
    )


def _simulate_toy(folder: Path, *, seed: int, users: int | None) -> Preference:
    text = "".join(f"{line}\n" for line in TOY_LINES)
    (folder / "matches.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=seed))
    return Preference(words="none", types={}, type_of={}, noise=0.0)


@pytest.fixture
def edit() -> Callable[[Path, bytes, bytes], None]:
    """Replace the first occurrence of some bytes in a file, which has to be there."""

    def replace(path: Path, old: bytes, new: bytes) -> None:
        content = path.read_bytes()
        assert old in content
        path.write_bytes(content.replace(old, new, 1))

    return replace
