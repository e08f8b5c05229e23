"""The PMR study from raw files to report: the content of a run, its resumption, and patients' texts stay private."""

from __future__ import annotations

import html
import json
import logging
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from prefect.client.orchestration import get_client
from prefect.settings import get_current_settings

from data_adapters.catalogue import adapter
from data_adapters.codebooks.pmr import INBOX_FILES
from data_adapters.files.digest import sha256_of
from data_adapters.source.simulation import SIMULATED, simulate
from flows.cli.main import main
from flows.studies.pmr import DEMO, PmrConfig, pmr_study
from models.records.published import beside_published
from models.records.results import MetricRow
from models.records.run_record import RunRecord
from models.records.studies.message_results import PLAIN_VARIANTS
from prompts.engine import EngineError, Reply, Request
from prompts.engines.replay import ReplaySettings
from prompts.engines.rules import Rules
from prompts.engines.server import ServerSettings
from prompts.ledger import Ledger
from prompts.ledger_entry import LedgerError, read_export
from reports.page.blocks import Page
from reports.page.finished_run import open_run
from reports.page.html import to_html
from reports.page.render import render
from reports.studies.pmr import page
from tasks.messages.ranking_results import PUBLISHED, PUBLISHED_MODEL, write_comparability, write_feature_worth
from tasks.messages.settings import LoopSettings
from tasks.runs.results import METRICS, write_metrics

OF_TREES = {"What was found", "The tree", "The inbox, ranked", "The whole tree"}
CANARIES = ("quetzalcoatlus", "pterodaustro")

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> PmrConfig:
    """Keyword rules on inboxes whose texts hold two words that must not appear anywhere else."""
    raw = tmp_path_factory.mktemp("canary") / "pmr"
    simulate(adapter("pmr"), raw, seed=0)
    for file in INBOX_FILES.values():
        table = pq.read_table(raw / file)
        texts = [
            text.replace("### Patient Message: ", f"### Patient Message: {CANARIES[0]} says so. ")
            for text in table["text"].to_pylist()
        ]
        texts = [
            text.replace(
                "###Full Active Problem List###:\n", f"###Full Active Problem List###:\n{CANARIES[1]} disease - "
            )
            for text in texts
        ]
        pq.write_table(table.set_column(0, "text", pa.array(texts)), raw / file)
    record = json.loads((raw / SIMULATED).read_text())
    record["files"] = {file: sha256_of(raw / file) for file in INBOX_FILES.values()}
    (raw / SIMULATED).write_text(json.dumps(record))
    out = tmp_path_factory.mktemp("runs")
    return DEMO.model_copy(
        update={"simulated": False, "raw": raw, "out": out, "chunk_size": 100, "loop": LoopSettings(rounds=3)}
    )


class Parrot(Rules):
    """An engine that repeats patients' texts wherever an answer allows it."""

    def reply(self, requests: Sequence[Request]) -> list[Reply]:
        return [self._repeat(request) or super(Parrot, self).reply([request])[0] for request in requests]

    def _repeat(self, request: Request) -> Reply | None:
        if request.template == "why_chosen":
            words = request.filled["preferred"].message[:200]
            text = json.dumps({"decisive_difference": words, "reasoning": words})
            return Reply(text=text, finish_reason="stop")
        if request.template == "propose_feature" and not request.filled["refused"]:
            words = request.filled["reasons"][0].reasoning[:150]
            proposal = {"name": "it_says", "kind": "binary", "instruction": f"Does it say {words}?", "values": []}
            return Reply(text=json.dumps({**proposal, "minimum": None, "maximum": None}), finish_reason="stop")
        return None


@pytest.fixture(scope="module")
def logged() -> list[str]:
    return []


@pytest.fixture(scope="module")
def run_dir(config: PmrConfig, prefect_server: None, logged: list[str]) -> Path:
    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            logged.append(self.format(record))

    listener = Listener(logging.DEBUG)
    root = logging.getLogger()
    before = root.level
    root.addHandler(listener)
    root.setLevel(logging.DEBUG)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("prompts.engines.start.Rules", Parrot)
        try:
            return pmr_study(config)
        finally:
            root.removeHandler(listener)
            root.setLevel(before)


def metrics(run_dir: Path) -> tuple[MetricRow, ...]:
    return METRICS.validate_json((run_dir / "results" / "metrics.json").read_bytes())


def words(run_dir: Path) -> str:
    page = re.sub(r"(?s)<style>.*?</style>|<svg.*?</svg>", " ", (run_dir / "report.html").read_text("utf-8"))
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)))


def check_same_results(one: Path, other: Path) -> None:
    names = sorted(path.name for path in (one / "results").iterdir())
    assert names == sorted(path.name for path in (other / "results").iterdir())
    for name in names:
        assert (one / "results" / name).read_bytes() == (other / "results" / name).read_bytes(), name


def test_the_run_folder_holds_everything_and_the_ledger_lies_beside_it(run_dir: Path, config: PmrConfig) -> None:
    assert {path.name for path in (run_dir / "results").iterdir()} == {
        "comparability.json", "beside_plain.json", "chosen_single.json",
        "data_cards.json", "metrics.json", "conversation.json", "search.json", "features.json", "tree.json",
        "feature_worth.json",
        "readable_tree.json", "ranking.parquet", "feature_values.parquet", "extraction_accuracy.parquet",
    }  # fmt: skip
    record = RunRecord.model_validate_json((run_dir / "run.json").read_bytes())
    assert PmrConfig.model_validate(record.config) == config
    assert record.simulated
    assert [manifest.name for manifest in record.data] == ["pmr_inbox_a", "pmr_inbox_b"]
    assert {time.template for time in record.answers} == {
        "extract_feature",
        "why_chosen",
        "propose_feature",
        "more_urgent",
    }
    with Ledger(config.out / "pmr" / "ledger.sqlite", must_exist=True) as ledger:
        assert ledger.verify() == []


def test_what_patients_wrote_stands_in_the_ledger_and_nowhere_else(
    run_dir: Path, config: PmrConfig, logged: list[str]
) -> None:
    kept = b"".join(path.read_bytes() for path in config.out.glob("pmr/ledger.sqlite*"))
    settings = get_current_settings()
    url = settings.server.database.connection_url
    assert url is not None
    database = Path(url.get_secret_value().partition("///")[2])
    assert database.is_file()
    parquet = [pd.read_parquet(path).to_csv() for path in (run_dir / "results").glob("*.parquet")]
    files = [path for path in run_dir.rglob("*") if path.is_file()]
    prefect = [path for path in database.parent.rglob("*") if path.is_file()]
    assert len(files) > 10
    for canary in CANARIES:
        assert canary.encode() in kept
        assert canary not in "\n".join(logged).lower()
        assert canary not in "\n".join(parquet).lower()
        for path in [*files, *prefect]:
            assert canary.encode() not in path.read_bytes().lower(), path.name


def test_the_proposal_that_quoted_a_patient_is_withheld(run_dir: Path) -> None:
    first = json.loads((run_dir / "results" / "search.json").read_text())["rounds"][0]
    assert (first["proposal"], first["verdict"]) == (None, "refused")
    assert first["reason"] == "quotes a patient; the proposal is withheld"


def test_metrics_cover_tree_judge_and_every_feature_left_out(run_dir: Path) -> None:
    rows = metrics(run_dir)
    features = [each["spec"]["name"] for each in json.loads((run_dir / "results" / "features.json").read_text())]
    assert {row.variant for row in rows} == {"all_features", "readable", "both_orders", *PLAIN_VARIANTS, *features}
    for model, variant in (("preference_tree", "all_features"), ("llm_judge", "both_orders")):
        for split in ("train", "test"):
            assert {"accuracy", "strict_accuracy", "decided_share"} <= {
                row.metric for row in rows if (row.model, row.variant, row.split) == (model, variant, split)
            }
    assert all(row.published is None for row in rows)
    [tau] = [row.value for row in rows if (row.metric, row.split) == ("rank_correlation", "test")]
    assert tau is not None
    assert 0.5 < tau <= 1


def test_both_inboxes_are_ranked_with_the_way_through_the_tree_as_reason(run_dir: Path) -> None:
    ranking = pd.read_parquet(run_dir / "results" / "ranking.parquet")
    assert ranking.groupby("split")["item_id"].nunique().to_dict() == {"train": 30, "test": 30}
    test = ranking[ranking["split"] == "test"]
    assert test["utility"].is_monotonic_decreasing
    assert test["rank"].iloc[0] == 1
    assert test["reason"].str.contains("message_actionability: ").all()


def test_the_report_says_what_it_is_and_what_it_is_not(run_dir: Path) -> None:
    said = words(run_dir)
    assert "Research use only. Not a medical device." in said
    assert said.count("SIMULATED DATA") >= 1
    assert "KEYWORD RULES, NO LANGUAGE MODEL" in said
    assert (
        "What was published is not comparable: the messages are simulated; the published values are Qwen3.5-27B’s"
        in said
    )
    assert "quotes a patient; the proposal is withheld" in said
    assert "INBOX_B as the tree ranks it" in said


def edited(run_dir: Path, folder: Path, name: str, edit: Callable[[Any], Any]) -> Page:
    """The page of a copy of the run in which one file of results is another."""
    shutil.copytree(run_dir, folder)
    (folder / "results" / name).write_text(json.dumps(edit(json.loads((run_dir / "results" / name).read_text()))))
    return page(open_run(folder))


def test_the_report_opens_with_the_share_of_questions_without_an_answer(run_dir: Path, tmp_path: Path) -> None:
    def mostly_missing(found: Any) -> Any:
        found["templates"][0] |= {"template": "extract_feature", "requests": 1_000, "missing": 400}
        return found | {"unreliable": ["extract_feature"]}

    first, *_ = edited(run_dir, tmp_path / "run", "conversation.json", mostly_missing).answer.sentences
    assert first.startswith("Of the 1,000 requests to read one feature of one patient, 400 are without a usable answer")
    assert first.endswith("do not rely on what follows.")


def test_the_report_opens_with_features_that_are_constant(run_dir: Path, tmp_path: Path) -> None:
    def one(features: Any) -> Any:
        return [{**each, "constant": at == 0} for at, each in enumerate(features)]

    found = edited(run_dir, tmp_path / "run", "features.json", one)
    assert found.answer.sentences[0].startswith("The same value in all messages: ")
    assert {section.heading for section in found.sections} > OF_TREES


def test_where_all_features_are_constant_the_report_shows_no_tree(run_dir: Path, tmp_path: Path) -> None:
    def every(features: Any) -> Any:
        return [{**each, "constant": True} for each in features]

    found = edited(run_dir, tmp_path / "run", "features.json", every)
    assert found.answer.sentences[0].startswith("Every feature has the same value in all messages")
    assert not found.answer.numbers
    assert not OF_TREES & {section.heading for section in found.sections}
    assert to_html(found)


@pytest.mark.usefixtures("no_report")
def test_a_second_run_asks_nothing_again_and_finds_the_same_to_the_byte(config: PmrConfig, run_dir: Path) -> None:
    class Mute(Parrot):
        def reply(self, requests: Sequence[Request]) -> list[Reply]:
            raise AssertionError(f"{len(requests)} recorded requests were asked again")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("prompts.engines.start.Rules", Mute)
        check_same_results(pmr_study(config), run_dir)


def test_a_run_on_the_ledger_alone_finds_the_same_to_the_byte(config: PmrConfig, run_dir: Path, tmp_path: Path) -> None:
    with Ledger(config.answers) as ledger:
        ledger.export(tmp_path / "answers.jsonl")
    with Ledger(tmp_path / "elsewhere.sqlite") as other:
        other.import_from(read_export(tmp_path / "answers.jsonl"))
    elsewhere = {"engine": ReplaySettings(), "ledger": tmp_path / "elsewhere.sqlite", "out": tmp_path}
    again = pmr_study(config.model_copy(update=elsewhere))
    check_same_results(again, run_dir)
    assert "recorded answers, replayed" in words(again)
    with pytest.raises(EngineError, match="has no answer of keyword rules"):
        pmr_study(config.model_copy(update={**elsewhere, "features": "table9"}))
    with pytest.raises(LedgerError, match=r"nowhere\.sqlite: there is no ledger"):
        pmr_study(config.model_copy(update={**elsewhere, "ledger": tmp_path / "nowhere.sqlite"}))
    assert not (tmp_path / "nowhere.sqlite").exists()


@pytest.mark.usefixtures("no_report")
def test_a_run_killed_midway_leaves_no_folder_and_its_answers_and_ends_the_same(
    config: PmrConfig, run_dir: Path, tmp_path: Path
) -> None:
    class Dies(Parrot):
        chunks = 4

        def reply(self, requests: Sequence[Request]) -> list[Reply]:
            Dies.chunks -= 1
            if Dies.chunks < 0:
                raise KeyboardInterrupt
            return super().reply(requests)

    config = config.model_copy(update={"out": tmp_path})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("prompts.engines.start.Rules", Dies)
        with pytest.raises(BaseException, match=r"^$|crash|interrupt"):
            pmr_study(config)
    assert [path.name for path in (tmp_path / "pmr").iterdir() if not path.name.startswith("ledger")] == ["failed"]
    with Ledger(config.answers, must_exist=True) as ledger:
        kept = len(ledger)
        assert kept > 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("prompts.engines.start.Rules", Parrot)
        check_same_results(pmr_study(config), run_dir)


def test_a_server_that_is_not_there_fails_in_one_line_without_a_run_folder(config: PmrConfig, tmp_path: Path) -> None:
    away = ServerSettings(url="http://127.0.0.1:9/v1")
    with pytest.raises(EngineError, match="does not answer") as found:
        pmr_study(config.model_copy(update={"engine": away, "out": tmp_path}))
    assert "\n" not in str(found.value)
    assert [path.name for path in (tmp_path / "pmr").iterdir() if path.is_dir()] == ["failed"]


def test_the_command_line_runs_the_published_features_by_keyword(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = ["--engine", "rules", "--features", "table9", "--set", "judge=false", "--set", "patients=12"]
    assert main(["run", "pmr", "--simulated", *settings]) == 0
    [run] = (tmp_path / "runs" / "pmr").glob("2*")
    said = words(run)
    assert "The features were given; none was proposed." in said
    assert "Asked directly" not in said
    assert {row.variant for row in metrics(run)} >= {"red_flag_syndrome", "symptom_trajectory"}
    assert main(["ledger", "show"]) == 0
    assert "keyword rules, revision" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--engine", "oracle"], "does not match any of the expected tags: 'vllm', 'server', 'rules', 'replay'"),
        (["--engine", "server"], "engine.url: address of the server"),
        (
            ["--engine", "server", "--set", "engine.url=gpu-box"],
            "engine.url = gpu-box: expected a valid http:// or",
        ),
        (["--engine", "server", "--set", "engine.url=ftp://gpu-box"], "expected a valid http:// or https:// address"),
        (["--set", "engine.modle=x"], "engine.modle: there is no such setting. Did you mean model?"),
        (
            ["--engine", "rules", "--set", "engine.url=x"],
            "engine.url: there is no such setting.\n    There are: kind\n",
        ),
        (["--engine", "rules", "--features", "none.toml"], "none.toml: the features cannot be read"),
    ],
)
def test_an_engine_or_features_that_cannot_be_are_refused_before_the_study_starts(
    arguments: list[str],
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "pmr", "--simulated", *arguments]) == 2
    told = capsys.readouterr().err
    assert complaint in told
    assert "Study pmr" not in told


def test_the_metrics_are_kept_as_an_artifact_without_a_text(run_dir: Path) -> None:
    with get_client(sync_client=True) as client:
        artifacts = {artifact.key: str(artifact.data) for artifact in client.read_artifacts()}
    assert "rank_correlation" in artifacts["pmr-metrics"]


def test_answers_of_the_papers_model_on_the_real_inboxes_stand_beside_what_was_published(
    run_dir: Path, tmp_path: Path
) -> None:
    """A finished run edited to look like one of that model on real inboxes; neither is available to tests."""
    copy = tmp_path / "run"
    shutil.copytree(run_dir, copy)
    record = json.loads((copy / "run.json").read_text())
    for manifest in record["data"]:
        manifest["simulated"] = False
    (copy / "run.json").write_text(json.dumps(record))
    asked = json.loads((copy / "results" / "conversation.json").read_text())
    (copy / "results" / "conversation.json").write_text(json.dumps({**asked, "model": PUBLISHED_MODEL}))
    write_comparability(copy / "results", RunRecord.model_validate(record).data, PUBLISHED_MODEL)
    rows = beside_published(metrics(copy), PUBLISHED)
    write_metrics(copy / "results" / "metrics.json", rows)
    features = [each["spec"]["name"] for each in json.loads((copy / "results" / "features.json").read_text())]
    write_feature_worth(copy / "results", rows, features)
    render(copy)
    said = words(copy)
    assert "Published beside found" in said
    assert "not comparable" not in said
    assert "0.699" in said
    assert "dt-pbo, Table 10" in said
    assert "−17.6" in said
    assert "0.323 ± 0.05 s" in said
    assert "KEYWORD RULES" not in said
