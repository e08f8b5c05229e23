"""The contract of every adapter, on simulated data if it can, and on real data if PREFSTUDY_RAW has its files.

A new adapter adds nothing here. Damaged raw files and the account of the rows follow from the description of contest
tables. An adapter with a reader of its own may add a module of its name in tests/data_adapters/datasets/damaged, with
further damaged raw files (`DAMAGED`), and functions from the rows of the raw files to the expected number of kept and
dropped rows of each part (`ACCOUNT`).
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from data_adapters.catalogue import adapter, names
from data_adapters.contests.adapter import ContestAdapter
from data_adapters.source.adapter import Adapter
from data_adapters.source.build import build
from data_adapters.source.locate import check, locate
from data_adapters.source.raw_folder import RawFolder
from data_adapters.source.simulation import simulate
from data_adapters.table.pairwise_table import PairwiseTable
from data_adapters.table.parquet import read_table, write_table
from data_adapters.table.schema import KEYS
from models.records.errors import RawDataError
from tests.data_adapters.contests.derived import derived_account, derived_damages
from tests.data_adapters.datasets import damaged
from tests.data_adapters.datasets.damaged import Damage

SIMULATED_USERS = 40


@dataclass(frozen=True)
class Case:
    """One data set from one source, built."""

    adapter: Adapter
    raw: RawFolder
    tables: tuple[PairwiseTable, ...]


def skip_without_simulator(source: Adapter) -> None:
    if source.simulate is None:
        pytest.skip(f"{source.dataset.name} has no simulator")


def skip_without_files(source: Adapter, folder: Path) -> None:
    if {found.state for found in check(source, folder)} == {"missing"}:
        pytest.skip(f"PREFSTUDY_RAW has no files of {source.dataset.name}")


OF_DATASET = {
    module.name: importlib.import_module(f"{damaged.__name__}.{module.name}")
    for module in pkgutil.iter_modules(damaged.__path__)
}
ADAPTERS = {name: adapter(name) for name in names()}
ACCOUNTS = {
    name: getattr(OF_DATASET.get(name), "ACCOUNT", None) or derived_account(source) for name, source in ADAPTERS.items()
}
ADAPTERS |= {f"{name}:{variant}": found for name in names() for variant, found in adapter(name).variants.items()}


@pytest.fixture(scope="module", params=ADAPTERS)
def source(request: pytest.FixtureRequest) -> Adapter:
    return ADAPTERS[request.param]


@pytest.fixture(scope="module", params=["simulated", "real"])
def case(source: Adapter, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    if request.param == "simulated":
        skip_without_simulator(source)
        folder = tmp_path_factory.mktemp("contract") / source.dataset.name
        simulate(source, folder, seed=11, users=SIMULATED_USERS)
    else:
        folder = request.getfixturevalue("real_raw")
        skip_without_files(source, folder)
    raw = locate(source, folder)
    return Case(source, raw, build(source, raw))


def test_tables_are_those_declared_and_pass_their_own_checks(case: Case):
    assert {table.name for table in case.tables} == set(case.adapter.dataset.tables)


def test_features_are_the_declared_ones_in_their_order(case: Case):
    dataset = case.adapter.dataset
    for table in case.tables:
        assert table.item_features == dataset.items
        assert table.user_features == (dataset.users or ())
        assert table.context_features == (dataset.contexts or ())
        assert table.comparison_features == dataset.comparisons


def test_keys_come_first_and_are_strings(case: Case):
    for table in case.tables:
        for name, part in table.parts.items():
            assert part.column_names[0] == KEYS[name]
            assert part.schema.field(0).type == pa.string()


def test_real_counts_are_the_published_ones(case: Case):
    if case.raw.simulated:
        pytest.skip("simulated data has as many rows as were asked for")
    published = case.adapter.dataset.published
    if not published:
        pytest.skip(f"no publication counts the rows of {case.adapter.dataset.name}")
    for table in case.tables:
        counts, rows = published[table.name], table.manifest.rows
        assert (rows["items"], rows["comparisons"]) == (counts.items, counts.comparisons)
        assert (rows.get("users"), rows.get("contexts")) == (counts.users, counts.contexts)


def test_manifest_is_complete(case: Case):
    for table in case.tables:
        manifest = table.manifest
        assert manifest.simulated == case.raw.simulated
        assert not manifest.unpinned
        assert manifest.own == (not case.raw.simulated and any(file.own for file in case.adapter.dataset.raw))
        assert manifest.rows == {name: part.num_rows for name, part in table.parts.items()}
        assert {file.name for file in manifest.raw_files} >= {name.partition("$")[0] for name in manifest.rows_read}
        assert all(file.bytes > 0 and re.fullmatch("[0-9a-f]{64}", file.sha256) for file in manifest.raw_files)
        assert manifest.licence == case.adapter.dataset.licence
        assert manifest.adapter_version == case.adapter.version


def test_every_raw_row_is_in_the_table_or_dropped_by_reason(case: Case):
    account = ACCOUNTS[case.adapter.dataset.name]
    if account is None:
        pytest.skip(f"{case.adapter.dataset.name} has a reader of its own and gives no account of its rows")
    for table in case.tables:
        manifest = table.manifest
        assert {"comparisons"} <= set(account) <= set(table.parts)
        assert all(drop.rows >= 0 for drop in manifest.dropped)
        for part, offered in account.items():
            dropped = sum(drop.rows for drop in manifest.dropped if drop.table == part)
            assert manifest.rows[part] + dropped == offered(manifest.rows_read), part


def test_a_random_side_is_a_fair_coin(case: Case):
    for table in case.tables:
        if table.manifest.side == "random":
            n = table.comparisons.num_rows
            assert abs(pc.mean(table.comparisons["left_wins"]).as_py() - 0.5) < 4 * 0.5 / n**0.5


def test_a_second_build_writes_the_same_bytes(case: Case, tmp_path: Path):
    for table, again in zip(case.tables, build(case.adapter, case.raw), strict=True):
        first, second = write_table(table, tmp_path / "1"), write_table(again, tmp_path / "2")
        for path in sorted(first.iterdir()):
            assert path.read_bytes() == (second / path.name).read_bytes(), path.name


def test_a_table_reads_back_as_it_was_written(case: Case, tmp_path: Path):
    for table in case.tables:
        back = read_table(write_table(table, tmp_path))
        assert back.parts.keys() == table.parts.keys()
        for name, part in table.parts.items():
            assert back.parts[name].equals(part, check_metadata=True), name
        assert back.manifest.model_copy(update={"table_sha256": {}}) == table.manifest


def test_a_simulation_repeats_byte_for_byte_and_changes_with_the_seed(source: Adapter, tmp_path: Path):
    skip_without_simulator(source)
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        simulate(source, tmp_path / name, seed=seed, users=SIMULATED_USERS)
    same = [file.name for file in source.dataset.raw]
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in same)
    assert any((tmp_path / "a" / name).read_bytes() != (tmp_path / "c" / name).read_bytes() for name in same)


# ------------------------------------------------------------------------------------- damaged raw files

DAMAGED: dict[str, tuple[Damage, ...]] = {
    name: (
        *getattr(OF_DATASET.get(name), "DAMAGED", ()),
        *(
            derived_damages(adapter(name))
            if name not in OF_DATASET or isinstance(adapter(name), ContestAdapter)
            else ()
        ),
    )
    for name in names()
}


def test_no_two_damages_of_a_data_set_are_called_alike():
    assert all(max(Counter(damage.what for damage in damages).values()) == 1 for damages in DAMAGED.values())


@pytest.mark.parametrize(
    ("name", "damage"),
    [pytest.param(name, damage, id=f"{name}-{damage.what}") for name in DAMAGED for damage in DAMAGED[name]],
)
def test_a_damaged_raw_file_is_refused_by_name(name: str, damage: Damage, tmp_path: Path):
    source, folder = adapter(name), tmp_path / "raw"
    skip_without_simulator(source)
    simulate(source, folder, seed=11, users=SIMULATED_USERS)
    (folder / "SIMULATED.json").unlink()
    path = folder / damage.file
    path.write_bytes(damage.edit(path.read_bytes()))
    with pytest.raises(RawDataError, match=f"^{re.escape(damage.file)}.*{damage.says}"):
        build(source, locate(source, folder, allow_unpinned=True))


@pytest.mark.parametrize("position", range(4))
def test_a_missing_raw_file_is_named(source: Adapter, position: int, tmp_path: Path):
    files = source.dataset.raw
    if position >= len(files):
        pytest.skip(f"{source.dataset.name} has {len(files)} raw files")
    skip_without_simulator(source)
    simulate(source, tmp_path / "raw", seed=11, users=SIMULATED_USERS)
    (tmp_path / "raw" / files[position].name).unlink()
    with pytest.raises(RawDataError, match=re.escape(files[position].name)):
        locate(source, tmp_path / "raw")


def test_a_real_file_cut_off_is_refused_with_its_size_and_the_way_to_get_it(
    source: Adapter, real_raw: Path, tmp_path: Path
):
    skip_without_files(source, real_raw)
    raw = locate(source, real_raw)
    shutil.copytree(raw.path, tmp_path / "raw", copy_function=shutil.copyfile)
    (tmp_path / "raw").chmod(0o700)
    file = source.dataset.raw[-1]
    if file.sha256 is None:
        pytest.skip(f"no sha256 of {file.name} is known")
    path = tmp_path / "raw" / file.name
    path.write_bytes(path.read_bytes()[:-1001])
    with pytest.raises(RawDataError) as refusal:
        locate(source, tmp_path / "raw")
    for part in (
        file.name,
        str(file.sha256),
        f"{file.bytes:,}",
        "cut off",
        f"prefstudy data fetch {source.dataset.name}",
    ):
        assert part in str(refusal.value)
