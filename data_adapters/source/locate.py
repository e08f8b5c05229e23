"""Raw files on this machine: where they lie, and whether they are the published ones."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from platformdirs import user_cache_path

from data_adapters.files.digest import sha256_of
from data_adapters.source.adapter import Adapter
from data_adapters.source.description import Dataset, RawFile
from data_adapters.source.raw_folder import RawFolder
from data_adapters.source.simulation import SIMULATED, simulated_record
from models.records.errors import MissingDataError, RawDataError
from models.records.manifest import RawFileRecord

State = Literal["pinned", "simulated", "own", "altered", "missing"]


@dataclass(frozen=True, kw_only=True)
class FileCheck:
    """The state of one declared raw file.

    state: 'pinned' if its sha256 is the published one, 'simulated' if it is the one in SIMULATED.json, 'own' if the
    file is the user's own and was never published, 'altered' if it has any other sha256, or 'missing'.
    expected: the sha256 it should have. path, sha256, bytes: None if it is missing.
    """

    file: RawFile
    state: State
    expected: str | None
    path: Path | None = None
    sha256: str | None = None
    bytes: int | None = None


def cache_folder(dataset: Dataset) -> Path:
    """The folder of a data set's fetched files: below PREFSTUDY_CACHE, or else in the user's cache folder."""
    root = os.environ.get("PREFSTUDY_CACHE")
    return (Path(root) if root else user_cache_path("prefstudy")) / dataset.name


def check(adapter: Adapter, raw: Path | None = None) -> tuple[FileCheck, ...]:
    """The state of each declared raw file. A missing or altered file does not raise an error here.

    >>> from tempfile import TemporaryDirectory
    >>> from data_adapters.catalogue import adapter
    >>> with TemporaryDirectory() as folder:
    ...     [file.state for file in check(adapter("synthetic"), Path(folder))]
    ['missing', 'missing']
    """
    return _check_files(adapter.dataset, _first_with_files(adapter.dataset, _places(adapter.dataset, raw)))


def locate(
    adapter: Adapter, raw: Path | None = None, *, allow_unpinned: bool = False, without: str = "--simulated"
) -> RawFolder:
    """Find the raw files and check their sha256 (DESIGN: the data).

    raw: the folder to look in, as raw/NAME/raw, raw/NAME and raw. If None, PREFSTUDY_RAW is searched in the same way,
    and then the cache. allow_unpinned: accept files that are not the published ones. without: the command that the
    error suggests if there are no files.
    Raises MissingDataError if a file is missing, and RawDataError if one is altered. The error names the line if strict
    reading finds a bad one.

    >>> from tempfile import TemporaryDirectory
    >>> from data_adapters.catalogue import adapter
    >>> from data_adapters.source.simulation import simulate
    >>> with TemporaryDirectory() as folder:
    ...     _ = simulate(adapter("synthetic"), Path(folder) / "synthetic", seed=0, users=12)
    ...     found = locate(adapter("synthetic"), Path(folder))
    >>> found.simulated, [file.name for file in found.files]
    (True, ['items.csv', 'matches.csv'])
    """
    dataset = adapter.dataset
    places = _places(dataset, raw)
    folder = _first_with_files(dataset, places)
    if folder is None:
        raise MissingDataError(_nothing_found(dataset, places, without))
    checks = _check_files(dataset, folder)
    missing = [check.file.name for check in checks if check.state == "missing"]
    if missing:
        raise MissingDataError(f"{folder}: {', '.join(missing)} missing. {_how_to_get(dataset, without)}")
    altered = sorted((check for check in checks if check.state == "altered"), key=lambda check: check.expected is None)
    found = RawFolder(
        path=folder,
        files=_records(dataset, checks),
        simulated=(folder / SIMULATED).exists(),
        unpinned=bool(altered),
    )
    if altered and (found.simulated or not allow_unpinned):
        raise RawDataError(_altered(adapter, found, altered[0]))
    return found


def _places(dataset: Dataset, raw: Path | None) -> tuple[Path, ...]:
    if raw is not None:
        return _layouts(raw, dataset.name)
    supplied = os.environ.get("PREFSTUDY_RAW")
    return (*(_layouts(Path(supplied), dataset.name) if supplied else ()), cache_folder(dataset) / "raw")


def _layouts(root: Path, name: str) -> tuple[Path, ...]:
    return (root / name / "raw", root / name, root)


def _first_with_files(dataset: Dataset, places: tuple[Path, ...]) -> Path | None:
    return next((place for place in places if _files_present(dataset, place)), None)


def _files_present(dataset: Dataset, place: Path) -> set[str]:
    return {file.name for form in dataset.forms for file in form if (place / file.name).is_file()}


def _form_in(dataset: Dataset, folder: Path) -> tuple[RawFile, ...]:
    """The first complete set of files, else the one with most files present."""
    there = _files_present(dataset, folder)
    found = [len(there & {file.name for file in form}) for form in dataset.forms]
    whole = [form for form, n in zip(dataset.forms, found, strict=True) if n == len(form)]
    return whole[0] if whole else dataset.forms[found.index(max(found))]


def _check_files(dataset: Dataset, folder: Path | None) -> tuple[FileCheck, ...]:
    if folder is None:
        return tuple(FileCheck(file=file, state="missing", expected=file.sha256) for file in dataset.raw)
    record = simulated_record(folder)
    recorded = None if record is None else record.files
    return tuple(_check_file(file, folder / file.name, recorded) for file in _form_in(dataset, folder))


def _check_file(file: RawFile, path: Path, recorded: dict[str, str] | None) -> FileCheck:
    expected = file.sha256 if recorded is None else recorded.get(file.name)
    if not path.is_file():
        return FileCheck(file=file, state="missing", expected=expected)
    try:
        sha256, size = sha256_of(path), path.stat().st_size
    except OSError as error:
        raise RawDataError(f"{path} cannot be read: {error.strerror}.") from error
    state: State = "own" if file.own and recorded is None else "altered"
    if sha256 == expected:
        state = "pinned" if recorded is None else "simulated"
    return FileCheck(file=file, state=state, expected=expected, path=path, sha256=sha256, bytes=size)


def _records(dataset: Dataset, checks: tuple[FileCheck, ...]) -> tuple[RawFileRecord, ...]:
    return tuple(
        RawFileRecord(
            name=check.file.name,
            url=None if check.state == "simulated" else dataset.url_of(check.file),
            sha256=check.sha256 or "",
            bytes=check.bytes or 0,
            pinned=check.state == "pinned",
        )
        for check in checks
    )


def _nothing_found(dataset: Dataset, places: tuple[Path, ...], without: str) -> str:
    files = "; or ".join(", ".join(file.name for file in form) for form in dataset.forms)
    looked = "\n".join(f"  {place}" for place in places)
    return f"No raw files of {dataset.name} found ({files}). Looked in:\n{looked}\n{_how_to_get(dataset, without)}"


def _how_to_get(dataset: Dataset, without: str) -> str:
    return (
        f"Fetch it: prefstudy data fetch {dataset.name}. "
        f"Or name the folder that has it with --raw, or go without: {without}."
    )


def _altered(adapter: Adapter, folder: RawFolder, check: FileCheck) -> str:
    name = adapter.dataset.name
    complaint = _first_bad_line(adapter, folder)
    lines = [complaint] if complaint else []
    if check.expected is None and not folder.simulated:
        lines.append(
            f"{check.path} (sha256 {check.sha256}) cannot be checked: the sha256 of the published file is not known. "
            f"To use it as it is: --allow-unpinned."
        )
        return "\n".join(lines)
    lines.append(f"{check.path} has sha256 {check.sha256}, expected {check.expected or 'none is known'}.")
    if folder.simulated:
        lines.append(f"It was changed after it was simulated. Simulate it again: prefstudy data simulate {name}")
        return "\n".join(lines)
    lines.append(
        f"{_size_in_words(check)}Fetch it again: prefstudy data fetch {name} --force. "
        f"To use it as it is: --allow-unpinned."
    )
    return "\n".join(lines)


def _size_in_words(check: FileCheck) -> str:
    published, found = check.file.bytes, check.bytes
    if published is None or found is None:
        return ""
    verdict = "seems cut off" if found < published else "was changed"
    return f"The file {verdict} ({found:,} bytes; the published one has {published:,}). "


def _first_bad_line(adapter: Adapter, folder: RawFolder) -> str | None:
    """The error of strict reading, which says more than two different hashes; None if there is none."""
    try:
        adapter.read(folder)
    except RawDataError as error:
        return str(error)
    return None
