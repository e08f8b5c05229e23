"""How the command line runs Prefect: quietly, without telemetry, and without a server that is already there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from flows.cli.console import err

DEFAULTS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    # A run without a server starts one of its own, which takes longer than Prefect's 20 s on a busy machine.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    # The server starts as `python -m uvicorn`: a random.py in the user's folder must not stand in for Python's own.
    "PYTHONSAFEPATH": "1",
    # The terminal shows the study's own steps. Prefect's words, and ours, are kept with the run in its database.
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_EXTRA_LOGGERS": "prefstudy",
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
}


def prepare_prefect() -> None:
    """Set what the user has not set herself; to be called before Prefect is imported.

    Her profile and server are used if she has them. Where her home cannot be written, Prefect gets a folder that can.
    """
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)
    home = Path(os.environ.get("PREFECT_HOME", "~/.prefect")).expanduser()
    if not _writable(home):
        aside = tempfile.mkdtemp(prefix="prefstudy-prefect-")
        err.print(f"{home} cannot be written; Prefect keeps its database in {aside}.", markup=False, soft_wrap=True)
        os.environ["PREFECT_HOME"] = aside


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
