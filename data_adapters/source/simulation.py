"""Simulated raw files and the SIMULATED.json that says so, with their hashes and the preference planted in them."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from data_adapters.files.digest import sha256_of
from data_adapters.files.whole_folder import whole_folder
from data_adapters.source.adapter import Adapter
from data_adapters.source.planted import Preference
from models.records.base import Record
from models.records.errors import RawDataError, UsageError
from models.records.settings_errors import dotted

SIMULATED = "SIMULATED.json"


class SimulatedRecord(Record):
    """The content of SIMULATED.json. `files`: the sha256 of each raw file."""

    dataset: str
    adapter_version: str
    seed: int
    files: dict[str, str]
    preference: Preference


def simulate(adapter: Adapter, folder: Path, *, seed: int, users: int | None = None) -> Preference:
    """Write simulated raw files in upstream's format into `folder` and return the preference planted in them.

    The same adapter version, seed and number of users give the same bytes. Raises UsageError for less than one user or
    a data set without a simulator, and OutputError if `folder` cannot be written or holds anything but an earlier
    simulation.

    >>> from tempfile import TemporaryDirectory
    >>> from data_adapters.catalogue import adapter
    >>> with TemporaryDirectory() as folder:
    ...     simulate(adapter("synthetic"), Path(folder) / "raw", seed=0, users=12).noise
    0.0
    """
    if adapter.simulate is None:
        name = adapter.dataset.name
        raise UsageError(f"{name} has no simulator. Name the folder that has its raw files with --raw.")
    if users is not None and users < 1:
        raise UsageError(f"Expected at least one user to simulate, found {users}.")
    private = adapter.dataset.private
    with whole_folder(folder, marker=SIMULATED, ours=_simulated_files(folder), private=private) as aside:
        preference = adapter.simulate(aside, seed=seed, users=users)
        record = SimulatedRecord(
            dataset=adapter.dataset.name,
            adapter_version=adapter.version,
            seed=seed,
            files={file.name: sha256_of(aside / file.name) for file in adapter.dataset.raw},
            preference=preference,
        )
        (aside / SIMULATED).write_text(record.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return preference


def _simulated_files(folder: Path) -> set[str]:
    """The files of an earlier simulation in a folder, which a new one replaces."""
    earlier = simulated_record(folder)
    return {SIMULATED, *(earlier.files if earlier is not None else ())}


def simulated_record(folder: Path) -> SimulatedRecord | None:
    """The content of SIMULATED.json in `folder`; None if there is none. Raises RawDataError if it is malformed."""
    path = folder / SIMULATED
    if not path.exists():
        return None
    try:
        return SimulatedRecord.model_validate_json(path.read_bytes())
    except OSError as error:
        raise RawDataError(f"{path} cannot be read: {error.strerror}. Simulate the data again.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = dotted(first["loc"], whole="the file")
        raise RawDataError(f"{path}: {where}: {first['msg']}. Simulate the data again.") from error
