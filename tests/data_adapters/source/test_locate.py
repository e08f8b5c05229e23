"""Places where raw files are looked for, and the states of altered, simulated and missing ones."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from data_adapters.catalogue import adapter
from data_adapters.source.description import RawFile
from data_adapters.source.locate import check, locate
from data_adapters.source.simulation import simulate
from models.records.errors import OutputError, RawDataError, UsageError

SUSHI = adapter("sushi")


@pytest.fixture
def pinned(simulated_sushi: Path):
    """The sushi adapter, as if upstream had published these files."""
    raw = tuple(
        replace(file, sha256=found.sha256, bytes=found.bytes)
        for file, found in zip(SUSHI.dataset.raw, check(SUSHI, simulated_sushi), strict=True)
    )
    return replace(SUSHI, dataset=replace(SUSHI.dataset, raw=raw))


@pytest.fixture
def published(sushi_copy: Path) -> Path:
    """Files that do not say they are simulated."""
    (sushi_copy / "SIMULATED.json").unlink()
    return sushi_copy


@pytest.mark.parametrize("layout", ["sushi/raw", "sushi", "."])
def test_raw_files_are_found_in_each_layout(simulated_sushi: Path, tmp_path: Path, layout: str, monkeypatch):
    place = tmp_path / "given" / layout
    shutil.copytree(simulated_sushi, place, dirs_exist_ok=True)
    assert locate(SUSHI, tmp_path / "given").path.resolve() == place.resolve()
    monkeypatch.setenv("PREFSTUDY_RAW", str(tmp_path / "given"))
    assert locate(SUSHI).path.resolve() == place.resolve()


def test_the_cache_is_the_last_place_and_only_without_an_explicit_folder(simulated_sushi, tmp_path, cache, monkeypatch):
    shutil.copytree(simulated_sushi, cache / "sushi" / "raw")
    monkeypatch.setenv("PREFSTUDY_RAW", str(tmp_path / "elsewhere"))
    assert locate(SUSHI).path == cache / "sushi" / "raw"
    with pytest.raises(RawDataError, match="No raw files of sushi found"):
        locate(SUSHI, tmp_path / "elsewhere")


def test_nothing_found_says_where_it_looked_and_the_two_ways_on(tmp_path: Path, cache: Path):
    with pytest.raises(RawDataError) as refusal:
        locate(SUSHI)
    for part in ("sushi3.idata", str(cache / "sushi" / "raw"), "prefstudy data fetch sushi", "--simulated"):
        assert part in str(refusal.value)


def test_published_files_are_pinned(pinned, published: Path):
    raw = locate(pinned, published)
    assert (raw.simulated, raw.unpinned, all(file.pinned for file in raw.files)) == (False, False, True)
    assert all(file.url == "https://www.kamishima.net/asset/sushi3-2016.zip" for file in raw.files)


def test_a_well_formed_altered_file_is_refused_with_both_hashes_unless_allowed(pinned, published: Path, edit):
    path = published / "sushi3.udata"
    expected, size = pinned.dataset.raw[1].sha256, path.stat().st_size
    first, rest = path.read_text().split("\n", 1)
    fields = first.split("\t")
    fields[3] = str(int(fields[3]) + 1)
    path.write_text("\t".join(fields) + "\n" + rest)
    with pytest.raises(RawDataError) as refusal:
        locate(pinned, published)
    found = check(pinned, published)[1].sha256
    assert str(refusal.value) == (
        f"{path} has sha256 {found}, expected {expected}.\n"
        f"The file was changed ({size:,} bytes; the published one has {size:,}). "
        f"Fetch it again: prefstudy data fetch sushi --force. To use it as it is: --allow-unpinned."
    )
    raw = locate(pinned, published, allow_unpinned=True)
    assert raw.unpinned
    assert [file.pinned for file in raw.files] == [True, False, True, True]


def test_a_cut_off_file_is_refused_naming_the_line_before_the_hashes(pinned, published: Path):
    path = published / "sushi3a.5000.10.order"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:30], lines[30][:-2], ""]))
    with pytest.raises(RawDataError) as refusal:
        locate(pinned, published)
    line, hashes, advice = str(refusal.value).split("\n")
    user = (published / "sushi3.udata").read_text().split("\n")[29].split("\t")[0]
    assert line == f"sushi3a.5000.10.order, line 31: expected 10 items, found 9 (user {user})."
    assert hashes.startswith(f"{path} has sha256 ")
    assert advice.startswith("The file seems cut off (")


def test_some_files_missing_are_named_in_the_folder_that_has_the_others(simulated_sushi: Path, sushi_copy: Path):
    (sushi_copy / "sushi3.udata").unlink()
    (sushi_copy / "sushi3b.5000.10.order").unlink()
    with pytest.raises(RawDataError, match=r"copy: sushi3.udata, sushi3b.5000.10.order missing\."):
        locate(SUSHI, sushi_copy)
    assert [found.state for found in check(SUSHI, sushi_copy)] == ["simulated", "missing", "simulated", "missing"]


def test_check_of_an_empty_place_reports_every_file_missing(tmp_path: Path):
    assert {found.state for found in check(SUSHI, tmp_path)} == {"missing"}


def test_simulated_files_are_accepted_as_simulated(simulated_sushi: Path):
    raw = locate(SUSHI, simulated_sushi)
    assert (raw.simulated, raw.unpinned) == (True, False)
    assert {file.url for file in raw.files} == {None}


@pytest.mark.parametrize("allow_unpinned", [False, True])
def test_a_simulated_file_changed_afterwards_is_refused_even_when_unpinned_is_allowed(sushi_copy, edit, allow_unpinned):
    edit(sushi_copy / "sushi3.idata", b"_aburi", b"_abury")
    with pytest.raises(RawDataError, match=r"changed after it was simulated. .*prefstudy data simulate sushi"):
        locate(SUSHI, sushi_copy, allow_unpinned=allow_unpinned)


def test_a_damaged_or_foreign_simulated_json_is_refused(sushi_copy: Path):
    path = sushi_copy / "SIMULATED.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"seed": "seven"}))
    with pytest.raises(RawDataError, match=r"SIMULATED.json: seed: .*valid integer"):
        locate(SUSHI, sushi_copy)
    path.write_text(json.dumps(record | {"files": {}}))
    with pytest.raises(RawDataError, match="changed after it was simulated"):
        locate(SUSHI, sushi_copy)


def test_a_folder_in_place_of_simulated_json_is_refused(sushi_copy: Path):
    (sushi_copy / "SIMULATED.json").unlink()
    (sushi_copy / "SIMULATED.json").mkdir()
    with pytest.raises(RawDataError, match=r"SIMULATED.json cannot be read: Is a directory"):
        locate(SUSHI, sushi_copy)


def test_simulating_over_another_folder_is_refused_and_over_an_earlier_simulation_is_not(sushi_copy: Path):
    simulate(SUSHI, sushi_copy, seed=8, users=3)
    assert len((sushi_copy / "sushi3.udata").read_text().splitlines()) == 3
    (sushi_copy / "SIMULATED.json").unlink()
    with pytest.raises(OutputError, match="is there already"):
        simulate(SUSHI, sushi_copy, seed=8, users=3)


def test_simulating_nobody_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="at least one user"):
        simulate(SUSHI, tmp_path / "raw", seed=1, users=0)


def test_a_file_without_a_known_sha256_is_refused_for_that_reason_unless_allowed(toy, tmp_path: Path):
    simulate(toy, tmp_path, seed=1)
    (tmp_path / "SIMULATED.json").unlink()
    with pytest.raises(
        RawDataError, match=r"cannot be checked: the sha256 of the published file is not known"
    ) as refusal:
        locate(toy, tmp_path)
    assert "--allow-unpinned" in str(refusal.value)
    assert "Fetch it again" not in str(refusal.value)
    assert locate(toy, tmp_path, allow_unpinned=True).unpinned


@pytest.fixture
def two_forms(toy):
    """The toy data, which may also come as two files."""
    other = (RawFile(name="matches.csv"), RawFile(name="players.csv"))
    return replace(toy, dataset=replace(toy.dataset, other_forms=(other,)))


def test_the_first_whole_form_is_the_one_that_is_read(two_forms, tmp_path: Path):
    for name in ("matches.csv", "players.csv"):
        (tmp_path / name).write_text("")
    assert [found.file.name for found in check(two_forms, tmp_path)] == ["matches.csv", "players.csv"]
    (tmp_path / "matches.csv.gz").write_bytes(b"")
    assert [found.file.name for found in check(two_forms, tmp_path)] == ["matches.csv.gz"]


def test_of_incomplete_forms_the_one_with_most_files_is_reported_missing(two_forms, tmp_path: Path):
    (tmp_path / "players.csv").write_text("")
    with pytest.raises(RawDataError, match=r": matches.csv missing"):
        locate(two_forms, tmp_path)
    (tmp_path / "players.csv").unlink()
    with pytest.raises(
        RawDataError, match=r"No raw files of toy found \(matches.csv.gz; or matches.csv, players.csv\)"
    ):
        locate(two_forms, tmp_path)
