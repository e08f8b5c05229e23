"""The table of calibration is what the benchmark counts, and what it shows is good enough for its verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.shap.findings import NOT_CALIBRATED
from tasks.duels.published_findings import SYNTHETIC
from tests.benchmarks.calibration import FEWEST, MOST_WRONG, SHAPES, WANTED, Line, as_table, document, lines_of
from tests.benchmarks.shapes.told import Group, Told

WITHHELD = {
    f"{finding.statistic}: {finding.name}"
    for finding in SYNTHETIC.findings
    if (finding.model, finding.statistic) in NOT_CALIBRATED
}
"""Findings of the synthetic study that no verdict is given on."""
PAGE = Path(__file__).parents[1] / "docs" / "calibration.md"


def told(lower: float | None, upper: float | None, over: str = "other users") -> list[Told]:
    return [Told("share", over, lower, upper, 0.0)]


def test_an_interval_is_counted_by_the_truth_over_what_it_says_it_is_over():
    same = "other matches among the same items"
    groups = [
        Group([told(-0.5, 0.5), told(0.2, None, same)], [{"share": (0.0, 1.0)}]),
        Group([told(0.3, 0.5), told(0.2, 0.9, same)], [{"share": (1.0, 1.0)}, {"share": (3.0, 3.0)}]),
    ]
    users, matches = lines_of("inbox", groups)
    # everywhere 4 / 5; among the items of the first group 0, of the second 1
    assert (users.sets, users.truth, users.cover, users.wrong) == (2, pytest.approx(0.8), 0.0, 0.0)
    assert (matches.cover, matches.wrong) == (0.0, 0.5), "above 0 is wrong in the first group, where the truth is 0"


def test_the_page_names_what_covers_too_little_or_is_wrong_too_often():
    line = Line("inbox", "accuracy", "other patients", 200, 0.85, 0.2, 0.7, 0.06)
    page = document([line])
    assert "Below 90%, so shown without a verdict:\n\n- inbox, accuracy (over other patients): 85.0%\n" in page
    assert "in more than 5%:\n\n- inbox, accuracy (over other patients): 6.0%\n" in page
    assert as_table([line]).splitlines()[-1] == (
        "| inbox | accuracy | other patients | 200 | 0.7 | 85.0% | 0.2 | 6.0% |"
    )


def test_every_shape_is_in_the_documentation_and_what_was_measured_fully_covers_there():
    rows = [line.strip("| ").split(" | ") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    table = [row for row in rows if row[0] != "shape"]
    assert {row[0] for row in table} == set(SHAPES)
    whole = [row for row in table if int(row[3]) >= WANTED]
    assert len(whole) >= 28
    assert {row[1] for row in whole if float(row[5].rstrip("%")) < 100 * FEWEST} == WITHHELD
    assert max(float(row[7].rstrip("% |")) for row in whole if len(row) > 7 and row[7].strip(" |")) <= 100 * MOST_WRONG
