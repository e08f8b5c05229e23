"""Fetching against a local server that is slow, cuts off, fails and serves altered bytes."""

from __future__ import annotations

import hashlib
import io
import json
import re
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from data_adapters.catalogue import adapter
from data_adapters.files.archive import unpack
from data_adapters.source.adapter import Adapter
from data_adapters.source.description import Archive, RawFile
from data_adapters.source.fetch import fetch
from models.records.errors import OutputError, RawDataError, UsageError

SUSHI = adapter("sushi")


@dataclass
class Server:
    """What is served, how it misbehaves, and what was asked of it. cut_at: hang up after that many bytes, once each."""

    files: dict[str, bytes]
    address: str = ""
    cut_at: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    knows_ranges: bool = True
    pause: float = 0.0
    asked: list[tuple[str, str | None]] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server(files={})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range") if state.knows_ranges else None
            state.asked.append((self.path, self.headers.get("Range")))
            status = state.statuses.pop(0) if state.statuses else 200
            content = state.files.get(self.path)
            if content is None or status != 200:
                self.send_error(404 if content is None else status)
                return
            start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1]) if asked else 0
            if start >= len(content) > 0:
                self.send_error(416)
                return
            self.send_response(206 if asked else 200)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            end = state.cut_at.pop(0) if state.cut_at else len(content)
            for position in range(start, end, 1 << 15):
                self.wfile.write(content[position : min(position + (1 << 15), end)])
                time.sleep(state.pause)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.address = f"http://127.0.0.1:{httpd.server_port}"
    yield state
    httpd.shutdown()
    thread.join()
    httpd.server_close()


@pytest.fixture(autouse=True)
def _no_waiting_between_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What arrives of an unfinished chunk is lost."""
    monkeypatch.setattr("data_adapters.source.fetch.CHUNK", 500)


def zipped(files: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return content.getvalue()


@pytest.fixture
def published(server: Server, simulated_sushi: Path) -> Adapter:
    """The sushi adapter, as if upstream had published the simulated files on the local server."""
    contents = {file.name: (simulated_sushi / file.name).read_bytes() for file in SUSHI.dataset.raw}
    archive = zipped({f"sushi3-2016/{name}": data for name, data in contents.items()} | {"sushi3-2016/README": b"?"})
    server.files["/asset/sushi3-2016.zip"] = archive
    dataset = replace(
        SUSHI.dataset,
        archive=Archive(
            url=f"{server.address}/asset/sushi3-2016.zip",
            sha256=hashlib.sha256(archive).hexdigest(),
            max_bytes=1_000_000,
        ),
        raw=tuple(RawFile(name=name, sha256=hashlib.sha256(data).hexdigest()) for name, data in contents.items()),
    )
    return replace(SUSHI, dataset=dataset)


def agree(_: object) -> bool:
    return True


def test_the_licence_is_shown_first_and_without_agreement_nothing_is_asked_of_the_server(published, server, cache):
    shown = []
    with pytest.raises(UsageError, match="--accept-licence"):
        fetch(published, agree=lambda licence: shown.append(licence) is not None)
    assert shown == [published.dataset.licence]
    assert server.asked == []
    assert not cache.exists()


def test_what_is_fetched_is_pinned_in_the_cache_and_the_agreement_recorded(published, server, cache):
    raw = fetch(published, agree=agree)
    assert raw.path == cache / "sushi" / "raw"
    assert (raw.simulated, raw.unpinned) == (False, False)
    record = json.loads((cache / "sushi" / "agreement.json").read_text())
    assert record["licence"] == published.dataset.licence.model_dump()
    assert record["agreed"].endswith("Z")


def test_present_files_are_not_fetched_again_unless_forced_and_agreement_is_asked_once(published, server):
    fetch(published, agree=agree)
    fetch(published, agree=lambda _: pytest.fail("asked twice"))
    assert len(server.asked) == 1
    fetch(published, agree=lambda _: pytest.fail("asked twice"), force=True)
    assert len(server.asked) == 2


def test_a_record_of_agreement_that_cannot_be_read_is_none(published, cache):
    (cache / "sushi").mkdir(parents=True)
    (cache / "sushi" / "agreement.json").write_text("{")
    with pytest.raises(UsageError):
        fetch(published, agree=lambda _: False)


def test_a_changed_licence_is_asked_about_again(published):
    fetch(published, agree=agree)
    licence = published.dataset.licence.model_copy(update={"terms": "Other terms."})
    changed = replace(published, dataset=replace(published.dataset, licence=licence))
    with pytest.raises(UsageError):
        fetch(changed, agree=lambda _: False, force=True)


def test_a_download_cut_off_goes_on_where_it_was(published, server):
    server.cut_at = [2000, 5000]
    fetch(published, agree=agree)
    ranges = [asked for _, asked in server.asked]
    assert ranges == [None, "bytes=2000-", "bytes=5000-"]


def test_a_download_that_ends_in_failure_is_resumed_by_the_next_fetch(published, server):
    server.cut_at, server.statuses = [1000], [200, 503, 503, 503]
    with pytest.raises(RawDataError, match=r"could not be downloaded: 503 .*fetch again to go on"):
        fetch(published, agree=agree)
    fetch(published, agree=agree)
    assert server.asked[-1][1] == "bytes=1000-"


def test_a_server_without_ranges_is_asked_for_the_whole_file_again(published, server):
    server.knows_ranges, server.cut_at = False, [1000]
    assert not fetch(published, agree=agree).unpinned
    assert len(server.asked) == 2


def test_a_slow_server_is_waited_for_and_progress_is_reported(published, server):
    server.pause = 0.1
    told: list[tuple[str, int, int | None]] = []
    fetch(published, agree=agree, progress=lambda *step: told.append(step))
    total = len(server.files["/asset/sushi3-2016.zip"])
    assert told[-1] == ("sushi3-2016.zip", total, total)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_altered_bytes_are_refused_with_both_hashes_and_nothing_of_them_stays(published, server, cache):
    altered = server.files["/asset/sushi3-2016.zip"].replace(b"toro", b"tora")
    server.files["/asset/sushi3-2016.zip"] = altered
    with pytest.raises(RawDataError) as refusal:
        fetch(published, agree=agree)
    assert "is not the published file" in str(refusal.value)
    assert published.dataset.archive.sha256 in str(refusal.value)
    assert hashlib.sha256(altered).hexdigest() in str(refusal.value)
    assert not (cache / "sushi" / "raw").exists()
    assert list((cache / "sushi" / "downloads").iterdir()) == []


def test_a_stale_part_of_another_file_does_not_spoil_the_download(published, server, cache):
    downloads = cache / "sushi" / "downloads"
    downloads.mkdir(parents=True)
    (downloads / "sushi3-2016.zip.part").write_bytes(b"x" * 10)
    assert not fetch(published, agree=agree).unpinned
    assert [asked for _, asked in server.asked] == ["bytes=10-", None]


def test_a_part_that_is_longer_than_the_file_is_thrown_away(published, server, cache):
    downloads = cache / "sushi" / "downloads"
    downloads.mkdir(parents=True)
    (downloads / "sushi3-2016.zip.part").write_bytes(b"x" * 1_000_000)
    assert not fetch(published, agree=agree).unpinned


def test_a_mirror_is_asked_instead_and_held_to_the_same_hash(published, server, monkeypatch):
    server.files = {"/mirror/sushi/sushi3-2016.zip": server.files["/asset/sushi3-2016.zip"]}
    fetch(published, agree=agree, mirror=f"{server.address}/mirror/")
    monkeypatch.setenv("PREFSTUDY_MIRROR", f"{server.address}/mirror")
    fetch(published, agree=agree, force=True)
    assert {path for path, _ in server.asked} == {"/mirror/sushi/sushi3-2016.zip"}


@pytest.mark.parametrize("mirror", ["notaurl", "ftp://mirror", "https://", "/mnt/mirror"])
def test_a_mirror_that_is_no_address_is_refused_before_anything_is_asked(published, server, mirror):
    with pytest.raises(UsageError, match=f"^{mirror}: expected the address of a mirror"):
        fetch(published, agree=lambda _: pytest.fail("nothing to ask"), mirror=mirror)
    assert not server.asked


def test_files_with_addresses_of_their_own_are_fetched_one_by_one(toy, server, cache):
    server.files["/there/matches.csv.gz"] = b"some bytes"
    raw = (RawFile(name="matches.csv.gz", url=f"{server.address}/there/matches.csv.gz",
                   sha256=hashlib.sha256(b"some bytes").hexdigest()),)  # fmt: skip
    fetched = fetch(replace(toy, dataset=replace(toy.dataset, raw=raw)), agree=lambda _: pytest.fail("nothing to ask"))
    assert (fetched.path / "matches.csv.gz").read_bytes() == b"some bytes"
    assert fetched.files[0].url == f"{server.address}/there/matches.csv.gz"


def test_a_file_without_a_known_sha256_is_fetched_and_not_called_pinned(toy, server):
    server.files["/matches.csv.gz"] = b"some bytes"
    raw = (RawFile(name="matches.csv.gz", url=f"{server.address}/matches.csv.gz"),)
    fetched = fetch(replace(toy, dataset=replace(toy.dataset, raw=raw)), agree=agree)
    assert fetched.unpinned
    assert fetched.file("matches.csv.gz").read_bytes() == b"some bytes"


def test_where_no_program_can_fetch_the_error_lists_the_steps(toy):
    by_hand = replace(toy, dataset=replace(toy.dataset, fetch_by_hand=("Sign in at the archive.", "Download it.")))
    with pytest.raises(RawDataError, match=r"(?s)cannot be fetched by a program.*1\. Sign in.*2\. Download it.*--raw"):
        fetch(by_hand, agree=agree)


def test_a_cache_that_cannot_be_written_is_named(published, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PREFSTUDY_CACHE", str(tmp_path / "file"))
    with pytest.raises(OutputError, match=r"Cannot write .*file/sushi.*PREFSTUDY_CACHE"):
        fetch(published, agree=agree)


# ------------------------------------------------------------------------------------------------ archives


def refuse_to_unpack(tmp_path: Path, content: bytes, message: str, *, max_bytes: int = 1000) -> None:
    archive, folder = tmp_path / "archive.zip", tmp_path / "unpacked"
    archive.write_bytes(content)
    folder.mkdir()
    with pytest.raises(RawDataError, match=message):
        unpack(archive, ["data.txt"], folder, max_bytes=max_bytes)
    assert sum(path.stat().st_size for path in folder.iterdir()) <= max_bytes


def test_a_member_cannot_choose_where_it_lands(tmp_path: Path):
    archive, folder = tmp_path / "archive.zip", tmp_path / "a" / "b"
    archive.write_bytes(zipped({"../../data.txt": b"1", "/etc/other": b"2"}))
    folder.mkdir(parents=True)
    unpack(archive, ["data.txt"], folder, max_bytes=1000)
    assert [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*")) if path.is_file()] == [
        "a/b/data.txt",
        "archive.zip",
    ]


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path):
    refuse_to_unpack(tmp_path, zipped({"data.txt": bytes(1001)}), "unpacks to 1,001 bytes, more than the 1,000")


def test_an_archive_that_lies_about_its_size_is_refused_before_it_fills_the_disk(tmp_path: Path):
    honest = zipped({"data.txt": bytes(5000)})
    lying = honest.replace((5000).to_bytes(4, "little") * 2, (5000).to_bytes(4, "little") + (3).to_bytes(4, "little"))
    assert lying != honest
    refuse_to_unpack(tmp_path, lying, "is not a complete zip archive")


def test_a_missing_or_doubled_member_is_refused(tmp_path: Path):
    refuse_to_unpack(tmp_path, zipped({"other.txt": b""}), "expected one data.txt in it, found 0")
    (tmp_path / "unpacked").rmdir()
    refuse_to_unpack(tmp_path, zipped({"a/data.txt": b"", "b/data.txt": b""}), "expected one data.txt in it, found 2")


def test_a_cut_off_archive_is_refused(tmp_path: Path):
    refuse_to_unpack(tmp_path, zipped({"data.txt": b"0123456789"})[:-30], "is not a complete zip archive")
