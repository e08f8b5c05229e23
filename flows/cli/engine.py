"""How the command line runs Prefect: quietly, without telemetry, and without a server that is already there."""

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
"""Prefect's words; it has no error of its own for this."""

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

_in_the_end = ExitStack()
# What is registered first is done last: Prefect's server has then ended.
atexit.register(_in_the_end.close)


def prepare_prefect() -> None:
    """Set what the user has not set herself; to be called before Prefect is imported.

    Her profile and server are used if she has them. Where her home cannot be written, Prefect gets a folder that can,
    for as long as this process lives.
    """
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)
    home = Path(os.environ.get("PREFECT_HOME", "~/.prefect")).expanduser()
    if not _writable(home):
        aside = tempfile.mkdtemp(prefix="prefstudy-prefect-")
        err.print(f"{home} cannot be written; while this runs, Prefect keeps its database in {aside}.", soft_wrap=True)
        _in_the_end.callback(shutil.rmtree, aside, ignore_errors=True)
        os.environ["PREFECT_HOME"] = aside


@contextmanager
def server_answers() -> Iterator[None]:
    """Raise ServerError where Prefect finds no server at the address that the user has set."""
    try:
        yield
    except RuntimeError as error:
        if not str(error).startswith(UNREACHABLE):
            raise
        raise ServerError(
            f"There is no Prefect server at {str(error).removeprefix(UNREACHABLE)}. Start it: prefect server start. Or "
            "unset PREFECT_API_URL (in the environment, or: prefect config unset PREFECT_API_URL), and a run starts a "
            "server of its own."
        ) from error


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end a flow within a second, with exit code 130, and a termination (SIGTERM) with 143.

    The interrupt first runs through the flow, so that its run folder is removed. Prefect would then wait for the tasks
    that still run, and report to a server that the same Ctrl-C has ended; that is cut short.
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
        with _told_of_termination(lambda: leave_soon(TERMINATED)):
            yield
    finally:
        for timer in leaving:
            timer.join()
        signal.signal(signal.SIGINT, before)


@contextmanager
def _told_of_termination(then: Callable[[], None]) -> Iterator[None]:
    """Call `then` at a SIGTERM while the block runs, whoever handles it: in a flow, that is Prefect.

    Outside a flow it is raised like Ctrl-C, where Python would end at once and leave Prefect's server behind.
    """

    def terminate(signal_number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        then()
        raise KeyboardInterrupt

    def watch() -> None:
        while number := told.recv(1):
            if number[0] == signal.SIGTERM and signal.getsignal(signal.SIGTERM) is not terminate:
                then()

    told, tell = socket.socketpair()
    tell.setblocking(False)
    before = signal.signal(signal.SIGTERM, terminate)
    fd_before = signal.set_wakeup_fd(tell.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(fd_before)
        signal.signal(signal.SIGTERM, before)
        tell.close()


def _leave(exit_code: int) -> None:
    from prefect.server.api.server import SubprocessASGIServer

    SubprocessASGIServer().stop()
    _in_the_end.close()
    err.show_cursor()
    # Past the console, whose bars would take the last line for themselves.
    print(f"\n{STOPPED}", file=sys.__stderr__, flush=True)
    os._exit(exit_code)


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
