"""Contest tables: one reader and one simulator for every description of them, and drafts of descriptions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from data_adapters.contests.adapter import ContestAdapter, contest_adapter
from data_adapters.contests.draft import Table, draft
from data_adapters.contests.tables import ContestTables
from data_adapters.source.build import build
from data_adapters.source.description import Dataset, RawFile, binary, categorical, multi_hot, numeric, ordinal
from data_adapters.source.locate import locate
from data_adapters.source.raw_folder import RawFolder
from data_adapters.source.simulation import simulate
from data_adapters.table.pairwise_table import PairwiseTable
from models.records.errors import RawDataError, UsageError
from models.records.features import FeatureKind
from models.records.manifest import Licence
from models.trees.preference_tree import PreferenceTree
from tasks.tables.encode import encode
from tests.data_adapters.contests.derived import derived_damages

SIZES = ("small", "medium", "large")
LIZARDS = Dataset(
    name="lizards",
    title="Contests of lizards",
    citation="own data",
    licence=Licence(name="own", terms="Ask."),
    raw=(RawFile(name="contests.csv", own=True), RawFile(name="lizards.csv", own=True)),
    side="random",
    items=(
        numeric("mass", "mass", unit="g", minimum=0),
        ordinal("size", "size class", SIZES),
        binary("resident", "whether it has a territory", false="no", true="yes"),
        categorical("throat", "colour of the throat", ("blue", "red, spotted")),
    ),
    contexts=(categorical("season", "season", ("autumn", "spring")),),
)
TWO_FILES = ContestTables(
    matches="contests.csv", winner="winner", loser="loser", items="lizards.csv", item="id",
    columns={"mass": "Mass (g)"}, ignored=("notes",), missing=("", "NA"),
)  # fmt: skip
ITEMS = (
    "id,size,Mass (g),resident,throat,notes\n"
    'a,small,1.5,yes,blue,x\nb,large,NA,no,"red, spotted",\nc,medium,0,yes,,"y, z"\n'
)
MATCHES = "winner,loser,season\na,b,spring\nc,a,autumn\na,b,spring\n"
ONE_FILE = ContestTables(matches="contests.csv", winner="winner", loser="loser", columns={"mass": "m"})
ALL_IN_ONE = (
    "winner,loser,winner_m,loser_m,winner_size,loser_size,winner_resident,loser_resident,winner_throat,loser_throat\n"
    "a,b,1.5,,small,large,yes,no,blue,blue\nb,c,,3,large,small,no,no,blue,\n"
)


def in_one_file() -> ContestAdapter:
    dataset = replace(LIZARDS, raw=LIZARDS.raw[:1], contexts=None)
    return contest_adapter(dataset, ONE_FILE)


def built(source: ContestAdapter, folder: Path, **files: str) -> PairwiseTable:
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    [table] = build(source, RawFolder(path=folder, files=(), simulated=False))
    return table


def test_items_matches_and_contexts_are_read_from_two_files(tmp_path: Path):
    table = built(contest_adapter(LIZARDS, TWO_FILES), tmp_path, lizards=ITEMS, contests=MATCHES)
    assert table.items.to_pylist() == [
        {"item_id": "a", "mass": 1.5, "size": "small", "resident": True, "throat": "blue"},
        {"item_id": "b", "mass": None, "size": "large", "resident": False, "throat": "red, spotted"},
        {"item_id": "c", "mass": 0.0, "size": "medium", "resident": True, "throat": None},
    ]
    rows = table.comparisons.to_pylist()
    assert [row["comparison_id"] for row in rows] == ["match-1", "match-2", "match-3"]
    winners = [row["left_id"] if row["left_wins"] else row["right_id"] for row in rows]
    losers = [row["right_id"] if row["left_wins"] else row["left_id"] for row in rows]
    assert (winners, losers) == (["a", "c", "a"], ["b", "a", "b"])
    assert [row["context_id"] for row in rows] == ["context-1", "context-2", "context-1"]
    assert table.contexts is not None
    assert table.contexts["season"].to_pylist() == ["spring", "autumn"]
    assert table.manifest.rows_read == {"lizards.csv": 3, "contests.csv": 3}


def test_an_ordinal_goes_from_its_lowest_level_to_its_highest(tmp_path: Path):
    table = built(contest_adapter(LIZARDS, TWO_FILES), tmp_path, lizards=ITEMS, contests=MATCHES)
    encoded = encode(table)
    [column] = [at for at, column in enumerate(encoded.columns) if column.name == "size"]
    assert encoded.items[:, column].tolist() == [0.0, 2.0, 1.0]


def test_items_of_one_file_have_the_features_of_their_first_match(tmp_path: Path):
    table = built(in_one_file(), tmp_path, contests=ALL_IN_ONE)
    assert table.items["item_id"].to_pylist() == ["a", "b", "c"]
    assert table.items["mass"].to_pylist() == [1.5, None, 3.0]
    assert table.items["size"].to_pylist() == ["small", "large", "small"]
    other = ALL_IN_ONE.replace("b,c,,3,large", "b,c,,3,small")
    with pytest.raises(
        RawDataError, match="line 3: column winner_size: expected what this item has in its first match"
    ):
        built(in_one_file(), tmp_path, contests=other)


def test_who_stood_left_is_kept_where_the_data_presents_sides(tmp_path: Path):
    presented = replace(LIZARDS, side="presented", contexts=None)
    tables = replace(TWO_FILES, winner="won", loser=None, sides=("one", "other"))
    source = contest_adapter(presented, tables)
    table = built(source, tmp_path, lizards=ITEMS, contests="one,other,won\na,b,b\nc,a,c\n")
    rows = table.comparisons.to_pylist()
    assert [(row["left_id"], row["right_id"], row["left_wins"]) for row in rows] == [
        ("a", "b", False),
        ("c", "a", True),
    ]
    with pytest.raises(RawDataError, match="line 2: column won: expected one of the two that met, found 'c'"):
        built(source, tmp_path, contests="one,other,won\na,b,c\n")


def test_the_winner_is_as_often_left_as_right_whatever_the_order_of_columns(tmp_path: Path):
    source = in_one_file()
    simulate(source, tmp_path / "raw", seed=3, users=200)
    [table] = build(source, locate(source, tmp_path / "raw"))
    left_wins = np.array(table.comparisons["left_wins"].to_pylist())
    assert abs(left_wins.mean() - 0.5) < 4 * 0.5 / len(left_wins) ** 0.5
    assert abs(left_wins[: len(left_wins) // 2].mean() - 0.5) < 4 * 0.5 / (len(left_wins) / 2) ** 0.5


@pytest.mark.parametrize("tables", [TWO_FILES, ONE_FILE, replace(TWO_FILES, separator=";")])
def test_the_simulator_writes_what_the_reader_reads_and_derived_damages_are_refused(tables, tmp_path: Path):
    one = tables.items is None
    dataset = replace(LIZARDS, raw=LIZARDS.raw[:1], contexts=None) if one else LIZARDS
    source = contest_adapter(dataset, tables)
    simulate(source, tmp_path / "raw", seed=1, users=30)
    [table] = build(source, locate(source, tmp_path / "raw"))
    assert table.manifest.rows["comparisons"] == 360
    (tmp_path / "raw" / "SIMULATED.json").unlink()
    for damage in derived_damages(source):
        path = tmp_path / "raw" / damage.file
        whole = path.read_bytes()
        path.write_bytes(damage.edit(whole))
        with pytest.raises(RawDataError, match=f"^{damage.file}.*{damage.says}"):
            build(source, locate(source, tmp_path / "raw"))
        path.write_bytes(whole)


def test_simulated_contests_follow_the_stated_utility_but_for_the_stated_noise(tmp_path: Path):
    source = contest_adapter(replace(LIZARDS, contexts=None), TWO_FILES)
    preference = simulate(source, tmp_path / "raw", seed=5, users=80)
    [table] = build(source, locate(source, tmp_path / "raw"))
    encoded = encode(table)
    terms = preference.words.split(": ")[1].split(", each")[0].split()
    weights = dict(zip(terms[1::2], map(float, terms[::2]), strict=True))
    columns = [column.name for column in encoded.columns]
    utility = sum(weights[name] * (encoded.items[:, at] - encoded.items[:, at].mean()) / encoded.items[:, at].std()
                  for at, name in enumerate(columns))  # fmt: skip
    winner, loser = encoded.comparisons.T
    assert np.mean(utility[winner] > utility[loser]) == pytest.approx(1 - preference.noise, abs=0.02)
    heaviest = max(weights, key=lambda name: abs(weights[name]))
    root = PreferenceTree(encoded.columns).fit(encoded.items, encoded.comparisons).nodes_[0]
    assert encoded.columns[root.column or 0].name == heaviest


def test_numbers_are_drawn_within_their_limits(tmp_path: Path):
    dataset = replace(LIZARDS, contexts=None, raw=LIZARDS.raw[:1], items=(
        numeric("low", "x", minimum=3), numeric("high", "x", maximum=-3), numeric("both", "x", minimum=0, maximum=1e-3),
    ))  # fmt: skip
    source = contest_adapter(dataset, ContestTables(matches="contests.csv", winner="winner", loser="loser"))
    simulate(source, tmp_path / "raw", seed=5, users=80)
    [table] = build(source, locate(source, tmp_path / "raw"))
    assert min(table.items["low"].to_pylist()) >= 3
    assert max(table.items["high"].to_pylist()) <= -3


@pytest.mark.parametrize(
    ("dataset", "tables", "complaint"),
    [
        (LIZARDS, replace(TWO_FILES, matches="fights.csv"), "fights.csv is not among the declared raw files"),
        (LIZARDS, replace(TWO_FILES, loser=None), "either a column `loser` or the two columns `sides`"),
        (LIZARDS, replace(TWO_FILES, sides=("a", "b")), "either a column `loser` or the two columns `sides`"),
        (LIZARDS, replace(ONE_FILE, loser=None, sides=("a", "b")), "without a file of items"),
        (replace(LIZARDS, items=(multi_hot("diet", "eats", ("ants", "figs")),)), TWO_FILES, r"Multi-hot .*\(diet\)"),
    ],
)
def test_descriptions_that_do_not_fit_together_are_refused(dataset, tables, complaint):
    with pytest.raises(ValueError, match=complaint):
        contest_adapter(dataset, tables)


# ------------------------------------------------------------------------------------- drafts


def drafted(tmp_path: Path, matches: str, items: str | None = None, **options):
    (tmp_path / "contests.csv").write_text(matches)
    if items is not None:
        (tmp_path / "lizards.csv").write_text(items)
    listed = None if items is None else Table(tmp_path / "lizards.csv")
    return draft(Table(tmp_path / "contests.csv"), listed, **{"winner": "winner", "loser": "loser", **options})


def test_a_draft_says_what_each_column_is_and_why_others_are_not_read(tmp_path: Path):
    items = "id,Mass (g),tame,throat,name,island\n" + "".join(
        f"{at},{at / 3:.2f},{at % 2},{('blue', 'green', 'red')[at % 3]},lizard {at},Naxos\n" for at in range(30)
    )
    found = drafted(tmp_path, "winner,loser,season,day\n1,2,dry,3\n2,3,wet,4\n", items, contexts=["season"])
    kinds = {feature.name: feature.kind for feature in (*found.items, *found.contexts)}
    assert kinds == {
        "mass_g": FeatureKind.NUMERIC,
        "tame": FeatureKind.BINARY,
        "throat": FeatureKind.CATEGORICAL,
        "season": FeatureKind.BINARY,
    }
    assert found.tables.item == "id"
    assert found.tables.columns == {"mass_g": "Mass (g)"}
    assert found.left_out == {
        "name": "has 30 different texts", "island": "is the same everywhere",
        "day": "is neither winner, loser nor --context",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("matches", "items", "options", "complaint"),
    [
        ("a,b\n1,2\n", None, {}, "--winner: contests.csv has no column winner. Its columns: a, b"),
        ("winner,winner\n1,2\n", None, {}, "expected a header of different names"),
        ("winner,loser\n1,2\n", None, {}, "No column can be a feature"),
        ("winner,loser\n1,2\n", None, {"loser": "winner"}, "are one column"),
        ("winner,loser,winner_age\n1,2,3\n", None, {}, "winner_age: expected such a column of both"),
        ("winner,loser\n1,9\n", "id,x\n1,2\n2,3\n", {}, "id comes nearest, without 9"),
        ("winner,loser\n1,2\n", "id,x\n1,2\n2,1\n", {}, "id, x all do"),
        ("winner,loser\n1,2\n", "id\tx\n1\t2\n2\t1\n", {}, "separated by"),
        ("winner,loser\n1,2\n", "id,X,x\n1,3,4\n2,4,5\n", {}, "X, x: two of these columns get one name"),
        ("winner,loser\n1,2\n", "id,x\n1,3\n2,4\n", {"contexts": ["day"]}, "--context: .* no column day"),
        ("winner,loser,day\n1,2,3\n", "id,x\n1,3\n2,4\n", {"contexts": ["day"]}, "day: the column is the same"),
        ("winner,loser\n1,2\n", "id,x\n1,3\n2,4\n", {"leave_out": ["y"]}, "--leave-out: there is no column y"),
        (
            "winner,loser\n1,2\n", "id,x\n1,3\n2,4\n3,5\n4,6\n5,NA\n", {},
            "x: most values are numbers, but not NA. If that means a missing value: --missing 'NA'",
        ),
    ],
)  # fmt: skip
def test_columns_that_do_not_fit_are_named(tmp_path: Path, matches, items, options, complaint):
    with pytest.raises(UsageError, match=complaint):
        drafted(tmp_path, matches, items, **options)
