"""A study made by `prefstudy new` runs at once, passes the project's own checks, and touches nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from flows.cli.commands import new
from flows.cli.main import main

ROOT = Path(__file__).parents[3]
ITEMS, CONTESTS = 24, 60


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty copy of the folders, so that nothing is written into this repository."""
    for place in new.MODULES.values():
        (tmp_path / "house" / place).parent.mkdir(parents=True)
    monkeypatch.setattr(new, "HOUSE", tmp_path / "house")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "house"


@pytest.fixture
def lizards(tmp_path: Path) -> Path:
    """Contests of lizards in which the longer one wins, in a folder of the data set's name."""
    folder = tmp_path / "data" / "lizards"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    rows = [
        f"L{at},{rng.normal(70, 5):.1f},{rng.choice(['blue', 'green', 'red'])},{rng.choice(['no', 'yes'])},caught {at}"
        for at in range(ITEMS)
    ]
    length = [float(row.split(",")[1]) for row in rows]
    (folder / "lizards.csv").write_text("\n".join(["lizard,Length (mm),throat,resident,notes", *rows, ""]))
    met = [rng.choice(ITEMS, size=2, replace=False) for _ in range(CONTESTS)]
    longer_first = [sorted(pair, key=lambda at: -length[at]) for pair in met]
    lines = [f"L{one},L{other},{rng.choice(['dry', 'wet'])}" for one, other in longer_first]
    (folder / "contests.csv").write_text("\n".join(["winner,loser,season", *lines, ""]))
    return folder


def files(house: Path) -> list[Path]:
    return [path for path in house.rglob("*") if path.is_file()]


def test_the_three_modules_are_written_and_what_they_read_is_said(house, lizards, capsys) -> None:
    command = ["new", "lizards", str(lizards / "contests.csv"), "--items", str(lizards / "lizards.csv")]
    assert main(command) == 0
    told = capsys.readouterr().out
    assert {str(path.relative_to(house)) for path in files(house)} == {
        place.format("lizards") for place in new.MODULES.values()
    }
    assert "60 contests of" in told
    assert "Not read: notes has 24 different texts." in told
    assert "Not read: season is neither winner, loser nor --context." in told
    assert sum(len(path.read_text().splitlines()) for path in files(house)) < 194 / 2 + 15
    before = {path: path.read_text() for path in files(house)}
    assert main(command) == 2
    assert "a study or data set with this name exists" in capsys.readouterr().err
    assert {path: path.read_text() for path in files(house)} == before


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("sushi", "a study or data set with this name exists"),
        ("Lizards", "lower-case letters"),
        ("2lizards", "lower-case letters"),
        ("liz-ards", "lower-case letters"),
        ("../lizards", "lower-case letters"),
        ("class", "reserved in Python"),
        ("match", "reserved in Python"),
        ("statistics", "a module of Python has this name"),
        ("all", "another meaning in commands"),
        ("test_run", "pytest would take"),
        ("duel", "the new modules use this word"),
        ("tables", "the new modules use this word"),
    ],
)
def test_a_name_that_cannot_be_or_is_taken_is_refused(house, lizards, capsys, name, complaint) -> None:
    assert main(["new", name, str(lizards / "contests.csv"), "--items", str(lizards / "lizards.csv")]) == 2
    assert complaint in capsys.readouterr().err
    assert not files(house)


@pytest.mark.parametrize(
    ("edit", "options", "code", "complaint"),
    [
        (
            ("winner,loser", "won,lost"),
            [],
            2,
            "--winner: contests.csv has no column winner. Name one of its columns: won, lost",
        ),
        (("", ""), ["--loser", "looser"], 2, "--loser: contests.csv has no column looser"),
        (("L1,", "L99,"), [], 2, "without L99"),
        (("", ""), ["--title", "x" * 200], 2, "--title"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_and_nothing_is_written(
    house, lizards, capsys, edit, options, code, complaint
) -> None:
    path = lizards / "contests.csv"
    path.write_text(path.read_text().replace(*edit, 1) if edit[0] else path.read_text())
    assert main(["new", "lizards", str(path), "--items", str(lizards / "lizards.csv"), *options]) == code
    assert complaint in capsys.readouterr().err
    assert not files(house)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "t.csv: expected a header and rows, found an empty file."),
        ("winner,loser,winner_x,loser_x\n", "t.csv: expected rows below the header, found none."),
        ("winner, loser\na, b\n", "t.csv: the column ' loser' begins or ends with a space."),
        ("winner,loser\na,b\n\n", "t.csv, line 3: expected 2 fields (winner, loser), found an empty line."),
        ("winner,loser\na,K\xf6ln\n", "t.csv, line 2: expected UTF-8 text, found the bytes b'\\xf6'."),
        ("winner;loser;winner_x;loser_x\na;b;2,5;1\nb;c;1;0,5\n", "x: the numbers have a decimal comma."),
        ("winner,loser,winner_x,loser_x\na,b,3,2\nb,c,2,1\n", "t.csv: expected at least 20 contests, found 2."),
    ],
)  # fmt: skip
def test_a_file_that_is_no_table_of_contests_is_refused_in_a_sentence(
    house, tmp_path, capsys, content, complaint
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(content, encoding="latin-1")
    assert main(["new", "lizards", str(path)]) in {1, 2}
    assert complaint in " ".join(capsys.readouterr().err.split())
    assert not files(house)


def test_ctrl_c_between_two_modules_leaves_none(house, lizards, monkeypatch) -> None:
    class Stopped(dict[str, str]):
        def items(self):
            yield from list(super().items())[:2]
            raise KeyboardInterrupt

    monkeypatch.setattr(new, "_modules", lambda *_: Stopped(dict.fromkeys(new.MODULES.values(), "")))
    with suppress(KeyboardInterrupt):
        main(["new", "lizards", str(lizards / "contests.csv"), "--items", str(lizards / "lizards.csv")])
    assert not files(house)


def test_half_a_study_that_a_killed_process_left_is_refused_naming_its_files(house, lizards, capsys) -> None:
    command = ["new", "lizards", str(lizards / "contests.csv"), "--items", str(lizards / "lizards.csv")]
    assert main(command) == 0
    (house / "flows" / "studies" / "lizards.py").unlink()
    capsys.readouterr()
    assert main(command) == 2
    told = capsys.readouterr().err
    for there in ("data_adapters/datasets/lizards.py", "reports/studies/lizards.py"):
        assert f"house/{there}" in told
    assert "delete them" in told
    assert len(files(house)) == 2


def test_the_study_gets_its_place_last_so_that_the_rest_is_never_taken_for_one(house, lizards, monkeypatch) -> None:
    rename, places = Path.rename, []

    def noted(path: Path, target: Path) -> Path:
        places.append(target.relative_to(house).as_posix())
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", noted)
    assert main(["new", "lizards", str(lizards / "contests.csv"), "--items", str(lizards / "lizards.csv")]) == 0
    assert len(places) == 3
    assert places[-1] == "flows/studies/lizards.py"


def test_a_contest_of_an_item_with_itself_is_refused_naming_its_line(house, lizards, capsys) -> None:
    path = lizards / "contests.csv"
    path.write_text(path.read_text() + "L3,L3,dry\n")
    assert main(["new", "lizards", str(path), "--items", str(lizards / "lizards.csv")]) == 1
    assert "contests.csv, line 62: column loser: expected another item than the winner, found 'L3'" in (
        capsys.readouterr().err
    )
    assert not files(house)


@pytest.mark.parametrize("text", ["plain", "it's", 'a "quoted" one', "both ' and \"", "back\\slash", "größer ≥ 3"])
def test_texts_are_written_as_python_reads_them(text: str) -> None:
    assert eval(new.literal(text)) == text
    assert eval(new.literal((text,) * 30)) == (text,) * 30
    assert all(len(line) <= 120 for line in new.literal((text,) * 30).splitlines())


def test_a_study_walks_from_a_table_to_a_report_and_through_the_projects_checks(lizards: Path, tmp_path: Path) -> None:
    """The walk of the README, in a copy of the repository and in processes that use only the copy."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone, so that nothing says which files are the repository's")
    house = tmp_path / "house"
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (house / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, house / name)
    before = {path for path in house.rglob("*") if path.is_file()}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")} | {
        "PYTHONPATH": str(house), "PREFSTUDY_RAW": str(lizards.parent), "PREFSTUDY_CACHE": str(tmp_path / "cache"),
        "PREFECT_HOME": str(tmp_path / "prefect"), "PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode"),
    }  # fmt: skip

    def python(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=house, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    prefstudy = (
        "import sys; from flows.cli.main import main; sys.exit(max(main(line.split()) for line in sys.argv[1:]))"
    )
    table, items = lizards / "contests.csv", lizards / "lizards.csv"
    python("-c", prefstudy, f"new lizards {table} --items {items} --context season")
    added = {path.relative_to(house).as_posix() for path in house.rglob("*") if path.is_file()} - {
        path.relative_to(house).as_posix() for path in before
    }
    assert added == {place.format("lizards") for place in new.MODULES.values()}

    python("-m", "ruff", "format", "--check", "--no-cache", *added)
    python("-m", "ruff", "check", "--no-cache", *added)
    contract = ["tests/data_adapters/source/test_contract.py", "tests/data_adapters/test_catalogue.py"]
    tested = python("-m", "pytest", "-p", "no:cacheprovider", *contract, "-k", "lizards or catalogue")
    assert "failed" not in tested

    tuning = "--set tuning.inner_folds=2 --set tuning.lengthscales=[2.0] --set tuning.penalties=[0.01]"
    small = f"--set runs=1 --set unseen_runs=1 --set folds=3 --set resamples=10 --set explaining.refits=3 {tuning}"
    python("-c", prefstudy, "demo lizards --out demo", f"run lizards --out runs {small}")
    for out, simulated in (("demo", True), ("runs", False)):
        [run] = (house / out / "lizards").iterdir()
        assert (run / "report.pdf").is_file()
        assert ("SIMULATED DATA" in (run / "report.html").read_text()) == simulated
    metrics = json.loads((run / "results" / "metrics.json").read_text())
    auc = {row["model"]: row["value"] for row in metrics if row["metric"] == "auc"}
    assert auc["upm"] > 0.8
    assert "c_gpm" in auc
    assert all(row["published"] is None for row in metrics)
