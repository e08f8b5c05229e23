"""PMR-Synth: texts are taken apart, levels become pairs, and what a patient wrote stays in the table."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data_adapters.catalogue import adapter
from data_adapters.codebooks.pmr import INBOX_FILES, TEXT_DIGESTS
from data_adapters.datasets import pmr
from data_adapters.simulators import pmr_wordings
from data_adapters.simulators.pmr_wordings import BY_ACTIONABILITY, CONDITIONS, RED_FLAGS
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.pairwise_table import PairwiseTable
from data_adapters.table.parquet import read_table, write_table
from models.records.errors import PrefstudyError
from tests.data_adapters.datasets.damaged.pmr import DAMAGED

PMR = adapter("pmr")
CANARY = "quetzalcoatlus"
TEXT = """### EHR: ###Demographics###
Age: 47
Gender: Female

###Full Active Problem List###:
Asthma - Pain in left knee - Vitamin B-12 deficiency
###Recent Encounters (Max 10)###

Diagnoses (Past Year): Headache
Diagnoses (Older):

###Medications (Outpatient)###

Active (Start Date Before Message, Not Yet Ended):
-albuterol 90 mcg inhaler
- carbidopa-levodopa 25-100 mg tablet
Recently Ended Within 30-Days of Message:
-amoxicillin 500 mg capsule

### Patient Message: Hello - my knee hurts.
### It is the left one. """


def inboxes(folder: Path, *boxes: list[tuple[str | None, int | None, int | None]]) -> Path:
    """Write inboxes from rows of text, level and relevancy."""
    folder.mkdir(exist_ok=True)
    for file, rows in zip(INBOX_FILES.values(), boxes, strict=True):
        texts, levels, relevancy = zip(*rows, strict=True)
        columns = {"text": pa.array(texts), "level": pa.array(levels), "relevancy": pa.array(relevancy)}
        pq.write_table(pa.table(columns), folder / file)
    return folder


def tables_of(folder: Path) -> tuple[PairwiseTable, ...]:
    return build(PMR, locate(PMR, folder, allow_unpinned=True))


def aged(*ages: int) -> list[str]:
    return [TEXT.replace("Age: 47", f"Age: {age}") for age in ages]


def rows(ages: list[int], levels: list[int]) -> list[tuple[str | None, int | None, int | None]]:
    return [(text, level, 2) for text, level in zip(aged(*ages), levels, strict=True)]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("pmr") / "raw"
    preference = simulate(PMR, folder, seed=3)
    return preference, build(PMR, locate(PMR, folder))


def test_a_text_is_taken_apart_into_record_and_message(tmp_path: Path):
    table, _ = tables_of(inboxes(tmp_path, [(TEXT, 1, 2)], [(aged(50)[0], 1, 2)]))
    assert table.items.to_pylist() == [
        {
            "item_id": "a-01",
            "problems": "Asthma\nPain in left knee\nVitamin B-12 deficiency",
            "diagnoses_past_year": "Headache",
            "diagnoses_older": "",
            "medications": "albuterol 90 mcg inhaler\ncarbidopa-levodopa 25-100 mg tablet",
            "medications_ended": "amoxicillin 500 mg capsule",
            "message": "Hello - my knee hurts.\n### It is the left one.",
            "age": 47.0,
            "gender": True,
            "active_problems": 3.0,
            "recent_diagnoses": 1.0,
            "older_diagnoses": 0.0,
            "active_medications": 2.0,
            "relevancy": 2.0,
        }
    ]


@pytest.mark.parametrize("age", ["47", "47 years", "47 years old"])
def test_an_age_may_name_its_unit(age: str, tmp_path: Path):
    table, _ = tables_of(inboxes(tmp_path, [(TEXT.replace("Age: 47", f"Age: {age}"), 1, 1)], [(aged(50)[0], 1, 1)]))
    assert table.items["age"].to_pylist() == [47.0]


def test_a_list_may_stand_on_several_lines(tmp_path: Path):
    text = TEXT.replace("Asthma - Pain in left knee", "- Asthma\n- Pain in left knee\n")
    table, _ = tables_of(inboxes(tmp_path, [(text, 1, 1)], [(aged(50)[0], 1, 1)]))
    assert table.items["problems"].to_pylist() == ["Asthma\nPain in left knee\nVitamin B-12 deficiency"]


def test_level_1_wins_and_ties_are_dropped_and_counted(tmp_path: Path):
    table, _ = tables_of(inboxes(tmp_path, rows([20, 21, 22, 23], [2, 1, 2, 6]), rows([30, 31], [1, 1])))
    pairs = [
        (row["left_id"], row["right_id"]) if row["left_wins"] else (row["right_id"], row["left_id"])
        for row in table.comparisons.to_pylist()
    ]
    assert set(pairs) == {("a-02", "a-01"), ("a-02", "a-03"), ("a-02", "a-04"), ("a-01", "a-04"), ("a-03", "a-04")}
    assert len(pairs) == 5
    dropped = {drop.reason: drop.rows for drop in table.manifest.dropped}
    assert dropped == {"rows without a text": 0, "both messages on the same level": 1}


def test_the_manifest_holds_the_number_of_pairs_against_the_papers(tmp_path: Path):
    table, _ = tables_of(inboxes(tmp_path, rows([20, 21, 22, 23], [2, 1, 2, 6]), rows([30, 31], [1, 1])))
    assert "5 of 6 pairs are not tied, where dt-pbo (section 4.2) counts 434" in table.manifest.quirks[0]
    assert "1 on level 1, 2 on level 2, 1 on level 6" in table.manifest.quirks[0]


def test_rows_without_a_text_are_dropped_and_counted_and_the_others_keep_their_numbers(tmp_path: Path):
    first, second = rows([20, 21], [1, 2])
    table, _ = tables_of(inboxes(tmp_path, [first, (None, None, None), ("  \n", 3, 1), second], rows([30], [1])))
    manifest = table.manifest
    assert table.items["item_id"].to_pylist() == ["a-01", "a-04"]
    assert manifest.dropped[0].rows == 2
    assert manifest.rows_read[INBOX_FILES["a"]] == manifest.rows["items"] + manifest.dropped[0].rows


def test_no_column_of_the_items_is_the_level(simulated):
    for table in simulated[1]:
        assert "level" not in [*table.items.column_names, *table.comparisons.column_names]


def test_supplied_texts_are_held_against_the_published_digests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    known = sha256(TEXT.encode()).hexdigest()[:12]
    monkeypatch.setattr(pmr, "TEXT_DIGESTS", {known})
    table_a, table_b = tables_of(inboxes(tmp_path, [(TEXT, 1, 1)], [(TEXT + "Yours", 1, 1), *rows([30], [1])]))
    assert table_a.manifest.unpinned
    assert table_a.manifest.quirks[1].endswith("all 1 are published texts, by their digests")
    assert table_b.manifest.quirks[1].endswith("2 of 2 are not published texts (rows 1, 2)")


def test_sixty_digests_of_twelve_hexadecimal_digits_are_known():
    assert len(TEXT_DIGESTS) == 60
    assert all(len(digest) == 12 and int(digest, 16) >= 0 for digest in TEXT_DIGESTS)


def test_real_texts_are_the_published_ones(real_raw: Path):
    if not (real_raw / "pmr" / "raw").is_dir():
        pytest.skip("PREFSTUDY_RAW has no inboxes of PMR-Synth")
    for table in build(PMR, locate(PMR, real_raw)):
        assert "all 30 are published texts" in table.manifest.quirks[1]


# ------------------------------------------------------------------------------------- what was planted


def test_two_simulated_messages_stand_as_the_rules_say_but_for_the_noise(tmp_path: Path):
    preference = simulate(PMR, tmp_path / "raw", seed=5, users=200)
    for table in build(PMR, locate(PMR, tmp_path / "raw")):
        agreement = []
        for row in table.comparisons.to_pylist():
            left, right = (
                [preference.hidden[row[side]][rule.feature] for rule in preference.types["clinician"]]
                for side in ("left_id", "right_id")
            )
            if left != right:
                agreement.append((left > right) == row["left_wins"])
        assert 0.97 < np.mean(agreement) < 1


def test_the_rules_leave_nothing_out_where_nothing_was_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("data_adapters.simulators.pmr.MOVED", 0.0)
    preference = simulate(PMR, tmp_path / "raw", seed=5)
    for table in build(PMR, locate(PMR, tmp_path / "raw")):
        assert table.comparisons.num_rows == 373
        for row in table.comparisons.to_pylist():
            left, right = (
                [preference.hidden[row[side]][rule.feature] for rule in preference.types["clinician"]]
                for side in ("left_id", "right_id")
            )
            assert left != right
            assert (left > right) == row["left_wins"]


def test_each_simulated_inbox_has_thirty_messages_on_six_levels_and_ties(simulated):
    for table in simulated[1]:
        assert table.items.num_rows == 30
        assert all(f"on level {level}" in table.manifest.quirks[0] for level in range(1, 7))
        assert table.manifest.dropped[1].rows > 0


def test_at_least_a_quarter_of_the_simulated_messages_paraphrase(simulated):
    preference, tables = simulated
    told = {name: complaint for topics in (RED_FLAGS, *BY_ACTIONABILITY) for name, complaint in topics.items()}
    for table in tables:
        paraphrased = []
        for row in table.items.to_pylist():
            complaint = told[preference.hidden[row["item_id"]]["complaint"]]
            uses = [any(part in row["message"] for part in parts(wording)) for wording in complaint.paraphrased]
            paraphrased.append(any(uses))
            assert any(uses) == preference.hidden[row["item_id"]]["paraphrased"]
        assert np.mean(paraphrased) >= 0.25


def parts(wording: str) -> list[str]:
    """The part of a wording that is in every message with it."""
    return [max(wording.split("{since}"), key=len)]


def test_a_record_adds_a_risk_exactly_where_the_plan_says_so(simulated):
    preference, tables = simulated
    for table in tables:
        for row in table.items.to_pylist():
            hidden = preference.hidden[row["item_id"]]
            if hidden["red_flag"]:
                risks = set(RED_FLAGS[hidden["complaint"]].risks) & set(row["problems"].split("\n"))
                assert bool(risks) == hidden["risk_in_record"]


def test_urgent_words_and_risky_records_stand_with_harmless_complaints_too(tmp_path: Path):
    preference = simulate(PMR, tmp_path / "raw", seed=5, users=200)
    table, _ = build(PMR, locate(PMR, tmp_path / "raw"))
    urgent = set(pmr_wordings.OPENERS["urgent"])
    flags = [preference.hidden[row]["red_flag"] for row in table.items["item_id"].to_pylist()]
    loud = [any(opener in message for opener in urgent) for message in table.items["message"].to_pylist()]
    risky = ["Heart failure" in problems for problems in table.items["problems"].to_pylist()]
    for told in (loud, risky):
        assert {(flag, bool(tells)) for flag, tells in zip(flags, told, strict=True)} == {
            (0, False), (0, True), (1, False), (1, True)
        }  # fmt: skip


def test_the_wordings_fit_their_lists():
    assert {risk for complaint in RED_FLAGS.values() for risk in complaint.risks} <= set(CONDITIONS)
    assert set(pmr_wordings.OF_LATER_LIFE) <= set(CONDITIONS)
    wordings = [
        wording
        for topics in (RED_FLAGS, *BY_ACTIONABILITY)
        for complaint in topics.values()
        for wording in (*complaint.plain, *complaint.paraphrased)
    ]
    assert len(set(wordings)) == len(wordings)
    assert all(wording.count("{since}") == 1 for name in RED_FLAGS.values() for wording in name.plain)


# ------------------------------------------------------------------------------- what nobody may read


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """Simulated inboxes in which every part of every text holds the same strange word."""
    folder = tmp_path / "canary"
    simulate(PMR, folder, seed=11, users=40)
    (folder / "SIMULATED.json").unlink()
    for file in INBOX_FILES.values():
        found = pq.read_table(folder / file)
        texts = [
            text.replace("### Patient Message: ", f"### Patient Message: {CANARY} ")
            .replace("Problem List###:\n", f"Problem List###:\n{CANARY} - ")
            .replace("Diagnoses (Older):", f"Diagnoses (Older): {CANARY} - ")
            .replace("Not Yet Ended):\n", f"Not Yet Ended):\n-{CANARY} 5 mg\n")
            for text in found["text"].to_pylist()
        ]
        pq.write_table(found.set_column(0, "text", pa.array(texts)), folder / file)
    return folder


def test_patient_text_is_in_the_table_and_not_in_manifest_or_file_metadata(
    canary: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    for table in tables_of(canary):
        folder = write_table(table, tmp_path / "out")
        assert CANARY in str(read_table(folder).items["message"].to_pylist())
        assert CANARY not in (folder / "manifest.json").read_text()
        assert CANARY not in str(pq.read_schema(folder / "items.parquet").metadata)
        assert CANARY.encode() not in (folder / "comparisons.parquet").read_bytes()
    assert CANARY not in caplog.text


DAMAGES_TO_A_TEXT = [
    lambda text: text.replace("Age:", f"Age: {CANARY}"),
    lambda text: text.replace("Gender:", f"Gender: {CANARY}"),
    lambda text: text.replace("###Full", f"###{CANARY}"),
    lambda text: text.replace("### EHR", f"### {CANARY}"),
    lambda text: text.replace("Diagnoses (Past", f"{CANARY} (Past"),
    lambda text: text.replace("\n-", f"\n{CANARY}"),
    lambda text: text.replace("### Patient", f"### {CANARY}"),
]


@pytest.mark.parametrize(
    "damage", [pytest.param(damage.edit, id=damage.what) for damage in DAMAGED if damage.file == INBOX_FILES["a"]]
)
def test_no_refusal_of_a_damaged_file_quotes_patient_text(damage: Callable[[bytes], bytes], canary: Path):
    path = canary / INBOX_FILES["a"]
    path.write_bytes(damage(path.read_bytes()))
    assert CANARY not in refusal(canary)


@pytest.mark.parametrize("change", DAMAGES_TO_A_TEXT)
def test_no_refusal_of_a_text_quotes_it(change: Callable[[str], str], tmp_path: Path):
    texts = [change(TEXT.replace("knee", CANARY))]
    assert CANARY not in refusal(inboxes(tmp_path, [(texts[0], 1, 1)], rows([30], [1])))


def refusal(folder: Path) -> str:
    """All that a traceback would show of the refusals, with and without asking for the published files."""
    shown = []
    for allow_unpinned in (True, False):
        with pytest.raises(PrefstudyError) as refused:
            build(PMR, locate(PMR, folder, allow_unpinned=allow_unpinned))
        shown += traceback.format_exception(refused.value)
        assert refused.value.__cause__ is None
    return "".join(shown)
