"""The steps of a study that asks its users one question after another (dt-pbo, Figures 3 and 7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
from prefect import task, unmapped
from prefect.cache_policies import NO_CACHE

from models.records.base import Record
from models.records.published import Published, beside_published
from models.records.studies.asking_results import COURSES
from tasks.asking.comparing_courses import compare_courses
from tasks.asking.ways_of_asking import WAYS, Way, ask, course_metrics, summarise
from tasks.respondents.protocols import read_respondents
from tasks.runs.progress import advance
from tasks.runs.results import add_metrics, write_parquet
from tasks.runs.run_folder import RunFolder

ASKING = "Ask every user"
AT_ONCE: Mapping[str, int] = {"preference_tree": 5000, "preference_forest": 500, "preference_gp": 100}
"""Number of users per task; a task then takes some seconds."""


class Portion(Record):
    """A unit of work: the users from `start` up to `stop`, asked in one way."""

    name: str
    way: Way
    start: int
    stop: int


class AskingPlan(Record):
    """The users to ask, the first `users` of a table (None: all), and the number of questions to each."""

    table: Path
    users: int | None
    questions: int
    seed: int


def portions(ways: Mapping[str, Way], asked: AskingPlan, *, known: int, gp_users: int) -> list[Portion]:
    """The work of asking in every way; only the first gp_users users are asked with a Gaussian process.

    known: number of users the table has.
    """
    users = known if asked.users is None else min(known, asked.users)
    work = []
    for name, way in ways.items():
        many, step = min(users, gp_users) if way.model == "preference_gp" else users, AT_ONCE[way.model]
        work += [
            Portion(name=name, way=way, start=start, stop=min(start + step, many)) for start in range(0, many, step)
        ]
    return work


@task(name="ask users", cache_policy=NO_CACHE)
def ask_users(portion: Portion, asked: AskingPlan, work: Path) -> Path:
    """Ask the users of a portion. Returns a file with one row for each user and question."""
    respondents = read_respondents(asked.table, asked.users)
    judged = ask(
        respondents,
        portion.way,
        n_questions=asked.questions,
        seed=asked.seed,
        users=slice(portion.start, portion.stop),
    )
    path = work / f"asked-{portion.name}-{portion.start}.parquet"
    judged.to_parquet(path, index=False)
    advance(ASKING)
    return path


def ask_everybody(
    study: str,
    run: RunFolder,
    asked: AskingPlan,
    ways: Mapping[str, Way],
    *,
    known: int,
    gp_users: int,
    published: Sequence[Published],
) -> None:
    """Ask the users of a run in every way, and write the results.

    known: number of users the table has; published: values to report beside the curves.
    """
    work = portions(ways, asked, known=known, gp_users=gp_users)
    with run.step(ASKING, total=len(work)):
        paths = ask_users.map(work, unmapped(asked), unmapped(run.work)).result()
        write_courses(study, work, paths, run.results, published=published)


def write_courses(
    study: str,
    work: Iterable[Portion],
    paths: Iterable[Path],
    results: Path,
    *,
    published: Sequence[Published],
) -> None:
    """Write the means over users of all portions: `active_learning.parquet`, and the curves in `metrics.json`.

    Without any work nothing is written.
    """
    parts: dict[str, list[Path]] = {}
    ways = {}
    for portion, path in zip(work, paths, strict=True):
        ways[portion.name] = portion.way
        parts.setdefault(portion.name, []).append(path)
    if not parts:
        return
    judged = {name: pd.concat(map(pd.read_parquet, parts[name]), ignore_index=True) for name in ways}
    courses = pd.concat([summarise(name, way, judged[name]) for name, way in ways.items()], ignore_index=True)
    write_parquet(results / f"{COURSES}.parquet", pa.Table.from_pandas(courses, preserve_index=False))
    compare_courses(results, judged)
    curves = courses[courses["way"].isin(list(WAYS))]
    curves = curves.assign(variant=curves["way"])
    add_metrics(results / "metrics.json", beside_published(course_metrics(study, curves), published))
