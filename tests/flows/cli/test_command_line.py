"""The command line starts quickly, exits with the documented codes, and says what to do next. No flow runs here."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

import data_adapters.datasets
import flows.studies
from data_adapters.source import fetch
from flows.cli import console, studies
from flows.cli.commands import doctor
from flows.cli.execution import run_studies
from flows.cli.main import app, main
from models.records.errors import RawDataError

COMMANDS_WITHOUT_A_FLOW = [
    "--help",
    "list",
    "doctor",
    "data check sushi",
    "run --help",
    "data simulate sushi --users 5",
]


@pytest.fixture(autouse=True)
def empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment without data and server, with an empty home and working folder."""
    for name in ("PREFSTUDY_RAW", "PREFECT_API_URL", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PREFSTUDY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ask(capsys: pytest.CaptureFixture[str], command: str) -> tuple[int, str, str]:
    code = main(command.split())
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.mark.parametrize("command", COMMANDS_WITHOUT_A_FLOW)
def test_a_command_without_a_flow_imports_nothing_heavy_and_answers_within_a_second(command: str) -> None:
    """Processor seconds, the least of three: other tests may run at the same time."""
    script = f"""
        import sys, time
        from flows.cli.main import main
        main({command.split()!r})
        assert not {"prefect", "pandas", "sklearn", "matplotlib"} & sys.modules.keys(), "something heavy was imported"
        print(time.process_time(), file=sys.stderr)
    """

    def seconds() -> float:
        run = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script)], check=True, capture_output=True, text=True
        )
        return float(run.stderr.splitlines()[-1])

    assert any(seconds() < 1 for _ in range(3))


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[Any, tuple[str, ...]]]:
    yield command, path
    for name, part in getattr(command, "commands", {}).items():
        yield from commands(part, (*path, name))


@pytest.mark.parametrize(
    ("command", "path"), [pytest.param(*found, id=" ".join(found[1])) for found in commands(get_command(app))]
)
def test_help_fits_eighty_columns_and_breaks_no_line_of_its_examples(command: Any, path: tuple[str, ...]) -> None:
    lines = CliRunner().invoke(app, [*path, "--help"], prog_name="prefstudy").output.splitlines()
    assert max(map(len, lines)) <= 80
    written = [*(command.epilog or "").splitlines(), *inspect.cleandoc(command.help or "").splitlines()[1:]]
    assert {f" {line}".rstrip() for line in written} <= {line.rstrip() for line in lines}


def test_list_says_that_the_data_is_not_here_and_how_to_run_without(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ask(capsys, "list")
    assert code == 0
    assert re.search(r"^sushi +not here +Sushi preferences", out, re.MULTILINE)
    assert "prefstudy run STUDY --simulated" in out


@pytest.mark.parametrize(
    "command", ["run sushi", "run all", "data card sushi", "ask sushi", "explain tennis --player x"]
)
def test_raw_files_and_simulation_at_once_are_refused(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ask(capsys, f"{command} --raw here --simulated")
    assert (code, err) == (
        2,
        "--raw here, --simulated: use raw files or simulate them, not both.\n",
    )


def test_raw_files_are_read_also_by_a_study_that_draws_its_data_if_none_are_named(
    capsys: pytest.CaptureFixture[str], empty_machine: Path
) -> None:
    code, _, err = ask(capsys, f"run synthetic --raw {empty_machine}")
    assert (code, err.splitlines()[0]) == (1, "No raw files of synthetic found (items.csv, matches.csv). Looked in:")


def test_list_says_where_simulated_data_lies(empty_machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "simulate", "sushi", "--users", "5", "--out", "raw"]) == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PREFSTUDY_RAW", str(empty_machine / "raw"))
        _, out, _ = ask(capsys, "list")
    assert "raw/sushi (simulated)" in out


def test_a_run_without_data_exits_with_1_and_says_how_to_get_it(
    empty_machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = ask(capsys, "run sushi")
    assert (code, out) == (1, "")
    assert "No raw files of sushi found" in err
    assert "prefstudy data fetch sushi" in err
    assert "--simulated" in err
    assert "Traceback" not in err
    assert not (empty_machine / "runs").exists()


def test_a_table_that_cannot_be_built_without_data_is_not_advised_to_take_an_option_that_there_is_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, _, err = ask(capsys, "data build sushi")
    assert code == 1
    assert err.endswith("or go without: prefstudy data simulate sushi.\n")


def test_an_unknown_study_exits_with_2_and_names_the_one_meant(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ask(capsys, "run shushi")
    assert code == 2
    assert err.startswith("There is no study 'shushi'. Did you mean sushi?")


def test_an_unknown_setting_exits_with_2_and_lists_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ask(capsys, "run sushi --simulated --set test_shar=0.3")
    assert code == 2
    assert "test_shar: there is no such setting. Did you mean test_share?" in err


def test_an_impossible_setting_exits_with_2_and_its_description(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ask(capsys, "run sushi --simulated --set test_share=1.5")
    assert code == 2
    assert "test_share = 1.5: input should be less than 1" in err
    assert "held out" in err


def test_an_output_folder_that_cannot_be_exits_with_1_before_any_work(
    empty_machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (empty_machine / "notes").write_text("a file")
    code, _, err = ask(capsys, "run sushi --simulated --out notes")
    assert code == 1
    assert err.startswith("notes/sushi: the run cannot be written there")


def test_a_folder_that_is_no_run_has_no_report(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ask(capsys, "report nowhere")
    assert code == 1
    assert "nowhere" in err


def test_an_unknown_option_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(capsys, "list --everything")[0] == 2


def test_data_goes_from_simulated_raw_files_to_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ask(capsys, "data simulate sushi --users 5 --out raw")
    assert code == 0
    assert "Next: prefstudy run sushi --raw raw/sushi" in out
    code, out, _ = ask(capsys, "data check sushi --raw raw/sushi")
    assert code == 0
    assert out.count("simulated") == 4
    code, out, _ = ask(capsys, "data build sushi --raw raw/sushi --out tables")
    assert code == 0
    assert "tables/sushi" in out
    assert "225" in out
    assert Path("tables/sushi/manifest.json").is_file()


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("chameleon --users 5", "--users: chameleon has no users. Give the number of items: --items 5\n"),
        ("sushi --items 5", "--items: sushi has a fixed set of items. Give the number of users: --users 5\n"),
    ],
)
def test_a_size_that_the_data_does_not_have_is_refused_with_the_one_it_has(
    command: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(capsys, f"data simulate {command}") == (2, "", complaint)


def test_the_next_command_can_be_pasted_and_keeps_the_options_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "simulate", "sushi", "--users", "5", "--out", "my raw"]) == 0
    assert "Next: prefstudy run sushi --raw 'my raw/sushi'\n" in capsys.readouterr().out
    Path("my raw/sushi/SIMULATED.json").unlink()
    assert main(["data", "build", "sushi", "--raw", "my raw", "--allow-unpinned"]) == 0
    assert "Next: prefstudy run sushi --raw 'my raw' --allow-unpinned\n" in capsys.readouterr().out


def test_a_data_set_without_a_study_is_not_sent_to_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies, "names", lambda: ("bela",))
    code, out, _ = ask(capsys, "data simulate sushi --users 5")
    assert (code, "Next: prefstudy data card sushi --raw simulated/sushi\n" in out) == (0, True)


def test_a_licence_is_shown_before_a_download_also_where_nobody_has_to_agree(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise RawDataError("no network")

    monkeypatch.setattr(fetch, "fetch", unreachable)
    code, out, err = ask(capsys, "data fetch chameleon")
    assert (code, err) == (1, "no network\n")
    assert "GPL-2.0-or-later: Part of the free R package" in out


def test_a_check_of_missing_data_exits_with_1_and_says_how_to_get_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ask(capsys, "data check sushi")
    assert code == 1
    assert out.count("missing") == 4
    assert "Get them: prefstudy data fetch sushi" in out


def test_the_doctor_gives_every_subject_one_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ask(capsys, "doctor")
    assert code == 0
    for subject in ("PDF", "Prefect", "Data: sushi", "vLLM", "GPU"):
        assert sum(line.startswith(subject) for line in out.splitlines()) == 1
    assert "prefstudy data fetch sushi" in out


def test_the_doctor_names_no_address_that_no_engine_reads(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine's address is a setting of the study; the openai package would read this variable if there were none."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://nobody.example/v1")
    _, out, _ = ask(capsys, "doctor")
    assert "OPENAI_BASE_URL" not in out
    assert "nobody.example" not in out


def test_brackets_are_told_as_they_are(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.util, "find_spec", lambda name: None)
    _, out, _ = ask(capsys, "doctor")
    assert "pip install -e '.[vllm]'" in " ".join(out.split())


def test_the_doctor_fails_where_something_is_missing_that_every_run_needs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    code, out, _ = ask(capsys, "doctor")
    assert code == 1
    assert "no answer from PREFECT_API_URL=http://127.0.0.1:9/api" in " ".join(out.split())


def test_output_to_a_pipe_has_no_control_characters() -> None:
    command = [sys.executable, "-m", "flows.cli.entry", "doctor"]
    root = Path(console.__file__).parents[2]
    printed = subprocess.run(command, capture_output=True, check=True, cwd=root).stdout
    assert b"\x1b" not in printed


@pytest.mark.parametrize("command", ["list", "data check sushi", "run --help"])
def test_where_the_output_cannot_be_written_one_line_says_so(command: str) -> None:
    root = Path(console.__file__).parents[2]
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run(
            [sys.executable, "-m", "flows.cli.entry", *command.split()],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=root,
        )  # fmt: skip
    assert (run.returncode, run.stderr) == (1, "The output cannot be written: no space left on device.\n")


def test_the_folder_that_prefect_gets_where_its_home_cannot_be_written_is_removed_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "aside").mkdir()
    script = (
        "import os; from flows.cli.prefect_runtime import prepare_prefect; prepare_prefect(); "
        "print(os.path.isdir(os.environ['PREFECT_HOME']))"
    )
    environment = {"PREFECT_HOME": str(tmp_path / "file" / "home"), "TMPDIR": str(tmp_path / "aside")}
    run = subprocess.run(
        [sys.executable, "-c", script], env=os.environ | environment, check=True, capture_output=True, text=True
    )
    assert "is not writable; Prefect keeps its database in" in run.stderr
    assert (run.stdout, list((tmp_path / "aside").iterdir())) == ("True\n", [])


BROKEN = {
    "unparsable": ("def tea(:\n", "SyntaxError: invalid syntax"),
    "unimportable": ("import no_package_of_this_name\n", "ModuleNotFoundError: No module named 'no_package_of_this"),
    "failing": ("1 / 0\n", "ZeroDivisionError: division by zero"),
    "empty": ("", "AttributeError: module 'data_adapters.datasets.tea' has no attribute 'ADAPTER'"),
}


@pytest.fixture(params=BROKEN)
def broken_tea(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Modules of a study and a data set called tea that cannot be loaded. Returns the error of the second one."""
    source, error = BROKEN[request.param]
    for package in (flows.studies, data_adapters.datasets):
        folder = tmp_path / package.__name__
        folder.mkdir()
        (folder / "tea.py").write_text(source)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
        monkeypatch.delitem(sys.modules, f"{package.__name__}.tea", raising=False)
    return error


@pytest.mark.parametrize("command", ["list", "doctor"])
def test_a_broken_module_is_listed_as_broken_and_hides_no_other_study(
    command: str, broken_tea: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = ask(capsys, command)
    assert code == 0
    words = " ".join(out.split())
    assert re.search(r"\btea (broken|not here broken:) " + re.escape(broken_tea.split(":", maxsplit=1)[0]), words)
    assert re.search(r"^(Data: )?tennis +not here", out, re.MULTILINE)


def test_a_broken_study_stops_no_other(broken_tea: str, capsys: pytest.CaptureFixture[str]) -> None:
    loaded, broken = studies.load_all()
    assert list(broken) == ["tea"]
    assert list(loaded) == [name for name in studies.names() if name != "tea"]
    with pytest.raises(typer.Exit) as end:
        run_studies([], Path("runs"), broken)
    assert end.value.exit_code == 1
    out, err = capsys.readouterr()
    assert re.search(r"^tea +failed: ", out, re.MULTILINE)
    assert "Study tea failed.\nTraceback" in err


@pytest.mark.parametrize("command", ["run all --set sushi.usrs=3", "run sushi --set usrs=3", "data check sushi"])
def test_a_broken_module_does_not_disturb_commands_about_other_studies(
    command: str, broken_tea: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = ask(capsys, command)
    assert code == (1 if command.startswith("data") else 2)
    assert "usrs: there is no such setting" in err or "prefstudy data fetch sushi" in out


def test_losses_can_be_explained_of_tennis_alone(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, complaint = ask(capsys, "explain pokemon --player Pikachu")
    assert code == 2
    assert "for these data sets: tennis" in complaint
    code, _, complaint = ask(capsys, "explain tennis --player Somebody")
    assert code == 1
    assert "prefstudy data fetch tennis" in complaint


def test_the_losses_of_nobody_leave_no_folder_behind(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, complaint = ask(capsys, f"explain tennis --simulated --player Nobody --out {tmp_path / 'out'}")
    assert code == 2
    assert "There is no 'Nobody'" in complaint
    assert not (tmp_path / "out").exists()
