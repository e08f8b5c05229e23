"""Runs Prefect from the command line: quietly, without telemetry, with a temporary server unless one is set."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

from flows.cli.console import err
from flows.cli.exit_codes import INTERRUPTED, STOPPED, TERMINATED
from models.records.errors import ServerError

SECONDS_TO_CLEAN_UP = 1.0
UNREACHABLE = "Failed to reach API at "
"""Start of Prefect's message; Prefect has no error class for this."""

DEFAULTS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    # A run without a server starts its own. On a busy machine that takes longer than Prefect's default of 20 s.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    # The server starts as `python -m uvicorn`: a random.py in the user's folder must not shadow Python's module.
    "PYTHONSAFEPATH": "1",
    # The terminal shows only the study's steps. Prefect's messages and ours are stored with the run in its database.
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_EXTRA_LOGGERS": "prefstudy",
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
}

_at_exit = ExitStack()
# Registered first, so it runs last: by then Prefect's server has ended.
atexit.register(_at_exit.close)


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
        err.print(
            f"{home} is not writable; Prefect keeps its database in {aside} until the command ends.", soft_wrap=True
        )
        _at_exit.callback(shutil.rmtree, aside, ignore_errors=True)
        os.environ["PREFECT_HOME"] = aside


@contextmanager
def server_answers() -> Iterator[None]:
    """Raise ServerError if no Prefect server answers at the address that the user has set."""
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


@contextmanager
def interruptible() -> Iterator[None]:
    """End a flow within a second after Ctrl-C (exit code 130) or SIGTERM (exit code 143).

    The flow gets the interrupt first and removes its run folder. After that the process exits, because Prefect would
    wait for running tasks and report to a server that the same Ctrl-C has ended.
    """
    leaving: list[threading.Timer] = []

    def leave_soon(exit_code: int) -> None:
        if not leaving:
            leaving.append(threading.Timer(SECONDS_TO_CLEAN_UP, _leave, [exit_code]))
            leaving[0].start()

    def interrupt(signal_number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        leave_soon(INTERRUPTED)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with _on_termination(lambda: leave_soon(TERMINATED)):
            yield
    finally:
        for timer in leaving:
            timer.join()
        signal.signal(signal.SIGINT, before)


@contextmanager
def _on_termination(then: Callable[[], None]) -> Iterator[None]:
    """Call `then` on SIGTERM while the block runs, even where Prefect handles the signal itself (inside a flow).

    Outside a flow, SIGTERM raises KeyboardInterrupt. Python alone would exit at once and leave Prefect's server behind.
    """

    def terminate(signal_number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        then()
        raise KeyboardInterrupt

    def watch() -> None:
        while number := reader.recv(1):
            if number[0] == signal.SIGTERM and signal.getsignal(signal.SIGTERM) is not terminate:
                then()

    reader, writer = socket.socketpair()
    writer.setblocking(False)
    before = signal.signal(signal.SIGTERM, terminate)
    fd_before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(fd_before)
        signal.signal(signal.SIGTERM, before)
        writer.close()


def _leave(exit_code: int) -> None:
    from prefect.server.api.server import SubprocessASGIServer

    SubprocessASGIServer().stop()
    _at_exit.close()
    err.show_cursor()
    # Not through the console: its progress bars would overwrite this last line.
    print(f"\n{STOPPED}", file=sys.__stderr__, flush=True)
    os._exit(exit_code)


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
