"""What `prefstudy doctor` says about private files: those with texts about people that others can read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from data_adapters import catalogue
from data_adapters.files.private import readable_by_others
from data_adapters.source.locate import check
from flows.cli.commands import data, ledger
from flows.cli.console import shown
from flows.cli.options import RUNS

SHOWN = 3


def open_files() -> list[Path]:
    """The files with texts about people that others on this machine can read.

    Looked at are the raw files at hand and, where the commands write them, simulated files, tables, ledgers, and the
    remains of killed runs.
    """
    return [path for path in dict.fromkeys(_private_files()) if _is_open(path)]


def in_words(found: Sequence[Path]) -> str:
    """What `open_files` found, and what to do."""
    if not found:
        return "no file with patients' texts here that others can read"
    more = f" and {len(found) - SHOWN:,} more" if len(found) > SHOWN else ""
    return f"others can read {', '.join(map(shown, found[:SHOWN]))}{more}. Close them: chmod go= FILE"


def _is_open(path: Path) -> bool:
    try:
        return path.is_file() and readable_by_others(path)
    except OSError:  # not even their owner can look
        return False


def _private_files() -> Iterator[Path]:
    yield from ledger.DEFAULT.parent.glob(f"{ledger.DEFAULT.name}*")
    yield from RUNS.glob("*/.partial-*/**/*")
    for name in catalogue.names():
        try:
            source = catalogue.adapter(name)
            at_hand = check(source) if source.dataset.private else ()
        except Exception:  # one broken module must not hide the rest; its own line says so
            continue
        yield from (file.path for file in at_hand if file.path is not None)
        if source.dataset.private:
            yield from (data.SIMULATED / name).glob("**/*")
            for table in source.dataset.tables:
                yield from (data.TABLES / table).glob("**/*")
