"""Fetching raw files into the cache: licence first, then a download that resumes, is retried and is checked."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pooch
import requests
from pydantic import ValidationError

from data_adapters.files.archive import unpack
from data_adapters.files.whole_folder import whole_folder
from data_adapters.source.adapter import Adapter
from data_adapters.source.description import Dataset
from data_adapters.source.locate import cache_folder, check, locate
from data_adapters.source.raw_folder import RawFolder
from models.records.base import Record
from models.records.errors import OutputError, RawDataError, UsageError
from models.records.manifest import Licence
from models.records.plain_text import is_file_name
from models.records.whole_file import whole_file

RETRIES = 3
TIMEOUT = (10, 60)
"""Seconds to wait for a connection, and for the next bytes."""
CHUNK = 1 << 16

Progress = Callable[[str, int, int | None], None]
"""Called with the file's name, the bytes received, and the total if the server says it."""


class Agreement(Record):
    """A record, kept beside the files, that somebody agreed to the licence."""

    licence: Licence
    agreed: datetime


def fetch(
    adapter: Adapter,
    *,
    agree: Callable[[Licence], bool],
    mirror: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> RawFolder:
    """Download the raw files into the cache, unless they are there, and return their folder.

    agree: shown the licence if it asks for agreement and none is recorded yet.
    mirror: an address that has NAME/FILE for every download; default is PREFSTUDY_MIRROR, else the published address.
    force: download files again that are already there.
    A file whose sha256 is not known is fetched too; the folder is then unpinned.
    Raises UsageError if the mirror is no address or the licence is not agreed to, RawDataError if no program can fetch
    the files (with the steps for a person), a download fails or is not the published file, and OutputError if the cache
    cannot be written.
    """
    dataset = adapter.dataset
    if dataset.fetch_by_hand or not all(map(dataset.url_of, dataset.raw)):
        raise RawDataError(_steps(dataset))
    mirror = _address(mirror or os.environ.get("PREFSTUDY_MIRROR"))
    cache = cache_folder(dataset)
    there = all(found.state == "pinned" for found in check(adapter, cache.parent))
    if force or not there:
        _agree(dataset, cache / "agreement.json", agree)
        _download(dataset, cache, mirror, force, progress)
    unknown = any(file.sha256 is None for file in dataset.raw)
    return locate(adapter, cache.parent, allow_unpinned=unknown)


def _address(mirror: str | None) -> str | None:
    if mirror and not re.match("https?://[^/]", mirror):
        raise UsageError(f"{mirror}: expected the address of a mirror, https://... or http://...")
    return mirror


def _steps(dataset: Dataset) -> str:
    by_hand = dataset.fetch_by_hand or (f"Put {', '.join(file.name for file in dataset.raw)} in one folder.",)
    steps = "\n".join(f"  {number}. {step}" for number, step in enumerate(by_hand, 1))
    return f"{dataset.title} cannot be fetched by a program. What to do:\n{steps}\nThen name the folder with --raw."


def _agree(dataset: Dataset, record: Path, agree: Callable[[Licence], bool]) -> None:
    licence = dataset.licence
    if not licence.needs_agreement or _agreed_to(record) == licence:
        return
    if not agree(licence):
        raise UsageError(
            f"The licence of {dataset.name} was not agreed to, and nothing was downloaded. "
            f"Read it ({licence.url}) and agree with --accept-licence."
        )
    try:
        record.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(record) as aside:
            aside.write_text(Agreement(licence=licence, agreed=datetime.now(UTC)).model_dump_json(indent=1) + "\n")
    except OSError as error:
        raise _cache_refused(record.parent, error) from error


def _agreed_to(record: Path) -> Licence | None:
    try:
        return Agreement.model_validate_json(record.read_bytes()).licence
    except (OSError, ValidationError):
        return None


def _download(dataset: Dataset, cache: Path, mirror: str | None, force: bool, progress: Progress | None) -> None:
    archive = dataset.archive
    wanted = {file.url: file.sha256 for file in dataset.raw if file.url}
    if archive is not None:
        wanted[archive.url] = archive.sha256
    got = {}
    for url, sha256 in wanted.items():
        name = url.rsplit("/", 1)[-1]
        if not is_file_name(name):
            raise RawDataError(f"{url}: expected an address that ends in the plain name of a file.")
        source = f"{mirror.rstrip('/')}/{dataset.name}/{name}" if mirror else url
        got[url] = _download_file(source, cache / "downloads" / name, sha256, force, progress)
    ours = [file.name for form in dataset.forms for file in form]
    with whole_folder(cache / "raw", marker=ours[0], ours=ours, elsewhere="PREFSTUDY_CACHE") as aside:
        for file in dataset.raw:
            if file.url:
                shutil.copyfile(got[file.url], aside / file.name)
        if archive is not None:
            members = [file.name for file in dataset.raw if not file.url]
            unpack(got[archive.url], members, aside, max_bytes=archive.max_bytes)


def _download_file(url: str, path: Path, sha256: str | None, force: bool, progress: Progress | None) -> Path:
    known = f"sha256:{sha256}" if sha256 else None
    pooch.get_logger().setLevel("WARNING")
    keeper = pooch.Pooch(
        path=path.parent, base_url="", registry={path.name: known}, urls={path.name: url}, retry_if_failed=RETRIES
    )
    try:
        if force:
            path.unlink(missing_ok=True)
        return Path(keeper.fetch(path.name, downloader=ResumingDownload(path, progress)))
    except requests.RequestException as error:
        raise RawDataError(
            f"{url} could not be downloaded: {error}. What has arrived is kept: fetch again to go on from there, "
            f"or name a mirror in PREFSTUDY_MIRROR."
        ) from error
    except ValueError as error:
        raise RawDataError(f"{url} is not the published file: {error}") from error
    except OSError as error:
        raise _cache_refused(path.parent, error) from error


def _cache_refused(folder: Path, error: OSError) -> OutputError:
    return OutputError(
        f"Cannot write {folder}: {error.strerror or error}. Free some space, or name another cache in PREFSTUDY_CACHE."
    )


class ResumingDownload:
    """A downloader for pooch that resumes an interrupted download, also one of another process."""

    def __init__(self, path: Path, progress: Progress | None) -> None:
        self.path = path
        self.part = path.with_name(path.name + ".part")
        self.progress = progress

    def __call__(self, url: str, output_file: str, _pooch: object) -> None:
        """Download `url` to `output_file`. Raises requests.RequestException if that fails."""
        have = self.part.stat().st_size if self.part.exists() else 0
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as answer:
            if answer.status_code == requests.codes.requested_range_not_satisfiable:
                self.part.unlink()
            answer.raise_for_status()
            if answer.status_code != requests.codes.partial_content:
                have = 0
            self._receive(answer, have)
        self.part.replace(output_file)

    def _receive(self, answer: requests.Response, have: int) -> None:
        length = answer.headers.get("Content-Length")
        total = have + int(length) if length else None
        with self.part.open("ab" if have else "wb") as part:
            for chunk in answer.iter_content(CHUNK):
                part.write(chunk)
                have += len(chunk)
                if self.progress is not None:
                    self.progress(self.path.name, have, total)
