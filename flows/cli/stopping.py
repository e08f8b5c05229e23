"""Ends the command within a second after Ctrl-C, SIGTERM or SIGHUP, at whatever point it is.

A thread of its own waits for the signal, cleans up and ends the process. No exception is raised in what is running
then, for imports, C code and Prefect's threads do not end well with one. Only a flow is told, so that it can tell
Prefect's server. This module imports little: the first thing that a command does is to call `watch`.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from flows.cli.exit_codes import HUNG_UP, INTERRUPTED, STOPPED, TERMINATED

CODES = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED, signal.SIGHUP: HUNG_UP}
SECONDS_FOR_FLOW = 0.4
SECONDS_TO_CLEAN_UP = 2.0
"""Cleaning takes some hundredths of a second; a machine on which many processes wait for their turn needs longer."""
SHOW_CURSOR = b"\x1b[?25h"

_stopping, _unwound = threading.Event(), threading.Event()
_told = threading.Lock()
_callbacks: list[Callable[[], None]] = []
_state: dict[str, Any] = {"unwinds": False}
"""unwinds: whether a flow is running. words: descriptor for the last words. terminal: attributes to restore."""


def watch() -> None:
    """End the process when one of the signals arrives, from now on. Call this first, in the main thread."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(Exception):  # without a terminal there is nothing to restore
        import termios

        _state["terminal"] = termios.tcgetattr(0)
    threading.Thread(target=_wait, args=(reader,), daemon=True, name="stopping").start()
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in CODES:
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores it
            signal.signal(number, _received)


def at_stop(callback: Callable[[], None]) -> None:
    """Call `callback` when a signal ends the process, in the order of these calls."""
    _callbacks.append(callback)


@contextmanager
def unwinding() -> Iterator[None]:
    """A signal also raises KeyboardInterrupt in the block, in the main thread. The block has 0.4 s to end by itself."""
    _state["unwinds"] = True
    try:
        yield
    finally:
        _state["unwinds"] = False
        _unwound.set()
        while _stopping.is_set():  # the other thread ends the process
            time.sleep(1)
        _unwound.clear()


def _received(number: int, frame: FrameType | None) -> None:
    """Nothing to do but to tell a flow: the thread has been woken by Python itself."""
    if _state["unwinds"] and not _stopping.is_set():
        _stopping.set()
        _be_silent()
        raise KeyboardInterrupt


def _wait(reader: int) -> None:
    number = 0
    while number not in CODES:  # other signals wake it too
        number = os.read(reader, 1)[0]
    unwinds = _state["unwinds"]
    _stopping.set()
    _be_silent()
    if unwinds:
        _unwound.wait(SECONDS_FOR_FLOW)
    cleaning = threading.Thread(target=_clean_up, daemon=True)
    cleaning.start()
    cleaning.join(SECONDS_TO_CLEAN_UP)
    _say_last_words()
    os._exit(CODES[signal.Signals(number)])


def _clean_up() -> None:
    for callback in _callbacks:
        with suppress(Exception):
            callback()


def _be_silent() -> None:
    """Keep what the interrupted threads still report from the terminal."""
    with _told:
        if "words" not in _state:
            _state["words"] = os.dup(2)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 2)


def _say_last_words() -> None:
    words = _state["words"]
    with suppress(Exception):
        os.write(words, (SHOW_CURSOR if os.isatty(words) else b"") + f"\n{STOPPED}\n".encode())
        if "terminal" in _state:
            import termios

            termios.tcsetattr(0, termios.TCSANOW, _state["terminal"])
    with suppress(Exception):
        sys.stdout.flush()
