"""The benchmark study: searching the maximum of eight functions by comparisons, with trees and Gaussian processes."""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from tasks.benchmark.comparing import write_comparisons
from tasks.benchmark.kept import search_all
from tasks.benchmark.plan import BenchmarkConfig, plan
from tasks.benchmark.summaries import course_times, write_courses, write_ruggedness, write_surfaces
from tasks.runs.publish import keep_artifacts, publish
from tasks.runs.run_folder import run_folder
from tasks.runs.workers import one_thread_a_core

PAPER = BenchmarkConfig()
DEMO = BenchmarkConfig(
    functions=("branin", "hartmann"), models=("tree", "forest"), runs=2, questions=30, depths=(2, 4), ratios=(1.0,)
)


@flow(name="benchmark", task_runner=one_thread_a_core())
def benchmark_study(config: BenchmarkConfig = PAPER) -> Path:
    """Search the maximum of eight functions with 20 + 200 comparisons, 20 times (dt-pbo, section 4.1 and F)."""
    with run_folder("benchmark", config) as run:
        planned = plan(config)
        with run.step("Measure ruggedness"):
            write_ruggedness(config.functions, run.results)
        kept = search_all(run, config, planned)
        with run.step("Compare the models"):
            finals = write_courses(planned, kept, run.results)
            write_comparisons(config, finals, run.results)
            write_surfaces(planned, kept, run.results)
            run.courses.extend(course_times(planned, kept))
        with run.step("Write the report"):
            publish(run, ())
    keep_artifacts(run.path)
    return run.path
