"""Choice experiments: rows become comparisons by the mapping, and every row is accounted for."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.records.errors import RawDataError
from tests.data_adapters.choice.tea import (
    FEATURES,
    HEAD,
    LONG,
    LONG_HEADER,
    LONG_ROWS,
    PAIRS,
    WIDE,
    WRITERS,
    choices,
    dropped,
    file_part,
    long_table,
    table_of,
    write_csv,
    write_xlsx,
)

CHOICES = [
    ("ann", 0, (2.5, "black"), (3, "green"), False),
    ("ann", 1, (1, "black"), (3, "green"), True),
    ("cy", 1, (1, "black"), (3, "green"), False),
]
DROPPED = {
    ("comparisons", "both profiles are the same"): 1,
    ("comparisons", "more than one was chosen"): 1,
    ("comparisons", "nothing was chosen"): 1,
    ("comparisons", "the opt-out was chosen"): 1,
    ("users", "no comparison is left"): 1,
    ("items", "shown only in tasks that were dropped"): 2,
}


# ------------------------------------------------------------------------------------------------ layouts


@pytest.mark.parametrize("form", list(WRITERS))
def test_every_format_gives_the_same_choices_and_the_same_account(form: str, tmp_path: Path):
    table = long_table(tmp_path, form=form)
    assert choices(table) == CHOICES
    assert dropped(table) == DROPPED
    assert table.manifest.rows_read == {f"tea.{form}": len(LONG_ROWS)}


def test_a_profile_shown_again_is_the_same_item_and_items_are_numbered_as_they_come(tmp_path: Path):
    items = long_table(tmp_path).items.to_pylist()
    assert [(item["item_id"], item["price"], item["leaf"]) for item in items] == [
        ("profile-1", 2.5, "black"),
        ("profile-2", 3, "green"),
        ("profile-3", 1, "black"),
    ]


@settings(max_examples=20, deadline=None)
@given(st.permutations(LONG_ROWS))
def test_the_order_of_long_rows_does_not_matter(tmp_path_factory, rows):
    table = long_table(tmp_path_factory.mktemp("rows"), rows)
    assert choices(table) == CHOICES


def test_tasks_go_as_numbers_go_and_ids_tell_respondent_and_task(tmp_path: Path):
    table = long_table(tmp_path)
    assert table.comparisons["comparison_id"].to_pylist() == ["ann-2", "ann-10", "cy-2"]


def test_wide_rows_give_the_same_choices(tmp_path: Path):
    header = ("who", "task", "aprice", "aleaf", "bprice", "bleaf", "choice")
    rows = (
        ("ann", 10, 1, "red", 3, "green", "A"),
        ("ann", 2, 2.5, "black", 3, "green", "B"),
        ("bob", 1, 1, "black", 2, "", "N"),
        ("bob", 2, 1, "red", 1, "black", "B"),
        ("bob", 3, 9, "red", 1, "black", "-"),
        ("cy", 2, 1, "black", 3, "green", "B"),
    )
    write_csv(tmp_path / "tea.csv", header, rows)
    table = table_of(tmp_path, HEAD + file_part("csv") + WIDE + FEATURES.format("{side}"))
    assert [choice[2:] for choice in choices(table)] == [choice[2:] for choice in CHOICES]
    assert dropped(table) == {key: n for key, n in DROPPED.items() if key[1] != "more than one was chosen"}


def test_wide_rows_without_a_task_column_are_tasks_in_their_order(tmp_path: Path):
    rows = (
        ("bob", 1, "black", 3, "green", "A"),
        ("ann", 1, "black", 2, "red", "A"),
        ("bob", 1, "red", 3, "black", "B"),
    )
    write_csv(tmp_path / "tea.csv", ("who", "aprice", "aleaf", "bprice", "bleaf", "choice"), rows)
    mapping = HEAD + file_part("csv") + WIDE.replace('task = "task"\n', "") + FEATURES.format("{side}")
    table = table_of(tmp_path, mapping)
    assert table.comparisons["comparison_id"].to_pylist() == ["ann-1", "bob-1", "bob-2"]
    assert table.comparisons["left_wins"].to_pylist() == [True, True, False]


def test_two_consecutive_rows_are_one_task_and_the_first_stood_left(tmp_path: Path):
    rows = (("ann", 1, "black", 0), ("ann", 2, "green", 1), ("ann", 3, "red", 1), ("ann", 4, "green", 0))
    write_csv(tmp_path / "tea.csv", ("who", "price", "leaf", "chosen"), rows)
    table = table_of(tmp_path, HEAD + file_part("csv") + PAIRS + FEATURES.format(""))
    assert choices(table) == [
        ("ann", 0, (1, "black"), (2, "green"), False),
        ("ann", 1, (3, "black"), (4, "green"), True),
    ]


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([("ann", 1, "black", 0)], "line 2: expected a second row of this task"),
        (
            [("ann", 1, "black", 0), ("bob", 2, "green", 1)],
            "line 2: expected a second row of this task, found .* respondent 'ann' \\(and 1 more: line 3 .* 'bob'",
        ),
    ],
)
def test_consecutive_rows_that_are_no_pair_are_refused(rows, complaint: str, tmp_path: Path):
    write_csv(tmp_path / "tea.csv", ("who", "price", "leaf", "chosen"), rows)
    with pytest.raises(RawDataError, match=complaint):
        table_of(tmp_path, HEAD + file_part("csv") + PAIRS + FEATURES.format(""))


# ------------------------------------------------------------------------------------------------- values


def test_what_was_not_shown_is_null_and_not_a_level(tmp_path: Path):
    rows = [("ann", 1, "A", 1, "", 1), ("ann", 1, "B", "", "green", 0), ("ann", 1, "N", "", "", 0)]
    table = long_table(tmp_path, rows)
    assert [(item["price"], item["leaf"]) for item in table.items.to_pylist()] == [(1, None), (None, "green")]
    [_, leaf] = table.item_features
    assert leaf.levels == ("black", "green")


def test_an_empty_cell_is_refused_where_the_mapping_does_not_call_it_missing(tmp_path: Path):
    rows = [("ann", 1, "A", 1, "", 1), ("ann", 1, "B", 2, "green", 0), ("ann", 1, "N", "", "", 0)]
    with pytest.raises(
        RawDataError, match=r"tea.csv, line 2: column leaf: expected one of .*attributes.leaf.levels, missing of"
    ):
        long_table(tmp_path, rows, head=HEAD.replace('missing = [""]', ""))


def test_values_of_one_label_are_one_level_and_counted(tmp_path: Path):
    quirks = long_table(tmp_path).manifest.quirks
    assert "tea.csv, column leaf: 'black' (6 times), 'red' (4 times) are one level, 'black'" in quirks


@pytest.mark.parametrize("text", ["nan", "1_000", "inf", "0x10", "1,5", "cheap", "1" * 30])
def test_only_plain_numbers_are_numbers(text: str, tmp_path: Path):
    rows = [("ann", 1, "A", f'"{text}"', "red", 1), ("ann", 1, "B", 2, "green", 0), ("ann", 1, "N", "", "", 0)]
    with pytest.raises(RawDataError, match=f"line 2: column price: expected a number .* found '{text}'"):
        long_table(tmp_path, rows)


def test_respondents_who_opt_out_too_often_are_left_out_with_all_their_tasks(tmp_path: Path):
    head = HEAD + "most_opt_outs = 0.3\n"
    table = long_table(tmp_path, head=head)
    reason = "the respondent opted out in more than 30% of the tasks"
    assert dropped(table)[("comparisons", reason)] == 3
    assert dropped(table)[("users", reason)] == 1
    assert table.users["user_id"].to_pylist() == ["ann", "cy"]
    exactly_a_third = long_table(tmp_path, head=HEAD + f"most_opt_outs = {1 / 3}\n")
    assert ("users", reason) not in dropped(exactly_a_third)


INDICATED = """
[[attributes]]
name = "leaf"
kind = "categorical"
description = "kind of leaf"
indicators = { black = "black tea", green = "green tea" }
"""


def test_a_feature_may_stand_in_columns_of_0_and_1(tmp_path: Path):
    header, mapping = ("who", "black", "green", "chosen"), HEAD + file_part("csv") + PAIRS + INDICATED
    write_csv(tmp_path / "tea.csv", header, [("ann", 0, 1, 0), ("ann", 1, 0, 1)])
    assert table_of(tmp_path, mapping).items["leaf"].to_pylist() == ["green tea", "black tea"]
    write_csv(tmp_path / "tea.csv", header, [("ann", 0, 1, 0), ("ann", 1, 1, 1)])
    with pytest.raises(RawDataError, match="line 3: column black: expected 1 in exactly one of black, green"):
        table_of(tmp_path, mapping)


# -------------------------------------------------------------------------------------------------- files


def test_a_csv_of_excels_begins_with_a_mark_that_is_no_part_of_the_header(tmp_path: Path):
    long_table(tmp_path)
    path = tmp_path / "tea.csv"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert choices(table_of(tmp_path, (tmp_path / "tea.toml").read_text())) == CHOICES


@pytest.mark.parametrize("form", ["xlsx", "sav", "dta"])
def test_a_file_that_is_not_of_its_format_is_refused_by_name(form: str, tmp_path: Path):
    (tmp_path / f"tea.{form}").write_bytes(b"who,task\n" * 50)
    with pytest.raises(RawDataError, match=rf"^tea\.{form}: this is not a complete"):
        table_of(tmp_path, HEAD + file_part(form) + LONG + FEATURES.format(""))


@pytest.mark.parametrize(("form", "where"), [("xlsx", "row 3"), ("sav", "case 2"), ("dta", "case 2")])
def test_a_bad_value_is_found_again_by_the_number_the_program_shows(form: str, where: str, tmp_path: Path):
    rows = [("ann", 1, "A", 1, "red", 1), ("ann", 1, "B", 2, "white", 0), ("ann", 1, "N", "", "", 0)]
    with pytest.raises(RawDataError, match=rf"^tea\.{form}, {where}: column leaf: .* found 'white'"):
        long_table(tmp_path, rows, form=form)


def test_a_sheet_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path):
    write_xlsx(tmp_path / "tea.xlsx", LONG_HEADER, LONG_ROWS)
    part = file_part("xlsx") + 'sheet = "Answers"\n'
    with pytest.raises(RawDataError, match=r"there is no sheet 'Answers'\. Sheets: Sheet"):
        table_of(tmp_path, HEAD + part + LONG + FEATURES.format(""))


def test_a_file_of_ones_own_is_read_unasked_and_called_own_data(tmp_path: Path):
    manifest = long_table(tmp_path).manifest
    assert (manifest.own, manifest.unpinned) == (True, False)
    assert "mapping tea.toml" in manifest.adapter_version


def test_a_file_that_the_mapping_pins_is_refused_when_it_is_another(tmp_path: Path):
    long_table(tmp_path)
    pinned = (tmp_path / "tea.toml").read_text().replace("[long]", f'sha256 = "{"0" * 64}"\n[long]')
    with pytest.raises(RawDataError, match=f"expected {'0' * 64}"):
        table_of(tmp_path, pinned)
