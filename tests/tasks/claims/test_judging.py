"""Claims judged by made-up runs: each status is earned by the numbers of the run, and by nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from models.records.published import Published
from models.records.results import MetricRow
from models.records.studies.claims import ClaimResult
from models.records.studies.message_results import Comparability
from models.shap.findings import Finding
from reports.page.finished_run import FinishedRun
from tasks.claims.declared import Claim, Judged, NotTestable, Number, Order, Pair, Place, Rows, StudyClaims, number
from tasks.claims.judging import judge_claim
from tests.tasks.claims.made_up import made_up_manifest, made_up_record, made_up_verdict

DISCARDED = Place(model="preference_tree", variant="straddlers_discarded")
KEPT = DISCARDED.but(variant="straddlers_kept", protocol="straddlers kept")
ASKED = DISCARDED.but(variant="tree_top_leaf", metric="rho_regret", split="asked", at=9)


def row(place: Place, value: float | None, sd: float | None = 0.1, n: int | None = 100) -> MetricRow:
    fields = {name: getattr(place, name) for name in ("model", "variant", "metric", "split", "at")}
    return MetricRow(study="tea", value=value, sd=sd, n=n, **fields)


class Runs:
    """Makes a run of the study `tea` from its metrics and other results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "tea" / "20260101T000000Z-00000000"
        (self.folder / "results").mkdir(parents=True)

    def __call__(self, *rows: MetricRow, **record: Any) -> FinishedRun:
        return FinishedRun(self.folder, made_up_record("tea", **record), rows)

    def table(self, name: str, columns: dict[str, Any]) -> None:
        pd.DataFrame(columns).to_parquet(self.folder / "results" / f"{name}.parquet")

    def json(self, name: str, document: Any) -> None:
        (self.folder / "results" / f"{name}.json").write_text(json.dumps(document), "utf-8")


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def judged(test: Any, run: FinishedRun | None, **of: Any) -> ClaimResult:
    claim = Claim(name="strong", source="a paper, Table 1", words="Tea is strong.", test=test)
    return judge_claim(claim, StudyClaims(study="tea", claims=(claim,), **of), run)


def of_value(value: float, *places: Place, decimals: int = 3) -> Number:
    return Number(value=value, decimals=decimals, places=places or (DISCARDED, KEPT))


def test_a_number_is_reproduced_if_its_interval_contains_the_published_one(runs: Runs) -> None:
    found = judged(of_value(0.870), runs(row(DISCARDED, 0.86)))
    assert (found.status, found.reason, found.found, found.over) == ("reproduced", "", 0.86, "other users")
    assert (found.lower, found.upper) == (pytest.approx(0.8404, abs=1e-3), pytest.approx(0.8796, abs=1e-3))
    assert judged(of_value(0.888), runs(row(DISCARDED, 0.86))).status == "not_reproduced"


def test_the_interval_is_widened_by_the_rounding_of_the_published_number_and_by_no_more(runs: Runs) -> None:
    run = runs(row(DISCARDED, 0.854, sd=1e-9))
    assert judged(of_value(0.85, decimals=2), run).status == "reproduced"
    assert judged(of_value(0.850, decimals=3), run).status == "not_reproduced"


def test_a_number_without_an_interval_must_round_to_the_published_one(runs: Runs) -> None:
    run = runs(row(DISCARDED, 0.8704, sd=None))
    assert judged(of_value(0.870), run).status == "reproduced"
    far = judged(of_value(0.880), run)
    assert (far.status, far.reason, far.lower, far.over) == ("not_reproduced", "no interval is known", None, "")


def test_another_protocol_is_named_only_where_the_papers_own_fails(runs: Runs) -> None:
    both = runs(row(DISCARDED, 0.80), row(KEPT, 0.888))
    other = judged(of_value(0.888), both)
    assert (other.status, other.reason, other.found) == ("another_protocol", "straddlers kept", 0.888)
    own = judged(of_value(0.888), runs(row(DISCARDED, 0.885), row(KEPT, 0.888)))
    assert (own.status, own.found) == ("reproduced", 0.885)
    neither = judged(of_value(0.95), both)
    assert (neither.status, neither.found) == ("not_reproduced", 0.80)


def test_a_run_with_other_settings_than_the_papers_is_another_protocol(runs: Runs) -> None:
    run = runs(row(DISCARDED, 0.86), config={"users": 300})
    found = judged(of_value(0.87), run, settings={"users": None})
    assert (found.status, found.reason) == ("another_protocol", "users = 300")
    failed = judged(of_value(0.99), run, settings={"users": None})
    assert (failed.status, failed.reason) == ("not_reproduced", "users = 300")
    assert judged(of_value(0.87), run, settings={"users": 300}).status == "reproduced"


def test_simulated_data_reproduce_nothing_unless_the_paper_simulated_them(runs: Runs) -> None:
    run = runs(row(DISCARDED, 0.888), data=(made_up_manifest(simulated=True),))
    found = judged(of_value(0.888), run)
    assert (found.status, found.reason, found.found) == ("not_testable", "the data of the run is simulated", None)
    assert judged(of_value(0.888), run, simulated=True).status == "reproduced"


def test_other_files_and_the_answers_of_another_model_are_compared_with_nothing(runs: Runs) -> None:
    other_files = runs(row(DISCARDED, 0.888), data=(made_up_manifest(unpinned=True),))
    assert judged(of_value(0.888), other_files).reason == "the files are not the published ones"
    runs.json("comparability", Comparability(obstacles=("other_model",)).model_dump())
    found = judged(of_value(0.888), runs(row(DISCARDED, 0.888)))
    assert found.status == "not_testable"
    assert found.reason == "another language model answered than in the paper"


def test_a_study_without_a_run_and_a_number_that_was_not_measured_are_not_run(runs: Runs) -> None:
    assert judged(of_value(0.888), None).status == "not_run"
    found = judged(of_value(0.888), runs())
    assert (found.status, found.reason) == ("not_run", "the latest run did not measure it")


def test_what_nothing_can_decide_says_why_with_and_without_a_run(runs: Runs) -> None:
    for run in (None, runs()):
        found = judged(NotTestable(reason="the data is lost"), run)
        assert (found.status, found.reason, found.tested, found.run) == ("not_testable", "the data is lost", "", None)


def test_the_number_of_rows_must_be_the_same(runs: Runs) -> None:
    run = runs(data=(made_up_manifest(rows={"items": 35}),), config={"folds": 10})
    assert judged(Rows(part="items", value=35), run, settings={"folds": None}).status == "reproduced"
    assert judged(Rows(part="items", value=36), run).status == "not_reproduced"
    assert judged(Rows(part="users", value=35), run).status == "not_run"


@pytest.mark.parametrize(
    ("second", "status", "reason"),
    [
        (2.0, "reproduced", ""),
        (1.0, "not_reproduced", "the opposite is shown"),
        (1.52, "not_reproduced", "the interval allows both"),
    ],
)
def test_an_order_is_reproduced_only_by_the_whole_interval_of_the_difference(
    runs: Runs, second: float, status: str, reason: str
) -> None:
    gp = ASKED.but(model="preference_gp", variant="gp_qeubo")
    run = runs(row(ASKED, 1.5, sd=1.0, n=400), row(gp, second, sd=1.0, n=400))
    found = judged(Order(pairs=(Pair(first=ASKED, second=gp),), side="below"), run)
    assert (found.status, found.reason) == (status, reason)


def test_an_order_without_an_interval_is_not_decided(runs: Runs) -> None:
    run = runs(row(DISCARDED, 0.9, sd=None), row(KEPT, 0.1, sd=None))
    found = judged(Order(pairs=(Pair(first=DISCARDED, second=KEPT),), side="above"), run)
    assert (found.status, found.reason) == ("not_reproduced", "no interval is known")
    assert found.found == pytest.approx(0.8)


def test_two_numbers_are_alike_only_if_the_whole_interval_lies_within_the_bound(runs: Runs) -> None:
    other = ASKED.but(variant="other")
    order = Order(pairs=(Pair(first=ASKED, second=other),), side="within", bound=0.1)
    narrow = runs(row(ASKED, 1.5, sd=0.1), row(other, 1.51, sd=0.1))
    assert judged(order, narrow).status == "reproduced"
    wide = judged(order, runs(row(ASKED, 1.5, sd=1), row(other, 1.51, sd=1)))
    assert (wide.status, wide.reason) == ("not_reproduced", "the interval allows both")
    assert judged(order, runs(row(ASKED, 1.5), row(other, 2.5))).reason == "the opposite is shown"


def test_users_are_paired(runs: Runs) -> None:
    """Alone, the spread over users hides the difference; each user's own difference shows it."""
    users = [f"u{at}" for at in range(20)]
    discarded = [at / 20 for at in range(20)]
    runs.table(
        "users",
        {
            "user_id": users * 2,
            "variant": ["straddlers_discarded"] * 20 + ["straddlers_kept"] * 20,
            "test_accuracy": discarded + [value + 0.05 + 0.001 * (at % 2) for at, value in enumerate(discarded)],
        },
    )
    found = judged(Order(pairs=(Pair(first=DISCARDED, second=KEPT.but(protocol="")),), side="below"), runs())
    assert (found.status, found.found) == ("reproduced", pytest.approx(-0.0505))
    assert found.upper == pytest.approx(-0.0503, abs=1e-3)


def test_an_interval_that_the_run_itself_tells_comes_first(runs: Runs) -> None:
    told = row(DISCARDED, 0.80).model_copy(update={"lower": 0.7, "upper": 0.9, "over": "other patients"})
    found = judged(of_value(0.888), runs(told))
    assert (found.status, found.lower, found.upper, found.over) == ("reproduced", 0.7, 0.9, "other patients")


def test_runs_of_one_data_set_are_not_independent(runs: Runs) -> None:
    """Five splits that agree closely still leave the error of having tested a tenth of one data set."""
    auc = [0.90, 0.91, 0.92, 0.91, 0.90]
    runs.table("runs", {"run": range(5), "variant": "split_first", "model": "gpm", "auc": auc})
    run = runs(config={"test_share": 0.1, "validation_share": 0.1, "folds": None})
    found = judged(of_value(0.92, Place(model="gpm", variant="split_first", metric="auc"), decimals=2), run)
    assert found.over == "other matches among the same items"
    sd = pd.Series(auc).std()
    assert found.upper is not None
    assert found.lower is not None
    assert (found.upper - found.lower) / 2 == pytest.approx(2.776 * sd * (1 / 5 + 1 / 8) ** 0.5, rel=1e-3)
    folds = judged(of_value(0.92, Place(model="gpm", variant="split_first", metric="auc")), runs(config={"folds": 10}))
    assert folds.upper is not None
    assert folds.upper - 0.908 == pytest.approx(2.776 * sd * (1 / 5 + 10 / 9) ** 0.5, rel=1e-3)


def test_a_way_of_asking_that_is_no_curve_of_the_paper_is_found_in_the_table_of_all(runs: Runs) -> None:
    measures = {"rho_regret": [0.8], "top1_error": [0.5], "found_share": [0.9], "rho_regret_sd": [1.0]}
    runs.table("active_learning", {"way": ["never_twice"], "question": [9], "users": [400], **measures})
    never = ASKED.but(variant="never_twice", protocol="no pair is asked twice")
    run = runs(row(ASKED, 2.0, sd=1.0, n=400))
    found = judged(Order(pairs=(Pair(first=ASKED), Pair(first=never)), side="below", bound=1.0), run)
    assert (found.status, found.reason, found.found) == ("another_protocol", "no pair is asked twice", 0.8)
    share = judged(of_value(0.9, never.but(metric="found_share", protocol=""), decimals=1), run)
    assert (share.lower, share.upper) == (pytest.approx(0.8706, abs=1e-3), pytest.approx(0.9294, abs=1e-3))


FINDING = Finding(
    name="speed", source="a paper", claim="Speed matters.", explained="all", statistic="importance_share",
    players=("speed",), threshold=0.2,
)  # fmt: skip


@pytest.mark.parametrize(
    ("value", "lower", "upper", "status", "reason"),
    [
        (0.4, 0.3, 0.5, "reproduced", ""),
        (0.1, 0.05, 0.15, "not_reproduced", "the opposite is shown"),
        (0.25, 0.1, 0.4, "not_reproduced", "the interval allows both"),
    ],
)
def test_a_finding_has_the_verdict_of_its_run_whatever_its_words(
    runs: Runs, value: float, lower: float, upper: float, status: str, reason: str
) -> None:
    verdict = made_up_verdict(FINDING.model_copy(update={"claim": "It is speed."}), value, lower, upper)
    runs.json("findings", [verdict.model_dump(mode="json")])
    found = judged(Judged(finding=FINDING), runs())
    assert (found.status, found.reason, found.found, found.lower) == (status, reason, value, lower)


def test_a_finding_whose_interval_is_not_calibrated_is_not_said_to_have_none(runs: Runs) -> None:
    finding = FINDING.model_copy(update={"model": "upm", "statistic": "importance_ratio"})
    runs.json("findings", [made_up_verdict(finding, 0.4, 0.3, 0.5).model_dump(mode="json")])
    found = judged(Judged(finding=finding), runs())
    assert (found.status, found.lower) == ("not_reproduced", 0.3)
    assert found.reason == "its interval is not calibrated, so that nothing follows"


def test_a_finding_with_another_threshold_is_another_finding(runs: Runs) -> None:
    other = made_up_verdict(FINDING.model_copy(update={"threshold": 0.1}), 0.4, 0.3, 0.5)
    runs.json("findings", [other.model_dump(mode="json")])
    assert judged(Judged(finding=FINDING), runs()).status == "not_run"
    (runs.folder / "results" / "findings.json").unlink()
    assert judged(Judged(finding=FINDING), runs()).status == "not_run"


def test_a_published_constant_is_the_claims_data() -> None:
    published = Published(model="preference_tree", value=0.888, source="a paper, Table 1")
    claim = number("n", published, "Trees predict 0.888.", DISCARDED, decimals=3)
    assert (claim.source, claim.test.value) == (published.source, published.value)  # type: ignore[union-attr]
