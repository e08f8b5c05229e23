"""The section on earlier users tells both sides of its tables, under both rules of asking again."""

from __future__ import annotations

import pandas as pd

from reports.asking.history import history_section
from reports.page.blocks import Prose, Table
from reports.page.finished_run import open_run
from tests.reports.conftest import WriteRun


def _prose(folder: object, **kwargs: object) -> str:
    section = history_section(open_run(folder))  # type: ignore[arg-type]
    return " ".join(text for block in section.blocks if isinstance(block, Prose) for text in block.paragraphs)


def test_regret_and_favourites_are_told_before_and_after_under_both_rules(write_run: WriteRun) -> None:
    prose = _prose(write_run())
    for table in ("Set A", "Set B"):
        for rule in ("no pair asked twice", "a pair may be asked again"):
            assert f"{table}, {rule}." in prose
    assert prose.count("a start from earlier users has a lower ρ-regret than a start from nothing, by 1.00") >= 4
    assert prose.count("no difference in share of favourites found") == 8


def test_a_loss_of_favourites_is_told_beside_a_lower_regret(write_run: WriteRun) -> None:
    """The fault this stands for: a text of lower regret beside a table of fewer favourites found."""
    folder = write_run()
    file = folder / "results" / "history_differences.parquet"
    found = pd.read_parquet(file)
    share = found["measure"] == "found_share"
    found.loc[share, ["estimate", "lower", "upper"]] = [-0.4, -0.5, -0.3]
    found.to_parquet(file)
    assert "has a lower share of favourites found than a start from nothing, by 40.0 points" in _prose(folder)


def test_the_cause_is_told_in_numbers_and_the_papers_reading_on_real_data_only(write_run: WriteRun) -> None:
    prose = _prose(write_run())
    assert "on set A the favourite is level with another item for 13% of the users who start from earlier ones" in prose
    assert "The paper reads its Figure 17" in prose
    assert "The paper reads" not in _prose(write_run(simulated=True))


def test_differences_whose_interval_excludes_zero_are_marked(write_run: WriteRun) -> None:
    section = history_section(open_run(write_run()))
    means, differences = (block for block in section.blocks if isinstance(block, Table))
    assert len(means.rows) == 2 * len(differences.rows) == 24
    regret = next(row for row in differences.rows if row.cells[0] == "ρ-regret")
    assert regret.cells[1:] == ["−1.00†", "−1.00†", "−1.00†", "−1.00"]
