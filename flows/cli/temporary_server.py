"""Prefect's temporary server as a process whose life is tied to ours.

Prefect can start one by itself. That one outlives a command that is killed, and to end it takes an import of seconds.
"""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from models.records.errors import ServerError

SCRIPT = Path(__file__).with_name("server_process.py")
SECONDS_TO_END = 5
LONGEST_QUEUE = 128


class TemporaryServer:
    """A Prefect server on a free port of this machine. aside: folders to remove if this process is killed."""

    def __init__(self, aside: Sequence[str] = ()) -> None:
        with socket.create_server(("127.0.0.1", 0), backlog=LONGEST_QUEUE) as listening:
            self.port: int = listening.getsockname()[1]
            number = listening.fileno()
            # A session of its own: Ctrl-C at the terminal must not end it before the flow has ended.
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(SCRIPT), str(number), *aside],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=[number],
                start_new_session=True,
            )

    @property
    def api(self) -> str:
        """The address for PREFECT_API_URL."""
        return f"http://127.0.0.1:{self.port}/api"

    def wait(self, seconds: float) -> None:
        """Return when the server answers. Raises ServerError if it ends instead, or takes longer."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=left)
                connection.request("GET", "/api/health")
                if connection.getresponse().status == http.client.OK:
                    return
            except (OSError, http.client.HTTPException):
                if self._process.poll() is not None:
                    break
            time.sleep(0.05)
        self.kill()
        raise ServerError(
            f"Prefect's temporary server did not start within {seconds:.0f} s. Its last words are above. Look whether "
            "the disk is full; or start a server (prefect server start) and set PREFECT_API_URL."
        )

    def stop(self) -> None:
        """Let the server write what it has received, then end it."""
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(SECONDS_TO_END)
        self.kill()

    def kill(self) -> None:
        """End the server at once, with all processes it started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
