"""How many mapped tasks of a flow run at the same time."""

from __future__ import annotations

import os
from typing import Any, cast

from prefect.futures import PrefectFuture
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner


def one_thread_a_core() -> TaskRunner[PrefectFuture[Any]]:
    """A task runner for a flow. Prefect's own default is a thread a task, which needs the memory of all at once."""
    return cast(TaskRunner[PrefectFuture[Any]], ThreadPoolTaskRunner(max_workers=os.cpu_count()))
