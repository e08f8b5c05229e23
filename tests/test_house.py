"""The shape of the house: folders a reader can scan, modules with one subject, and names that say something."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("flows", "tasks", "reports", "prompts", "data_adapters", "models", "tests")
MOST_LINES, MOST_FILES = 400, 15
EMPTY_NAMES = {"utils", "util", "helpers", "common", "misc"}


@pytest.fixture(scope="module")
def files() -> list[Path]:
    """The files of the rooms, relative to the root: those that git knows, or all where this is no checkout."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", *ROOMS], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return [path.relative_to(ROOT) for room in ROOMS for path in (ROOT / room).rglob("*") if path.is_file()]
    return [Path(line) for line in listed.splitlines() if (ROOT / line).is_file()]


def test_no_module_is_too_long_to_read(files: list[Path]) -> None:
    lines = {path: len((ROOT / path).read_text("utf-8").splitlines()) for path in files if path.suffix == ".py"}
    assert {str(path): n for path, n in lines.items() if n > MOST_LINES} == {}


def test_no_folder_holds_more_files_than_a_reader_can_scan(files: list[Path]) -> None:
    per_folder = Counter(path.parent for path in files)
    assert {str(folder): n for folder, n in per_folder.items() if n > MOST_FILES} == {}


def test_no_module_is_named_for_nothing(files: list[Path]) -> None:
    assert [str(path) for path in files if path.stem in EMPTY_NAMES] == []


def test_every_module_says_what_it_is_for(files: list[Path]) -> None:
    code = [path for path in files if path.suffix == ".py" and path.parts[0] != "tests"]
    assert [str(path) for path in code if not (ROOT / path).read_text("utf-8").lstrip().startswith('"""')] == []
