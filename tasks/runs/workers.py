"""How many mapped tasks of a flow run at the same time, and in how many threads each."""

from __future__ import annotations

import os
from typing import Any, cast

from prefect.futures import PrefectFuture
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner
from threadpoolctl import threadpool_limits


def one_thread_a_core() -> TaskRunner[PrefectFuture[Any]]:
    """A task runner for a flow. Prefect's own default is a thread a task, which needs the memory of all at once."""
    return cast(TaskRunner[PrefectFuture[Any]], ThreadPoolTaskRunner(max_workers=os.cpu_count()))


def one_blas_thread() -> None:
    """From now on the linear algebra of this process takes one thread, so that the number of cores changes no digit.

    Tasks share the cores; with threads of their own each, they would only be in one another's way.
    """
    threadpool_limits(1, "blas")
