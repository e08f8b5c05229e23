"""Choice files that were once read wrongly or refused unclearly: each kind of fault, in words or counted."""

from __future__ import annotations

import re
import unicodedata
import zipfile
from pathlib import Path

import openpyxl
import pandas as pd
import pyreadstat
import pytest

from data_adapters.choice import raw_table
from data_adapters.choice.mapping_file import read_mapping
from data_adapters.files import unpacked
from models.records.errors import RawDataError, UsageError
from tests.data_adapters.choice.tea import (
    FEATURES,
    HEAD,
    LONG,
    LONG_HEADER,
    LONG_ROWS,
    WHOLE,
    choices,
    dropped,
    file_part,
    long_table,
    mapping_file,
    table_of,
    write_csv,
    write_xlsx,
)

TASK = '\n[long]\nrespondent = "who"\ntask = "task"\nchosen = "chosen"\n'
PAIR_HEADER = ("who", "task", "price", "leaf", "chosen")


def pairs(*names: object, who: str = "ann") -> list[tuple[object, ...]]:
    """Two rows for each task."""
    return [row for name in names for row in ((who, name, 1, "black", 1), (who, name, 2, "green", 0))]


def tasks_table(folder: Path, rows, head: str = HEAD):
    write_csv(folder / "tea.csv", PAIR_HEADER, rows)
    return table_of(folder, head + file_part("csv") + TASK + FEATURES.format(""))


@pytest.mark.parametrize(
    "name", ["/etc/hostname", "../tea.csv", "a/tea.csv", "a\\\\tea.csv", "C:tea.csv", "", "SIMULATED.json"]
)
def test_a_mapping_names_a_file_in_the_folder_and_no_path(name: str, tmp_path: Path):
    with pytest.raises(UsageError, match=r"file\.name = .*plain name of a file"):
        read_mapping(mapping_file(tmp_path, WHOLE.replace('"tea.csv"', f'"{name}"')))


@pytest.mark.parametrize("size", ["A1", "A1:F4"])
def test_all_rows_of_a_sheet_are_read_whatever_size_it_declares(size: str, tmp_path: Path):
    whole = choices(long_table(tmp_path, form="xlsx"))
    path = tmp_path / "tea.xlsx"
    with zipfile.ZipFile(path) as before:
        parts = {name: before.read(name) for name in before.namelist()}
    with zipfile.ZipFile(path, "w") as after:
        for name, content in parts.items():
            after.writestr(name, re.sub(rb'<dimension ref="[^"]*"', f'<dimension ref="{size}"'.encode(), content))
    assert choices(table_of(tmp_path, (tmp_path / "tea.toml").read_text())) == whole


def test_a_formula_without_a_value_is_refused_and_not_read_as_an_empty_cell(tmp_path: Path):
    write_xlsx(tmp_path / "tea.xlsx", LONG_HEADER, LONG_ROWS)
    book = openpyxl.load_workbook(tmp_path / "tea.xlsx")
    book.active["E4"] = "=1+1"
    book.save(tmp_path / "tea.xlsx")
    with pytest.raises(RawDataError, match=r"never computed: row 4 '=1\+1'"):
        table_of(tmp_path, HEAD + file_part("xlsx") + LONG + FEATURES.format(""))


def test_codes_that_spss_declares_missing_stay_different_codes(tmp_path: Path):
    header = ("who", "aprice", "bprice", "choice")
    frame = pd.DataFrame([(1, 1, 2, 1), (1, 2, 1, 8), (2, 1, 2, 9), (2, 2, 1, 2)], columns=list(header))
    pyreadstat.write_sav(
        frame.astype(float), tmp_path / "tea.sav", missing_ranges={"choice": [8, 9]},
        variable_value_labels={"choice": {9.0: "no answer"}},
    )  # fmt: skip
    layout = (
        '\n[wide]\nrespondent = "who"\nchoice = "choice"\nleft = "1"\nright = "2"\nopt_out = "8"\n'
        'no_answer = [{}]\nsides = ["a", "b"]\n'
    )
    price = FEATURES.format("{side}").partition("\n\n")[0]
    table = table_of(tmp_path, HEAD + file_part("sav") + layout.format('"9"') + price)
    assert dropped(table) == {
        ("comparisons", "nothing was chosen"): 1,
        ("comparisons", "the opt-out was chosen"): 1,
    }
    says = r"found '9', which has the label 'no answer' and which the file declares as missing"
    with pytest.raises(RawDataError, match=f"no_answer of tea.toml.*{says}"):
        table_of(tmp_path, HEAD + file_part("sav") + layout.format('""') + price)


def test_negative_tasks_are_ordered_by_value_and_words_by_the_numbers_in_them(tmp_path: Path):
    ids = tasks_table(tmp_path, pairs(10, -1, 2)).comparisons["comparison_id"].to_pylist()
    assert ids == ["ann--1", "ann-2", "ann-10"]
    ids = tasks_table(tmp_path, pairs("q10", "q2", "q1")).comparisons["comparison_id"].to_pylist()
    assert ids == ["ann-q1", "ann-q2", "ann-q10"]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [("1_000", "a number as in the other rows .*'1_000'"), ("02", "one spelling of each number .*'02'")],
)
def test_a_task_whose_place_would_be_a_guess_is_refused(name: str, complaint: str, tmp_path: Path):
    with pytest.raises(RawDataError, match=f"column task: expected {complaint}"):
        tasks_table(tmp_path, pairs(1, 2, name, 10))


@pytest.mark.parametrize("who", [" ann", "nan", "NaN", "inf", "-inf", "#N/A", '"a\nb"'])
def test_a_respondent_that_could_be_another_or_nobody_is_refused(who: str, tmp_path: Path):
    with pytest.raises(RawDataError, match=r"tea.csv, line \d: column who: expected"):
        tasks_table(tmp_path, pairs(1, 2) + pairs(1, who=who))


@pytest.mark.parametrize("label", ["inf", "NaN", " 1", "a\\nb", "a\\u001b[31m", "a\\u202e"])
def test_a_label_that_could_be_another_or_no_text_is_refused(label: str, tmp_path: Path):
    with pytest.raises(UsageError, match=r"attributes\.1|leaf"):
        read_mapping(mapping_file(tmp_path, WHOLE.replace('black = "black"', f'black = "{label}"')))


def test_one_name_in_two_unicode_forms_is_refused_and_told(tmp_path: Path):
    composed, apart = (unicodedata.normalize(form, "andré") for form in ("NFC", "NFD"))
    with pytest.raises(RawDataError, match="two forms that look the same"):
        tasks_table(tmp_path, pairs(1, who=composed) + pairs(1, who=apart))
    rows = [("ann", 1, 1, unicodedata.normalize("NFD", "thé"), 1), ("ann", 1, 2, "green", 0)]
    write_csv(tmp_path / "tea.csv", PAIR_HEADER, rows)
    mapping = (HEAD + file_part("csv") + TASK + FEATURES.format("")).replace("black =", '"thé" =')
    with pytest.raises(RawDataError, match="only looks like one of them"):
        table_of(tmp_path, mapping)


def test_all_faults_are_told_at_once_with_their_number(tmp_path: Path):
    rows = [("ann", n, "A", "dear", "white", "x") for n in range(1, 9)]
    with pytest.raises(RawDataError) as refusal:
        long_table(tmp_path, rows)
    lines = str(refusal.value).split("\n")
    assert [re.search("column ([a-z]+)", line)[1] for line in lines] == ["chosen", "price", "leaf"]
    assert all("(and 7 more: line 3 " in line for line in lines)


def test_all_missing_columns_are_told_at_once(tmp_path: Path):
    write_csv(tmp_path / "tea.csv", ("who", "leaf"), [("ann", "black")])
    with pytest.raises(RawDataError, match=r"'task' .*\n.*'alt' .*\n.*'chosen' .*\n.*'price' .*Columns: who, leaf"):
        table_of(tmp_path, WHOLE)


def test_bad_tasks_are_refused_or_dropped_and_counted(tmp_path: Path):
    rows = [*LONG_ROWS[:-1], LONG_ROWS[3]]  # one row is missing, and one comes twice
    with pytest.raises(RawDataError, match=r"expected one row for each of A, B, N .* \(and 1 more: "):
        long_table(tmp_path, rows)
    table = long_table(tmp_path, rows, head=HEAD + 'bad_tasks = "drop"\n')
    assert dropped(table)["comparisons", "a row of the task is missing or comes twice"] == 2
    assert table.comparisons["comparison_id"].to_pylist() == ["ann-2"]


def test_a_task_column_is_enough_where_the_rows_of_a_task_are_consecutive(tmp_path: Path):
    assert [choice[1:] for choice in choices(tasks_table(tmp_path, pairs(2, 1)))] == [
        (0, (1, "black"), (2, "green"), True),
        (1, (1, "black"), (2, "green"), True),
    ]
    rows = pairs(1, 2, 3)
    mixed = [rows[0], rows[2], rows[1], *rows[3:]]
    with pytest.raises(RawDataError, match="column task: expected two consecutive rows in task 1"):
        tasks_table(tmp_path, mixed)
    table = tasks_table(tmp_path, mixed, head=HEAD + 'bad_tasks = "drop"\n')
    assert table.comparisons["comparison_id"].to_pylist() == ["ann-3"]


def test_a_wrong_separator_is_named_with_its_setting(tmp_path: Path):
    (tmp_path / "tea.csv").write_text(";".join(LONG_HEADER) + "\n")
    with pytest.raises(RawDataError, match=r"separated by a semicolon, not by a comma \(file.separator of tea.toml\)"):
        table_of(tmp_path, WHOLE)


def test_a_control_character_is_refused_with_line_and_column(tmp_path: Path):
    rows = [(*row[:4], "bl\x1back" if at == 2 else row[4], row[5]) for at, row in enumerate(LONG_ROWS)]
    with pytest.raises(RawDataError, match=r"^tea.csv, line 4: .*found \\x1b in column 5"):
        long_table(tmp_path, rows)


def test_what_unpacks_to_more_than_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_xlsx(tmp_path / "tea.xlsx", LONG_HEADER, LONG_ROWS)
    mapping = HEAD + file_part("xlsx") + LONG + FEATURES.format("")
    monkeypatch.setattr(raw_table, "MOST_CELLS", 20)
    with pytest.raises(RawDataError, match="more than 20 cells"):
        table_of(tmp_path, mapping)
    monkeypatch.setattr(unpacked, "MOST_BYTES", 1000)
    with pytest.raises(RawDataError, match="unpacks to more than 1,000 bytes"):
        table_of(tmp_path, mapping)


def test_a_parquet_file_that_the_mapping_does_not_pin_is_told(tmp_path: Path):
    assert any("gives no sha256" in quirk for quirk in long_table(tmp_path, form="parquet").manifest.quirks)


def test_a_setting_that_is_not_there_gets_no_far_fetched_suggestion(tmp_path: Path):
    with pytest.raises(UsageError) as refusal:
        read_mapping(mapping_file(tmp_path, WHOLE.replace("[long]", '[long]\nweight = "w"')))
    assert "long.weight: there is no such setting." in str(refusal.value)
    assert "Did you mean" not in str(refusal.value)
