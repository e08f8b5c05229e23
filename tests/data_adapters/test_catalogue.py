"""Data sets are found without importing them or anything heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

from data_adapters.catalogue import adapter, names
from models.records.errors import UsageError


def test_every_module_of_the_room_is_a_data_set_and_no_package_is():
    assert "sushi" in names()
    assert not {"source", "table", "files"} & set(names())
    assert all(adapter(name).dataset.name == name for name in names())


def test_a_misspelt_name_is_refused_with_the_nearest_one():
    with pytest.raises(UsageError, match=r"no data set 'shushi'. Did you mean sushi\? Known: .*sushi"):
        adapter("shushi")


def test_a_name_like_none_is_refused_with_those_there_are():
    with pytest.raises(UsageError, match=r"no data set 'source'\. Known: .*sushi"):
        adapter("source")


def test_listing_and_locating_import_nothing_heavy():
    script = (
        "import sys\n"
        "from data_adapters import catalogue\n"
        "from data_adapters.source import locate\n"
        "assert catalogue.names()\n"
        "print(sorted({'pandas', 'pandera', 'pooch', 'pyarrow', 'prefect', 'requests'} & set(sys.modules)))"
    )
    listed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert listed.stdout.strip() == "[]"


def test_a_variant_is_the_same_data_set_in_tables_of_another_name():
    pokemon, published = adapter("pokemon"), adapter("pokemon", "published-60000")
    assert published.dataset.name == pokemon.dataset.name
    assert published.dataset.raw == pokemon.dataset.raw
    assert not set(published.dataset.published) & set(pokemon.dataset.published)


def test_an_unknown_variant_is_refused_with_those_there_are():
    with pytest.raises(UsageError, match=r"pokemon has no variant 'published'. Known: published-60000"):
        adapter("pokemon", "published")
    with pytest.raises(UsageError, match=r"sushi has no variant 'b'. Known: none"):
        adapter("sushi", "b")
