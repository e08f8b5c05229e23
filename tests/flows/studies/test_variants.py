"""A variant of a data set is built by name, and labelled."""

from __future__ import annotations

from pathlib import Path

import pytest

from data_adapters.table.parquet import read_table
from flows.cli.main import main


def test_the_published_60_000_battles_are_built_on_request_and_say_what_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["data", "simulate", "pokemon", "--out", "raw", "--items", "60"]) == 0
    assert main(["data", "build", "pokemon", "--raw", "raw/pokemon", "--variant", "published-60000"]) == 0
    assert "Next: prefstudy data card pokemon --raw raw/pokemon --variant published-60000\n" in capsys.readouterr().out
    table = read_table(tmp_path / "tables" / "pokemon_published_60000")
    assert "outcome_known" in table.comparisons.column_names
    assert main(["data", "build", "pokemon", "--raw", "raw/pokemon", "--variant", "no-such"]) == 2
    assert "Known: published-60000" in capsys.readouterr().err
