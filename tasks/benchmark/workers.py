"""Processes that compute cells. Models are Python for the most part, so threads of one process would wait in line.

A worker ends when the process that started it ends, however that ends.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

from tasks.benchmark.cells import Course, CourseCell, Surface, SurfaceCell, compute


class Workers:
    """Computes cells, each in one of several processes."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def compute(self, cell: CourseCell | SurfaceCell) -> Course | Surface:
        """What a cell finds; returns when a worker has found it."""
        return self._pool.submit(compute, cell).result()


@contextmanager
def workers(number: int | None = None) -> Iterator[Workers]:
    """Start processes, by default one for each core. Leaving the block ends them, with what they still compute."""
    many = number or os.cpu_count() or 1
    pool = ProcessPoolExecutor(many, mp_context=multiprocessing.get_context("spawn"), initializer=_prepare)
    try:
        yield Workers(pool)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _prepare() -> None:
    """One thread for linear algebra, no interest in Ctrl-C, and an end together with the parent."""
    threadpool_limits(1, "blas")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
