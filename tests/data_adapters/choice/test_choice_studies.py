"""BELA, Presidential and studies of one's own, simulated, and real ones of the same kind."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from data_adapters.catalogue import adapter
from data_adapters.choice.mapping_file import SHIPPED
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate, simulated_record
from data_adapters.table.pairwise_table import PairwiseTable
from models.records.errors import UsageError
from tests.data_adapters.choice.tea import WHOLE, dropped, mapping_file

TABLE_11 = {
    "invitation": "binary", "appointment": "binary", "information": "binary", "travel_time": "numeric",
    "waiting_time": "numeric", "good_doctor": "binary", "modality": "categorical", "sensitivity": "numeric",
    "combined": "binary", "cost": "numeric",
}  # fmt: skip


@pytest.fixture(scope="module")
def simulated(tmp_path_factory) -> dict[str, tuple[PairwiseTable, Path]]:
    made = {}
    for name in ("bela", "presidential", "conjoint"):
        folder = tmp_path_factory.mktemp(name)
        simulate(adapter(name), folder / "raw", seed=5)
        [table] = build(adapter(name), locate(adapter(name), folder / "raw"))
        made[name] = table, folder / "raw"
    return made


def test_bela_has_the_ten_attributes_of_table_11():
    assert {feature.name: feature.kind.value for feature in adapter("bela").dataset.items} == TABLE_11


def test_bela_is_434_women_with_18_tasks_of_whom_six_opt_out_too_often(simulated):
    table, _ = simulated["bela"]
    account = dropped(table)
    manifest = table.manifest
    assert manifest.rows_read == {"bela.csv": 434 * 18 * 3}
    assert manifest.rows["users"] == adapter("bela").dataset.published["bela"].users == 428
    assert account[("users", "the respondent opted out in more than 80% of the tasks")] == 6
    assert account[("comparisons", "the respondent opted out in more than 80% of the tasks")] == 6 * 18
    tasks = sum(rows for (part, _), rows in account.items() if part == "comparisons")
    assert manifest.rows["comparisons"] + tasks == 434 * 18


def test_two_simulated_screening_programmes_differ_in_three_attributes(simulated):
    table, _ = simulated["bela"]
    items = {row["item_id"]: row for row in table.items.to_pylist()}
    for row in table.comparisons.slice(0, 500).to_pylist():
        left, right = items[row["left_id"]], items[row["right_id"]]
        assert sum(left[name] != right[name] for name in TABLE_11) == 3


def test_presidential_shows_4_to_20_attributes_the_same_to_a_respondent_in_all_30_tasks(simulated):
    table, _ = simulated["presidential"]
    items = {row.pop("item_id"): row for row in table.items.drop_columns(["label"]).to_pylist()}
    shown: dict[str, set[frozenset[str]]] = {}
    for row in table.comparisons.to_pylist():
        for side in ("left_id", "right_id"):
            names = frozenset(name for name, value in items[row[side]].items() if value is not None)
            shown.setdefault(row["user_id"], set()).add(names)
    assert {len(sets) for sets in shown.values()} == {1}
    sizes = [len(next(iter(sets))) for sets in shown.values()]
    assert (min(sizes), max(sizes)) == (4, 20)
    assert len(adapter("presidential").dataset.items) == 20
    tasks = Counter(table.comparisons["user_id"].to_pylist())
    assert max(tasks.values()) == 30


@pytest.mark.parametrize("name", ["bela", "presidential", "conjoint"])
def test_simulated_choices_follow_the_planted_rules_but_for_the_stated_noise(name: str, simulated):
    table, raw = simulated[name]
    record = simulated_record(raw)
    assert record is not None
    levels = {feature.name: feature.levels or () for feature in table.item_features}
    items = {row["item_id"]: row for row in table.items.to_pylist()}

    def number(item: str, feature: str) -> float | None:
        value = items[item][feature]
        return levels[feature].index(value) if isinstance(value, str) else value

    follows = []
    for row in table.comparisons.to_pylist():
        for rule in record.preference.types[record.preference.type_of[row["user_id"]]]:
            left, right = (number(row[side], rule.feature) for side in ("left_id", "right_id"))
            if left is None or right is None:
                continue
            if rule.cut is not None:
                left, right = left >= rule.cut, right >= rule.cut
            if left != right:
                follows.append(row["left_wins"] == ((left > right) == (rule.prefers == "high")))
                break
    assert len(follows) == table.comparisons.num_rows
    assert np.mean(follows) == pytest.approx(1 - record.preference.noise, abs=0.015)


def test_a_study_of_ones_own_can_be_simulated_before_anybody_was_asked(tmp_path: Path):
    mapping = WHOLE.replace('description = "price"', 'description = "price"\nminimum = 1\nmaximum = 9')
    source = adapter("conjoint", mapping=mapping_file(tmp_path, mapping))
    preference = simulate(source, tmp_path / "raw", seed=1, users=20)
    [table] = build(source, locate(source, tmp_path / "raw"))
    assert table.manifest.simulated
    assert table.manifest.rows["users"] <= 20
    assert list(preference.types) == ["price first", "leaf first"]


@pytest.mark.parametrize(
    ("mapping", "complaint"),
    [(WHOLE, "price cannot be simulated"), (WHOLE.replace('"csv"', '"sav"'), "only csv files are simulated")],
)
def test_what_a_mapping_does_not_say_cannot_be_simulated(mapping: str, complaint: str, tmp_path: Path):
    source = adapter("conjoint", mapping=mapping_file(tmp_path, mapping))
    with pytest.raises(UsageError, match=complaint):
        simulate(source, tmp_path / "raw", seed=1)


# ---------------------------------------------------------------------------------------------- real data


def real_table(real_raw: Path, mapping: str, folder: str) -> PairwiseTable:
    source = adapter("conjoint", mapping=SHIPPED / f"{mapping}.toml")
    place = real_raw / "standins" / folder
    if not place.is_dir():
        pytest.skip(f"PREFSTUDY_RAW has no {folder}")
    [table] = build(source, locate(source, place))
    return table


def test_real_women_chose_among_two_treatments_and_none_in_3472_tasks(real_raw: Path):
    table = real_table(real_raw, "ride2016", "ride2016_dce")
    manifest = table.manifest
    opted_out = dropped(table)[("comparisons", "the opt-out was chosen")]
    assert not manifest.unpinned
    assert manifest.rows_read == {"ride_2016_data.dta": 10_416}
    assert manifest.rows["comparisons"] + opted_out == 217 * 16 == 3_472
    assert opted_out / 3_472 == pytest.approx(0.17, abs=0.01)
    assert manifest.rows["users"] + dropped(table)[("users", "no comparison is left")] == 217
    assert manifest.rows["items"] == 32
    left = sum(table.comparisons["left_wins"].to_pylist()) / 3_472
    assert left == pytest.approx(0.41, abs=0.005)


def test_a_real_womans_third_task_is_the_one_in_the_file(real_raw: Path):
    table = real_table(real_raw, "ride2016", "ride2016_dce")
    [task] = [row for row in table.comparisons.to_pylist() if row["comparison_id"] == "101-3"]
    items = {row["item_id"]: row for row in table.items.to_pylist()}
    left = items[task["left_id"]]
    assert (left["cost"], left["effect"], left["childcare"], left["treatment"], left["setting"]) == (
        0, False, True, "group counselling", "at home",
    )  # fmt: skip
    assert task["task_index"] == 2


def test_real_candidates_met_in_1733_tasks_of_311_respondents(real_raw: Path):
    table = real_table(real_raw, "hhy2014", "hhy2014_candidate")
    manifest = table.manifest
    assert manifest.rows_read == {"candidate.csv": 3_466}
    assert (manifest.rows["comparisons"], manifest.rows["users"], manifest.dropped) == (1_733, 311, ())
    assert max(Counter(table.comparisons["user_id"].to_pylist()).values()) == 6
    [ethnicity] = [feature for feature in table.item_features if feature.name == "ethnicity"]
    assert ethnicity.levels == ("Asian American", "Black", "Hispanic", "Native American", "White")
    assert any("'White' (573 times), 'Caucasian' (591 times)" in quirk for quirk in manifest.quirks)


def test_the_first_real_task_is_the_first_two_rows_of_the_file(real_raw: Path):
    table = real_table(real_raw, "hhy2014", "hhy2014_candidate")
    items = {row["item_id"]: row for row in table.items.to_pylist()}
    first = table.comparisons.to_pylist()[0]
    left, right = items[first["left_id"]], items[first["right_id"]]
    assert (left["religion"], left["age"], left["income"]) == ("Mormon", 75, "$5.1m")
    assert (right["religion"], right["age"], right["income"]) == ("None", 60, "$65k")
    assert not first["left_wins"]
