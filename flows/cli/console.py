"""Terminal output: results go to standard output, progress and errors to standard error."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TimeElapsedColumn,
)
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from models.records.plain_text import escaped, unprintable


class PlainConsole(Console):
    """A console that prints text as it is: no markup, no emoji codes, and control characters as their escapes.

    Brackets in a path or in '.[vllm]' stay, and no name from data can steer the terminal.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """As rich does, with control characters escaped before the width is measured."""
        return super().render_str(escaped(text, LINES), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """As rich does, with control characters escaped in all text; rich's own control codes are not text."""
        for segment in super().render(renderable, options):
            if segment.control is None and unprintable(segment.text, LINES):
                yield Segment(escaped(segment.text, LINES), segment.style)
            else:
                yield segment


LINES = "\n\t"
"""Control characters that text may hold on a terminal."""
out = PlainConsole()
err = PlainConsole(stderr=True)


def print_any_text() -> None:
    """Show as an escape what the encoding of the terminal cannot hold, such as é in ASCII or a path that is no text."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(text: str) -> None:
    """Print to standard output without wrapping, so that no path is broken."""
    out.print(text, soft_wrap=True)


def complain(text: str) -> None:
    """Print an error to standard error. Its first line says what went wrong and is highlighted."""
    first, _, rest = text.partition("\n")
    err.print(first, style="bold red", soft_wrap=True)
    if rest:
        err.print(rest, soft_wrap=True)


def table(*columns: str, numbers: Sequence[str] = ()) -> Table:
    """An empty table without borders. Columns named in `numbers` are right-aligned."""
    grid = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in columns:
        grid.add_column(name, overflow="fold", justify="right" if name in numbers else "left")
    return grid


def shown(path: Path) -> str:
    """A path as a user would type it: relative if it lies below the current folder, else absolute."""
    path = path.resolve()
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


@contextmanager
def download() -> Iterator[Callable[[str, int, int | None], None]]:
    """Progress bars of a download. Yields a function of (file name, bytes so far, total bytes if known)."""
    bars = Progress(_NameColumn(), BarColumn(bar_width=20), DownloadColumn(), console=err)
    files: dict[str, TaskID] = {}

    def arrived(name: str, so_far: int, in_all: int | None) -> None:
        if name not in files:
            files[name] = bars.add_task(name, total=in_all)
            # Not earlier: a moving bar would overwrite the question about the licence.
            bars.start()
        bars.update(files[name], completed=so_far, total=in_all)

    try:
        yield arrived
    finally:
        if files:
            bars.stop()


@contextmanager
def progress(first: str) -> Iterator[None]:
    """Show the steps that `tasks.runs.progress` announces while the block runs. Before the first step, show `first`."""
    logger = logging.getLogger("prefstudy")
    bars = Progress(
        SpinnerColumn(finished_text="[green]✓[/]"),
        _NameColumn(),
        BarColumn(bar_width=20),
        _PartsColumn(),
        TimeElapsedColumn(),
        console=err,
    )
    handler: logging.Handler = _Bars(bars, first) if err.is_terminal else _Lines()
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        if err.is_terminal:
            with bars:
                yield
        else:
            yield
    finally:
        logger.removeHandler(handler)
        logger.level, logger.propagate = before


class _NameColumn(ProgressColumn):
    """What a bar is about, escaped before its width is measured."""

    def render(self, task: Task) -> Text:
        return Text(escaped(task.description))


class _PartsColumn(MofNCompleteColumn):
    """Number of finished parts of a step; empty for a step without parts."""

    def render(self, task: Task) -> Text:
        return super().render(task) if (task.total or 0) > 1 else Text()


class _Bars(logging.Handler):
    """Log handler for a terminal: a progress bar for each step."""

    def __init__(self, bars: Progress, first: str) -> None:
        super().__init__()
        self.bars = bars
        self.tasks: dict[str, TaskID] = {}
        self.waiting: TaskID | None = bars.add_task(first, total=None)

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            self.bars.console.print(record.getMessage(), soft_wrap=True)
        step = getattr(record, "step", None)
        if step is None:
            return
        if self.waiting is not None:
            self.bars.remove_task(self.waiting)
            self.waiting = None
        if hasattr(record, "total"):
            self.tasks[step] = self.bars.add_task(step, total=record.total)
        elif hasattr(record, "advance"):
            self.bars.advance(self.tasks[step], record.advance)
        else:
            total = self.bars.tasks[self.bars.task_ids.index(self.tasks[step])].total or 1
            self.bars.update(self.tasks[step], total=total, completed=total)


class _Lines(logging.Handler):
    """Log handler for a file or a pipe: a line for each finished step and each warning."""

    def emit(self, record: logging.LogRecord) -> None:
        if hasattr(record, "seconds") or record.levelno >= logging.WARNING:
            err.print(record.getMessage(), soft_wrap=True)
