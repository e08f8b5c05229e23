"""Parallelism of a flow: number of mapped tasks at a time, and threads in each."""

from __future__ import annotations

import os
from typing import Any, cast

from prefect.futures import PrefectFuture
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner
from threadpoolctl import threadpool_limits


def one_thread_a_core() -> TaskRunner[PrefectFuture[Any]]:
    """A task runner with one thread per core. Prefect's default runs all tasks at once, with the memory of all."""
    return cast(TaskRunner[PrefectFuture[Any]], ThreadPoolTaskRunner(max_workers=os.cpu_count()))


def one_blas_thread() -> None:
    """Limit the linear algebra of this process to one thread, so that the number of cores changes no digit.

    Tasks already share the cores; further threads would only compete.
    """
    threadpool_limits(1, "blas")
