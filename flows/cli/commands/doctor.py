"""`prefstudy doctor`: a line for each thing that works on this machine, or that is missing and how to get it."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib import metadata, util
from typing import NamedTuple

import typer
from rich.text import Text

from data_adapters import catalogue
from flows.cli.commands import listing, privacy
from flows.cli.console import out, say, table

SECONDS_TO_ANSWER = 3


class Check(NamedTuple):
    """One line of the table. needed: whether every run needs it; only then does the command fail without it.

    otherwise: what is shown for something else that does not work.
    """

    subject: str
    works: bool
    detail: str
    needed: bool = False
    otherwise: str = "not here"


def doctor() -> None:
    """Check PDF output, Prefect, data and language models on this machine.

    If something is missing, its line says what to do. Exits with 1 if every run
    needs it.
    """
    checks = [_pdf(), _prefect(), *_data(), _privacy(), _vllm(), _gpu()]
    lines = table("", "", "")
    lines.show_header = False
    for check in checks:
        lines.add_row(check.subject, _state(check), check.detail)
    out.print(lines)
    if any(check.needed and not check.works for check in checks):
        raise typer.Exit(1)
    say("\nEverything that a run needs is installed. Next: prefstudy demo sushi")


def _state(check: Check) -> Text:
    if check.works:
        return Text("ok", style="green")
    return Text("missing", style="bold red") if check.needed else Text(check.otherwise, style="yellow")


def _pdf() -> Check:
    try:
        importlib.import_module("plutoprint")
    except ImportError as error:
        return Check("PDF", False, f"plutoprint does not load ({error}); reinstall it: make setup", needed=True)
    return Check("PDF", True, f"plutoprint {metadata.version('plutoprint')}", needed=True)


def _prefect() -> Check:
    if not _installed("prefect"):
        return Check("Prefect", False, "not installed: make setup", needed=True)
    version = f"Prefect {metadata.version('prefect')}"
    address = os.environ.get("PREFECT_API_URL")
    if address is None:
        return Check("Prefect", True, f"{version}; a run starts its own server", needed=True)
    if _answers(f"{address}/health"):
        return Check("Prefect", True, f"{version}; the server at {address} answers", needed=True)
    todo = "start it (prefect server start) or unset PREFECT_API_URL"
    return Check("Prefect", False, f"no answer from PREFECT_API_URL={address}: {todo}", needed=True)


def _data() -> Iterator[Check]:
    for name in catalogue.names():
        try:
            place = listing.data_at_hand(name)
        except Exception as error:  # one broken module must not hide the other lines
            yield Check(f"Data: {name}", False, f"broken: {listing.load_error(error)}")
            continue
        yield Check(f"Data: {name}", place is not None, place or f"get it: prefstudy data fetch {name}")


def _privacy() -> Check:
    found = privacy.open_files()
    return Check("Privacy", not found, privacy.in_words(found), otherwise="open")


def _vllm() -> Check:
    if util.find_spec("vllm") is None:
        todo = "pip install -e '.[vllm]', or ask a server: --engine server --set engine.url=URL"
        return Check("vLLM", False, f"only for prefstudy run pmr on a GPU: {todo}")
    return Check("vLLM", True, "installed")


def _gpu() -> Check:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return Check("GPU", False, "no NVIDIA driver; only vLLM needs one")
    query = [tool, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, check=True, timeout=SECONDS_TO_ANSWER)
    except (OSError, subprocess.SubprocessError) as error:
        return Check("GPU", False, f"nvidia-smi fails ({error}); check the driver")
    return Check("GPU", True, "; ".join(answer.stdout.split("\n")).strip("; "))


def _installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def _answers(address: str) -> bool:
    """Whether a server answers at the address, even if with an HTTP error."""
    try:
        with urllib.request.urlopen(address, timeout=SECONDS_TO_ANSWER):
            return True
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError):
        return False
