"""Strict reading: an error names file, line, column, value and expectation."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_adapters.source.strict import Columns, read_rows
from models.records.errors import RawDataError


def column(tmp_path: Path, *texts: str) -> Columns:
    path = tmp_path / "data.txt"
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return read_rows(path, separator="\t").columns(["x"])


def refuses(message: str):
    return pytest.raises(RawDataError, match=f"^{re.escape(message)}")


def test_integers_and_numbers_are_read_exactly(tmp_path: Path):
    assert column(tmp_path, "3", "-4", "0").integers("x", minimum=-4).tolist() == [3, -4, 0]
    assert column(tmp_path, "0.1", "-2e-3", "7").numbers("x").tolist() == [0.1, -0.002, 7.0]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_every_finite_number_survives_writing_and_reading(tmp_path_factory, values: list[float]):
    read = column(tmp_path_factory.mktemp("numbers"), *map(repr, values)).numbers("x")
    np.testing.assert_array_equal(read, values)


@pytest.mark.parametrize("text", [" 3", "3 ", "+3", "3.0", "1_0", "0x3", "three", "99999999999999999999", "٣"])
def test_a_value_that_is_not_a_plain_whole_number_is_refused(tmp_path: Path, text: str):
    with refuses(f"data.txt, line 2: column x: expected a whole number, 0 or more, found {text!r}."):
        column(tmp_path, "1", text).integers("x", minimum=0)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1,5", "1_0", "NA"])
def test_a_value_that_is_not_a_finite_number_is_refused(tmp_path: Path, text: str):
    with refuses(f"data.txt, line 2: column x: expected a number, found {text!r}."):
        column(tmp_path, "1", text).numbers("x")


def test_a_number_of_more_digits_than_are_kept_is_refused(tmp_path: Path):
    assert column(tmp_path, "0.00012345678901234567", "-12345678901234567e-17").numbers("x").shape == (2,)
    for text in ("1" * 30, "0." + "3" * 18, "-12345678.9012345678e2"):
        with refuses(f"data.txt, line 2: column x: expected a number, of 17 digits at most, found {text!r}."):
            column(tmp_path, "1", text).numbers("x")


def test_an_empty_field_is_no_number(tmp_path: Path):
    path = tmp_path / "data.txt"
    path.write_text("a\t\n")
    columns = read_rows(path, separator="\t").columns(["name", "x"])
    with refuses("data.txt, line 1: column x: expected a number, found ''."):
        columns.numbers("x")
    with refuses("data.txt, line 1: column x: expected a whole number, 0 or more, found ''."):
        columns.integers("x", minimum=0)


def test_numbers_outside_their_range_are_refused_with_the_range(tmp_path: Path):
    with refuses("data.txt, line 3: column x: expected a whole number, 1 to 4, found '5'."):
        column(tmp_path, "1", "4", "5").integers("x", minimum=1, maximum=4)
    with refuses("data.txt, line 1: column x: expected a number in [0, 1], found '-0.1'."):
        column(tmp_path, "-0.1").numbers("x", minimum=0, maximum=1)
    with refuses("data.txt, line 1: column x: expected a number in [0, inf], found '-3'."):
        column(tmp_path, "-3").numbers("x", minimum=0)


def test_a_repeated_value_is_refused_naming_both_lines(tmp_path: Path):
    with refuses("data.txt, line 3: column x: expected a new value (line 1 has this one), found 'a'."):
        column(tmp_path, "a", "b", "a").require_unique("x")


def test_a_row_with_too_few_fields_is_refused_with_their_names(tmp_path: Path):
    path = tmp_path / "data.txt"
    path.write_text("1\t2\n3\n")
    with refuses("data.txt, line 2: expected 2 fields (x, y), found 1."):
        read_rows(path, separator="\t").columns(["x", "y"])


def test_a_last_line_without_its_break_is_refused_unless_upstream_has_none(tmp_path: Path):
    path = tmp_path / "data.txt"
    path.write_text("1\n23")
    rows = read_rows(path, separator="\t")
    with refuses("data.txt, line 2: expected a line break after '23', found the end of the file."):
        rows.columns(["x"])
    assert rows.columns(["x"], final_break=False).texts["x"] == ["1", "23"]


def test_quoted_fields_may_hold_separators_and_breaks_and_lines_still_count_right(tmp_path: Path):
    path = tmp_path / "data.csv"
    path.write_text('name,n\n"Potts, Ann",1\n"two\nlines",x\n')
    columns = read_rows(path, separator=",", quoted=True).after_header(["name", "n"]).columns(["name", "n"])
    assert columns.text("name") == ["Potts, Ann", "two\nlines"]
    with refuses("data.csv, line 4: column n:"):
        columns.integers("n", minimum=0)


def test_an_open_quote_is_refused(tmp_path: Path):
    path = tmp_path / "data.csv"
    path.write_text('a,b\n"c,d\n')
    with refuses("data.csv, line 2: unexpected end of data."):
        read_rows(path, separator=",", quoted=True)


def test_bytes_that_are_not_utf8_are_refused_with_their_line(tmp_path: Path):
    path = tmp_path / "data.txt"
    for no_text, shown in ((b"\xe9", r"b'\xe9'"), (b"\0", r"b'\x00'")):
        path.write_bytes(b"one\ntw" + no_text + b"\n")
        with refuses(f"data.txt, line 2: expected UTF-8 text, found the bytes {shown}."):
            read_rows(path, separator="\t")


def test_a_byte_order_mark_before_a_header_is_named_since_nobody_sees_it(tmp_path: Path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"\xef\xbb\xbfone,two\n1,2\n")
    with refuses("data.csv, line 1: expected the header one, two, found a byte order mark and one, two."):
        read_rows(path, separator=",").after_header(["one", "two"])


def test_of_a_wrong_header_a_complaint_shows_the_beginning(tmp_path: Path):
    path = tmp_path / "data.csv"
    path.write_text(300 * "x")
    with refuses(f"data.csv, line 1: expected the header one, two, found {80 * 'x'} ...."):
        read_rows(path, separator=",").after_header(["one", "two"])


def test_a_gzipped_file_is_read_and_a_cut_off_one_refused(tmp_path: Path):
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"1,2\n"))
    assert read_rows(path, separator=",").fields == [["1", "2"]]
    path.write_bytes(path.read_bytes()[:-9])
    with refuses("data.csv.gz: the gzip file is damaged or cut off"):
        read_rows(path, separator=",")


def test_an_empty_file_has_no_header(tmp_path: Path):
    path = tmp_path / "data.txt"
    path.write_text("")
    with refuses("data.txt, line 1: expected the header a, b, found nothing."):
        read_rows(path, separator="\t").after_header(["a", "b"])


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path):
    with pytest.raises(RawDataError, match="cannot be read"):
        read_rows(tmp_path, separator="\t")


def test_a_text_in_another_encoding_is_read_in_that_and_refused_in_utf_8(tmp_path: Path):
    path = tmp_path / "data.txt"
    path.write_bytes("Pläyer\n".encode("latin-1"))
    assert read_rows(path, separator=",", encoding="ISO-8859-1").fields == [["Pläyer"]]
    with refuses("data.txt, line 1: expected UTF-8 text, found the bytes b'\\xe4'."):
        read_rows(path, separator=",")


def test_numbers_may_be_missing_where_the_source_has_a_sign_for_it_and_only_there(tmp_path: Path):
    columns = column(tmp_path, "0", "75", "0", "80.5")
    np.testing.assert_array_equal(columns.numbers_or_missing("x", missing=["0"]), [np.nan, 75, np.nan, 80.5])
    with refuses("data.txt, line 4: column x: expected a number in [0, 80], found '80.5'."):
        columns.numbers_or_missing("x", missing=["0"], minimum=0, maximum=80)
    assert np.isnan(column(tmp_path, "-", "-").numbers_or_missing("x", missing=["-"])).all()


def test_codes_are_read_as_what_they_mean_and_an_unknown_one_is_refused(tmp_path: Path):
    assert column(tmp_path, "L", "R", "-").labels("x", {"L": "left", "R": "right", "-": None}).tolist() == [
        "left", "right", None,
    ]  # fmt: skip
    with refuses("data.txt, line 2: column x: expected one of 'L', 'R', found 'l'."):
        column(tmp_path, "L", "l").labels("x", {"L": "left", "R": "right"})


def test_rows_that_are_left_keep_their_line_numbers(tmp_path: Path):
    left = column(tmp_path, "1", "2", "x", "4").only(np.array([False, True, True, False]))
    assert left.texts == {"x": ["2", "x"]}
    with refuses("data.txt, line 3: column x: expected a number, found 'x'."):
        left.numbers("x")


def test_columns_are_unique_alone_or_together(tmp_path: Path):
    path = tmp_path / "data.txt"
    path.write_text("a,1\na,2\nb,1\na,2\n")
    columns = read_rows(path, separator=",").columns(["x", "y"])
    with refuses("data.txt, line 2: column x: expected a new value (line 1 has this one), found 'a'."):
        columns.require_unique("x")
    with refuses("data.txt, line 4: column x: expected a new value together with y (line 2 has this one), found 'a'."):
        columns.require_unique("x", "y")
    columns.only(np.array([True, True, True, False])).require_unique("x", "y")
