"""The closing section of a report: data and licence, dropped rows, settings, machine and times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from models.records.card import DataCard, dropped_in_words, read_in_words, rows_in_words, state_in_words
from models.records.manifest import Manifest
from models.records.run_record import RunRecord
from reports.page.blocks import Block, Column, Definitions, Row, Section, Table
from reports.page.data_card import feature_table, sides
from reports.page.wording import MISSING

_SHOWN_OF_HASH = 16
# Paths, which change no result; the adapter's version identifies the mapping.
_PLACES = ("raw", "out", "mapping", "ledger")


def provenance(record: RunRecord, cards: Mapping[str, DataCard]) -> Section:
    """The closing section of every report. cards: the data card of each pairwise table, by the table's name."""
    asked = record.config.get("users")
    users = asked if isinstance(asked, int) else None
    data = [block for manifest in record.data for block in _data(manifest, cards[manifest.name], users)]
    return Section(
        "What the numbers rest on", [*data, _run(record), _times(record)] if record.seconds else [*data, _run(record)]
    )


def warnings(record: RunRecord) -> tuple[str, ...]:
    """The warnings that every page of the report shows about the data."""
    simulated = ("SIMULATED DATA",) if record.simulated else ()
    return (*simulated, *(("UNPINNED DATA",) if record.unpinned else ()))


def facts(record: RunRecord) -> tuple[str, ...]:
    """The line under the title of a report: date, run and code."""
    return (f"Run of {record.started:%-d %B %Y, %H:%M} {record.started:%Z}".strip(), record.run_id, _code(record))


def _data(manifest: Manifest, card: DataCard, users: int | None) -> list[Block]:
    entries = [
        ("Data", f"{manifest.title} ({manifest.name})"),
        ("Source", manifest.citation),
        ("Licence", f"{manifest.licence.name}. {manifest.licence.terms}"),
        ("State", state_in_words(manifest)),
        ("Rows read", read_in_words(manifest)),
        ("Rows in tables", rows_in_words(manifest)),
        *_part_used(manifest, users),
        ("Rows dropped", "; ".join(dropped_in_words(manifest))),
        ("Left and right", sides(card)),
        ("Adapter", f"version {manifest.adapter_version}"),
    ]
    entries += [("Known oddity", quirk) for quirk in manifest.quirks]
    files = Table(
        f"Raw files of {manifest.title}.",
        [Column("File", "left"), Column("Bytes"), Column("sha256", "left"), Column("As declared", "left")],
        [
            Row(
                (
                    file.name,
                    f"{file.bytes:,}",
                    f"{file.sha256[:_SHOWN_OF_HASH]}…",
                    _as_declared(manifest, pinned=file.pinned),
                )
            )
            for file in manifest.raw_files
        ],
        note="The whole sha256 of every file is in run.json.",
    )
    return [Definitions(entries), feature_table(card), files]


def _part_used(manifest: Manifest, users: int | None) -> list[tuple[str, str]]:
    """How many users the run used, where these are not all users of the table."""
    known = manifest.rows.get("users")
    if users is None or known is None or users >= known:
        return []
    return [("Used in this run", f"the first {users:,} of these {known:,} users, and their comparisons")]


def _as_declared(manifest: Manifest, *, pinned: bool) -> str:
    if manifest.simulated:
        return "simulated"
    return "yes" if pinned else MISSING if manifest.own else "no"


def _run(record: RunRecord) -> Definitions:
    settings = {key: value for key, value in record.config.items() if key not in _PLACES}
    return Definitions(
        [
            ("Run", record.run_id),
            ("Code", _code(record)),
            ("Seed", str(record.seed)),
            ("Settings", "; ".join(f"{key} = {value}" for key, value in _flat(settings)) + ". In full in run.json."),
            ("Machine", "; ".join(f"{key} {value}" for key, value in _flat(record.machine))),
            ("Python", record.python),
            ("Packages", "; ".join(f"{name} {version}" for name, version in sorted(record.packages.items()))),
        ]
    )


def _times(record: RunRecord) -> Table:
    rows = [Row((time.step, f"{time.seconds:,.1f}")) for time in record.seconds]
    total = sum(time.seconds for time in record.seconds)
    return Table(
        "What the run took.",
        [Column("Step", "left"), Column("Seconds")],
        [*rows, Row(("All steps", f"{total:,.1f}"))],
    )


def _code(record: RunRecord) -> str:
    if record.git_commit is None:
        return "code outside version control"
    return f"commit {record.git_commit[:10]}" + (" with local changes" if record.git_dirty else "")


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", _as_text(value)


def _as_text(value: Any) -> str:
    """A setting as text; a group of settings is reduced to its name."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, Mapping):
        return str(value.get("name", "without a name"))
    if isinstance(value, list | tuple):
        return ", ".join(map(_as_text, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
