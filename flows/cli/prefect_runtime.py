"""Runs Prefect from the command line: quietly, without telemetry, with a temporary server unless one is set."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from flows.cli.console import err
from flows.cli.stopping import at_stop
from flows.cli.temporary_server import TemporaryServer
from models.records.errors import ServerError

UNREACHABLE = "Failed to reach API at "
"""Start of Prefect's message; Prefect has no error class for this."""

DEFAULTS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    # A run without a server starts its own. On a busy machine that takes longer than Prefect's default of 20 s.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    # For what Prefect itself starts: a random.py in the user's folder must not shadow Python's module.
    "PYTHONSAFEPATH": "1",
    # The terminal shows only the study's steps. Prefect's messages and ours are stored with the run in its database.
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_EXTRA_LOGGERS": "prefstudy",
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
}

_at_exit = ExitStack()
# Registered before Prefect is imported, so it runs after what Prefect does at exit: its last messages need the server.
atexit.register(_at_exit.close)
_aside: list[str] = []
_servers: list[TemporaryServer] = []
"""Prefect's temporary folder and server, where it needs them."""


def prepare_prefect() -> None:
    """Set Prefect's environment variables that the user has not set. Call this before Prefect is imported.

    The user's own profile and server stay in use. If Prefect's home folder is not writable, Prefect gets a temporary
    folder until this process ends.
    """
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)
    home = Path(os.environ.get("PREFECT_HOME", "~/.prefect")).expanduser()
    if not _writable(home):
        aside = tempfile.mkdtemp(prefix="prefstudy-prefect-")
        _aside.append(aside)
        _at_exit.callback(shutil.rmtree, aside, ignore_errors=True)
        err.print(
            f"{home} is not writable; Prefect keeps its database in {aside} until the command ends.", soft_wrap=True
        )
        os.environ["PREFECT_HOME"] = aside


@contextmanager
def prefect_server() -> Iterator[None]:
    """Start a temporary server for all flows of this process, unless the user has set one or wants none.

    Raises ServerError if it does not start, or no server answers at the address that the user has set.
    """
    from prefect.context import refresh_global_settings_context
    from prefect.settings import get_current_settings

    settings = get_current_settings()
    if settings.api.url is None and settings.server.ephemeral.enabled:
        server = TemporaryServer(_aside)
        _servers.append(server)
        _at_exit.callback(server.stop)
        server.wait(settings.server.ephemeral.startup_timeout_seconds)
        os.environ["PREFECT_API_URL"] = server.api
        refresh_global_settings_context()
    try:
        yield
    except RuntimeError as error:
        if not str(error).startswith(UNREACHABLE):
            raise
        raise ServerError(
            f"There is no Prefect server at {str(error).removeprefix(UNREACHABLE)}. Start it: prefect server start. Or "
            "unset PREFECT_API_URL (in the environment, or: prefect config unset PREFECT_API_URL), and the run starts "
            "its own server."
        ) from error


def _end_at_once() -> None:
    for server in _servers:
        server.kill()
    for folder in _aside:
        shutil.rmtree(folder, ignore_errors=True)


at_stop(_end_at_once)


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
