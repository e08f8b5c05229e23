"""`prefstudy data card`: readable at any width and in any terminal, and without any patient's text."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from data_adapters.catalogue import adapter
from data_adapters.codebooks.pmr import INBOX_FILES
from data_adapters.source.simulation import simulate
from flows.cli.commands.card import shown_card
from flows.cli.main import main
from models.records.card import DataCard, FeatureCard, LevelCount, SideBias, Spread
from models.records.features import Feature, FeatureKind
from models.records.manifest import DroppedRows, Licence, Manifest

CANARY = "quetzalcoatlus"


@pytest.fixture(autouse=True)
def empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PREFSTUDY_RAW", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PREFSTUDY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def inboxes(tmp_path: Path) -> Path:
    """Simulated inboxes with the same strange word in all messages and records."""
    folder = tmp_path / "inboxes"
    simulate(adapter("pmr"), folder, seed=1)
    (folder / "SIMULATED.json").unlink()
    for file in INBOX_FILES.values():
        found = pq.read_table(folder / file)
        texts = [
            text.replace("Patient Message: ", f"Patient Message: {CANARY} ").replace(
                "List###:\n", f"List###:\n{CANARY} - "
            )
            for text in found["text"].to_pylist()
        ]
        pq.write_table(found.set_column(0, "text", pa.array(texts)), folder / file)
    return folder


def test_a_card_tells_what_whose_and_what_was_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "card", "sushi", "--simulated"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for part in (
        "Kamishima",
        "may not be passed on",
        "SIMULATED",
        "90 items: not in set A",
        "100 items",
        "lightness",
        "lightness is the column oiliness",
    ):
        assert part in printed
    assert printed.count("5,000 users") >= 2


def test_a_card_of_patients_shows_nothing_they_wrote(inboxes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "card", "pmr", "--raw", str(inboxes), "--allow-unpinned"]) == 0
    printed = capsys.readouterr()
    assert "pmr_inbox_b" in printed.out
    assert CANARY not in printed.out + printed.err


def test_no_complaint_about_a_patients_text_quotes_it(inboxes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = inboxes / INBOX_FILES["a"]
    found = pq.read_table(path)
    texts = [text.replace("Gender: ", f"Gender: {CANARY} ") for text in found["text"].to_pylist()]
    pq.write_table(found.set_column(0, "text", pa.array(texts)), path)
    for command in ("card", "build"):
        assert main(["data", command, "pmr", "--raw", str(inboxes), "--allow-unpinned"]) == 1
        printed = capsys.readouterr()
        assert "row 1: column text: expected below '###Demographics###'" in printed.err
        assert CANARY not in printed.out + printed.err


def test_without_data_the_card_says_how_to_get_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "card", "sushi"]) == 1
    assert "prefstudy data fetch sushi" in capsys.readouterr().err


def test_a_card_in_a_pipe_has_no_control_characters() -> None:
    command = [sys.executable, "-c", "from flows.cli.main import main; main('data card pmr --simulated'.split())"]
    piped = subprocess.run(command, check=True, capture_output=True, env=os.environ | {"PYTHONUTF8": "1"})
    assert "\x1b" not in piped.stdout.decode()
    assert "█" in piped.stdout.decode()


def feature(name: str, missing: int, spread: Spread | None = None, levels: tuple[LevelCount, ...] = ()) -> FeatureCard:
    kind = FeatureKind.CATEGORICAL if levels else FeatureKind.NUMERIC
    described = Feature(name=name, kind=kind, description=name, levels=tuple(level.label for level in levels) or None)
    return FeatureCard(part="items", feature=described, rows=1000, missing=missing, spread=spread, levels=levels)


LETTERS = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 990}
CARD = DataCard(
    manifest=Manifest(
        name="toy",
        title="Invented contests",
        citation="Nobody (2000)",
        licence=Licence(name="CC0", terms="Free."),
        adapter_version="1",
        simulated=False,
        unpinned=True,
        side="presented",
        raw_files=(),
        rows_read={"contests.csv": 1000},
        rows={"items": 1000, "comparisons": 500},
        dropped=tuple(
            DroppedRows(table=table, reason=reason, rows=rows)
            for table, reason, rows in (("comparisons", "tied", 7), ("items", "without a name", 0))
        ),
        quirks=("first", "second"),
    ),
    features=(
        feature(
            "number", 250,
            spread=Spread(minimum=0, lower_quartile=1, median=2, upper_quartile=3, maximum=4, bins=(400, 0, 300, 1)),
        ),
        feature(
            "letter", 0,
            levels=tuple(LevelCount(label=label, rows=rows) for label, rows in LETTERS.items()),
        ),
        feature("nothing", 1000),
    ),
    side_bias=SideBias(comparisons=500, left_wins=236, share=0.472, low=0.4286, high=0.5158),
)  # fmt: skip


def printed(width: int) -> list[str]:
    console = Console(width=width, highlight=False)
    with console.capture() as captured:
        console.print(shown_card(CARD))
    return captured.get().splitlines()


def test_the_side_bias_what_was_dropped_and_the_oddities_are_told() -> None:
    lines = [line.rstrip() for line in printed(120)]
    assert "Left and right  the left item won 47.2% of 500 comparisons (95% interval 42.9% to 51.6%)" in lines
    assert "Dropped         7 comparisons: tied" in lines
    assert "State           UNPINNED: a raw file is not the published one" in lines
    assert lines[lines.index("Oddities        first") + 1] == "                second"


@pytest.mark.parametrize("width", [80, 120])
def test_every_feature_has_a_line_with_its_gaps_its_bars_and_its_values(width: int) -> None:
    lines = printed(width)
    assert max(map(len, lines)) <= width
    number, letter, nothing = (next(line for line in lines if line.startswith(name)) for name in ("num", "let", "not"))
    assert "25.0%  █ ▆▁   0 … 4, median 2 (1 … 3)" in number
    assert "–  █▁▁▁▁  e 99%, d <1%, c <1%, 2 more" in letter
    assert "100.0%         no value" in nothing
