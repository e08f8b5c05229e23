"""Mapping files: an invalid key is refused in words, with the key's own description."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from data_adapters.catalogue import adapter
from data_adapters.choice.mapping_file import SHIPPED, read_mapping, shipped_mapping
from models.records.errors import UsageError
from tests.data_adapters.choice.tea import WHOLE, WIDE, mapping_file


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(UsageError) as caught:
        read_mapping(mapping_file(folder, text))
    return str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("citation", "citaton", "citaton: there is no such setting. Did you mean citation?"),
        ("[file]", "[file]\nformt = 1", "file.formt: there is no such setting. Did you mean format?"),
        ('kind = "categorical"', 'kidn = "categorical"', "attributes.1.kidn: there is no such setting. Did you mean"),
        ('name = "leaf"\n', "", "attributes.1.name: name in the table: lower case"),
        ('"csv"', '"ods"', "csv, xlsx (Excel), sav (SPSS), dta (Stata) or parquet"),
        ("[long]", "[long]\nopt_in = 1", "There are: respondent, task, alternative, left, right, opt_out"),
        ('task = "task"\n', "", "alternative needs task: set the column"),
        ("[long]", WIDE + "[long]", "set either long or wide"),
        ('name = "leaf"', 'name = "price"', "two of the attributes have the same name"),
        ('column = "leaf"', 'column = "{side}leaf"', "{side} belongs in the columns of attributes in the wide layout"),
        ('column = "leaf"\n', "", "leaf: set either column or indicators"),
        ('kind = "categorical"', 'kind = "binary"\nunit = "g"', "leaf: values, minimum, maximum and unit are"),
        ('kind = "categorical"', 'kind = "numeric"', "leaf: a numeric feature has a column and no levels"),
        ('green = "green"', 'green = "green", white = "white"', None),
        ('kind = "categorical"', 'kind = "binary"', None),
    ],
)  # fmt: skip
def test_a_mapping_that_cannot_be_meant_is_refused_in_words(old: str, new: str, complaint: str | None, tmp_path: Path):
    assert old in WHOLE
    text = WHOLE.replace(old, new, 1)
    if complaint is None:
        assert read_mapping(mapping_file(tmp_path, text)).mapping.attributes[1].name == "leaf"
    else:
        assert complaint in refusal(tmp_path, text)


def test_a_mapping_that_is_missing_or_no_toml_is_refused_by_name(tmp_path: Path):
    with pytest.raises(UsageError, match=r"none\.toml: the mapping cannot be read \(no such file"):
        read_mapping(tmp_path / "none.toml")
    assert "tea.toml: this is not a TOML file" in refusal(tmp_path, "title = \n")


def test_a_mapping_may_begin_with_the_byte_order_mark_that_windows_writes(tmp_path: Path):
    marked = mapping_file(tmp_path, f"\ufeff{WHOLE}")
    assert marked.read_bytes().startswith(b"\xef\xbb\xbf")
    assert read_mapping(marked).mapping.attributes[1].name == "leaf"


def test_a_data_set_of_one_layout_takes_no_mapping(tmp_path: Path):
    with pytest.raises(UsageError, match="sushi takes no mapping"):
        adapter("sushi", mapping=mapping_file(tmp_path, WHOLE))


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.toml")), ids=lambda path: path.stem)
def test_every_shipped_mapping_can_be_meant(path: Path):
    assert read_mapping(path).mapping.attributes


@pytest.mark.parametrize("name", ["conjoint", "presidential", "hhy2014", "ride2016"])
def test_an_ordinal_goes_from_low_to_high_as_its_mapping_lists_the_levels(name: str):
    mapping = shipped_mapping(name).mapping
    content = tomllib.loads((SHIPPED / f"{name}.toml").read_text("utf-8"))
    listed = {each["name"]: each.get("levels") for each in [*content["attributes"], *content.get("respondents", [])]}
    ordinals = [each for each in (*mapping.attributes, *mapping.respondents) if each.kind == "ordinal"]
    assert ordinals
    for each in ordinals:
        levels = listed[each.name]
        labels = levels.values() if isinstance(levels, dict) else levels
        assert each.feature.levels == tuple(dict.fromkeys(labels)), each.name


def test_a_control_character_in_a_mapping_is_refused_with_its_key_and_shown_escaped(tmp_path: Path):
    told = refusal(tmp_path, WHOLE.replace('name = "tea.csv"', 'name = "tea\\u001b.csv"'))
    assert "file.name: the text " in told
    assert "has the character \\x1b" in told
    assert "\x1b" not in told
