"""All studies in one command: a failing study stops no other, and one index covers the finished runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from prefect.client.orchestration import get_client

from flows.cli import studies
from flows.cli.execution import Planned, run_studies, run_study
from flows.cli.main import main
from flows.cli.studies import Study
from models.records.errors import RawDataError, ServerError
from tasks.runs.study import StudyConfig


@pytest.fixture(autouse=True)
def empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFSTUDY_RAW", raising=False)
    monkeypatch.setenv("PREFSTUDY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)


def planned(name: str, flow: Callable[[StudyConfig], Path], *, simulated: bool = True) -> Planned:
    config = StudyConfig(simulated=simulated)
    return Planned(Study(name, flow, StudyConfig, config), config)


def test_no_study_stops_the_others_and_where_none_ran_there_is_no_index(
    prefect_server: None, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = []

    def cut_off(config: StudyConfig) -> Path:
        begun.append("bela")
        raise RawDataError("choices.csv, line 8: expected 9 columns [A..I], found 4.\nFetch it again.")

    def broken(config: StudyConfig) -> Path:
        begun.append("conjoint")
        raise ZeroDivisionError("division by zero")

    def never(config: StudyConfig) -> Path:
        raise AssertionError("run without data")

    chosen = [planned("bela", cut_off), planned("conjoint", broken), planned("sushi", never, simulated=False)]
    with pytest.raises(typer.Exit) as end:
        run_studies(chosen, Path("runs"))
    assert end.value.exit_code == 1
    assert begun == ["bela", "conjoint"]
    out, err = capsys.readouterr()
    assert "Study bela failed. choices.csv, line 8: expected 9 columns [A..I], found 4.\nFetch it again." in err
    assert "Study conjoint failed.\nTraceback" in err
    skipped = "skipped, its data is not here; get it: prefstudy data fetch sushi"
    assert f"Study sushi: {skipped}\n" in err
    lines = [line.split(maxsplit=1) for line in out.splitlines() if line.strip()]
    assert [" ".join(line).strip() for line in lines] == [
        "Study Outcome",
        "bela failed: choices.csv, line 8: expected 9 columns [A..I], found 4.",
        "conjoint failed: division by zero",
        f"sushi {skipped}",
    ]
    assert not Path("runs/index.html").exists()


def test_all_studies_at_hand_run_and_one_index_links_to_their_reports(
    prefect_server: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(studies, "names", lambda: ("bela", "conjoint", "sushi"))
    Path("all.toml").write_text("[bela]\nsimulated = true\nusers = 20\n[conjoint]\nsimulated = true\n")
    settings = ["--config", "all.toml", "--set", "conjoint.users=20", "--seed", "5", "--out", "here"]
    assert main(["run", "all", *settings]) == 0
    out, err = capsys.readouterr()
    index = tmp_path / "here" / "index.html"
    assert "sushi     skipped, its data is not here" in out
    assert out.endswith(f"Index    here/index.html\nPDF      here/index.pdf\n\nOpen it: {index.as_uri()}\n\n")
    assert "Traceback" not in err
    reports = [path.relative_to(index.parent) for path in sorted(index.parent.glob("*/*/report.html"))]
    assert [path.parts[0] for path in reports] == ["bela", "conjoint"]
    page = index.read_text("utf-8")
    assert all(f'href="{path}"' in page for path in reports)
    with get_client(sync_client=True) as client:
        artifacts = {artifact.key: artifact for artifact in client.read_artifacts()}
    assert index.as_uri() in str(artifacts["index"].data)
    before = index.read_bytes()
    index.unlink()
    assert main(["index", "here"]) == 0
    assert index.read_bytes() == before


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("--set users=100", "users: there is no such study. With all, a setting starts with the name of its study"),
        ("--set shushi.users=100", "shushi: there is no such study."),
        ("--set sushi.usrs=100", "The study sushi cannot be run with these settings. usrs: there is no such setting."),
        ("--set sushi.out=there", "sushi.out: with all, every study writes to one folder: --out DIR"),
        ("--mapping my.toml", "--mapping: with all, name the study: --set bela.mapping=FILE.toml"),
    ],
)
def test_settings_that_are_invalid_for_all_end_with_2_before_any_study(
    command: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "all", "--simulated", *command.split()]) == 2
    assert " ".join(capsys.readouterr().err.split()).startswith(complaint)
    assert not Path("runs").exists()


def test_an_index_of_no_runs_is_refused_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index"]) == 1
    assert capsys.readouterr().err.startswith("runs holds no run to report. Run a study first: prefstudy run STUDY")


def test_a_server_that_does_not_answer_is_reported_in_one_line(
    prefect_server: None, capsys: pytest.CaptureFixture[str]
) -> None:
    def unreachable(config: StudyConfig) -> Path:
        raise RuntimeError("Failed to reach API at http://127.0.0.1:9/api/")

    with pytest.raises(ServerError, match=r"^There is no Prefect server at http://127.0.0.1:9/api/. Start it: .*unset"):
        run_study(*planned("bela", unreachable))
    assert "Traceback" not in capsys.readouterr().err
