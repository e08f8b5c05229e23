"""`prefstudy run`, `demo` and `report`: run a study, and say where its report lies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter

from data_adapters.source.raw_folder import locate
from flows.cli import console, studies
from flows.cli.config import read_config
from flows.cli.engine import interruptible, prepare_prefect
from models.records import MetricRow
from tasks.run_folder import check_output
from tasks.study import StudyConfig

EXAMPLES = """Examples:
  prefstudy run sushi                         with the paper's settings
  prefstudy run sushi --simulated             without data
  prefstudy run sushi --raw ~/sushi3-2016     on raw files that lie there
  prefstudy run sushi --set ratio=1 --seed 7  with other settings
  prefstudy run sushi --config my.toml        with settings from a file
  prefstudy run conjoint --raw DIR --mapping my.toml
                                              a choice experiment of your own
  prefstudy run pmr --simulated --engine rules
                                              without data and language model

A setting that does not exist is refused with the list of those that do."""

Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Folder that receives STUDY/RUN-ID.")]


def run(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="Which study; see: prefstudy list")],
    raw: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder with the raw files.")] = None,
    out: Out = None,
    simulated: Annotated[bool, typer.Option("--simulated", help="Simulate the raw files; the report says so.")] = False,
    allow_unpinned: Annotated[
        bool, typer.Option("--allow-unpinned", help="Accept raw files with another sha256; the report says so.")
    ] = False,
    mapping: Annotated[
        Path | None, typer.Option(metavar="FILE.toml", help="What the columns of a choice experiment are.")
    ] = None,
    engine: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who reads messages: vllm, server, rules or replay.")
    ] = None,
    features: Annotated[
        str | None, typer.Option(metavar="WHICH", help="Features of messages: propose, table9 or a TOML file.")
    ] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE.toml", help="Read settings from a TOML file.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change one setting; can be repeated.")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of everything random.")] = None,
) -> None:
    """Run a study, from raw files to report.

    Its folder runs/STUDY/RUN-ID gets run.json, results, figures, report.html and
    report.pdf, and appears whole or not at all. Without --raw, the raw files are
    looked for in PREFSTUDY_RAW and where prefstudy data fetch puts them.
    """
    options = {
        "raw": raw,
        "out": out,
        "simulated": simulated or None,
        "allow_unpinned": allow_unpinned or None,
        "mapping": mapping,
        "features": features,
        "seed": seed,
    }
    assignments = [*(settings or []), *([] if engine is None else [f"engine.kind={engine}"])]
    prepare_prefect()
    chosen = studies.study(study)
    _run(chosen, read_config(chosen.config, file=config, assignments=assignments, options=options))


def demo(out: Out = None) -> None:
    """Run every study, made small, on simulated data: nothing is needed, and it takes a minute or two."""
    prepare_prefect()
    for name in studies.names():
        chosen = studies.study(name)
        _run(chosen, chosen.demo if out is None else chosen.demo.model_copy(update={"out": out}))


def report(
    run_dir: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="Folder of a finished run: runs/STUDY/RUN-ID.")],
) -> None:
    """Write the report of a finished run again, without computing anything."""
    from reports.render import render

    with console.err.status("Writing the report ..."):
        render(run_dir)
    _say_where(run_dir)


def _run(study: studies.Study, config: StudyConfig) -> None:
    """Run a study after making sure, before Prefect's server starts, that its data is there and its output can be."""
    check_output(config.out / study.name)
    if not config.simulated:
        locate(config.adapter(study.name), config.raw, allow_unpinned=config.allow_unpinned)
    console.err.print(f"Study {study.name}", style="bold")
    with console.progress("Starting Prefect (about 10 s)"), interruptible():
        run_dir = study.flow(config)
    _show_published(run_dir, simulated=config.simulated)
    _say_where(run_dir)


def _show_published(run_dir: Path, *, simulated: bool) -> None:
    """The published numbers beside what was found; nothing to compare where the data is simulated."""
    rows = TypeAdapter(tuple[MetricRow, ...]).validate_json((run_dir / "results" / "metrics.json").read_bytes())
    columns = ["Metric", "Split", "Variant", "Found", *([] if simulated else ["Published", "Source"])]
    lines = console.table(*columns, numbers=["Found", "Published"])
    cells = [
        (row.metric, row.split, row.variant, _number(row.value), _number(row.published), row.published_source or "")
        for row in rows
        if row.published is not None
    ]
    for line in dict.fromkeys(found[: len(columns)] for found in cells):
        lines.add_row(*line)
    if lines.row_count:
        console.out.print()
        console.out.print(lines)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _say_where(run_dir: Path) -> None:
    files: dict[str, Any] = {
        "HTML": run_dir / "report.html",
        "PDF": run_dir / "report.pdf",
        "Results": run_dir / "results",
    }
    console.say("")
    for name, path in files.items():
        console.say(f"{name:8} {console.shown(path)}")
    console.say(f"\nOpen it: {files['HTML'].resolve().as_uri()}\n")
