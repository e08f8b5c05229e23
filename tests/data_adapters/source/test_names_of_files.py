"""No name in a description, a manifest or an archive leads out of its folder, and nothing foreign is overwritten."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from data_adapters.catalogue import adapter
from data_adapters.files import unpacked
from data_adapters.source.build import build
from data_adapters.source.description import RawFile
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.source.strict import read_rows
from data_adapters.table.parquet import read_table, write_table
from models.records.errors import OutputError, RawDataError, TableError


@pytest.mark.parametrize("name", ["../a.csv", "/a.csv", "a/b.csv", "a\\b.csv", ".a", "a\n.csv", ""])
def test_a_raw_file_has_a_plain_name(name: str):
    with pytest.raises(ValueError, match="plain name"):
        RawFile(name=name)


def test_a_simulation_replaces_an_earlier_one_and_no_other_file(tmp_path: Path):
    for _ in range(2):
        simulate(adapter("synthetic"), tmp_path / "raw", seed=0, users=12)
    (tmp_path / "raw" / "mine.toml").write_text("title = 1")
    with pytest.raises(OutputError, match=r"also has mine\.toml, which prefstudy did not write"):
        simulate(adapter("synthetic"), tmp_path / "raw", seed=1, users=12)
    assert (tmp_path / "raw" / "mine.toml").read_text() == "title = 1"


def test_a_table_replaces_an_earlier_one_and_no_other_file_and_its_manifest_names_no_path(tmp_path: Path):
    simulate(adapter("synthetic"), tmp_path / "raw", seed=0, users=12)
    [table] = build(adapter("synthetic"), locate(adapter("synthetic"), tmp_path / "raw"))
    folder = write_table(table, tmp_path)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"also has notes\.txt"):
        write_table(table, tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["table_sha256"]["../users.parquet"] = manifest["table_sha256"]["items.parquet"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(TableError, match=r"table_sha256: expected .*, found \.\./users\.parquet"):
        read_table(folder)


def test_a_gzip_file_that_unpacks_to_more_than_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(unpacked, "MOST_BYTES", 1000)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"1,2\n" * 1000))
    with pytest.raises(RawDataError, match=r"^a\.csv\.gz: unpacks to more than 1,000 bytes"):
        read_rows(tmp_path / "a.csv.gz", separator=",")
