"""`prefstudy run`, `demo`, `report` and `index`: run studies, write reports, and say where they lie."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.cli import console, studies
from flows.cli.config import read_config, read_configs, refuse_both
from flows.cli.engine import prepare_prefect
from flows.cli.execution import Planned, run_studies, run_study, say_where
from flows.cli.found import shown_run
from models.records.errors import UsageError
from tasks.runs.study import StudyConfig

ALL = "all"

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
  prefstudy run all                           all whose data is at hand
  prefstudy run all --simulated --set sushi.users=500

A setting that does not exist is refused with the list of those that do."""

DEMO_EXAMPLES = """Examples:
  prefstudy demo sushi              one study
  prefstudy demo                    all of them, and an index over them
  prefstudy demo pmr --out my-runs  into another folder than runs

One takes from half a minute to three."""

REPORT_EXAMPLES = """Examples:
  prefstudy report runs/sushi/20260101T030000Z-ea286fe2
  prefstudy index
  prefstudy index my-runs

Both write from what a run left in its folder; neither needs its data."""

Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Folder that receives STUDY/RUN-ID.")]


def run(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="Which study, or all; see: prefstudy list")],
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
    """Run a study, or all of them, from raw files to report.

    Its folder runs/STUDY/RUN-ID gets run.json, results, figures, report.html
    and report.pdf, and appears whole or not at all. Without --raw, raw files are
    looked for in PREFSTUDY_RAW and where prefstudy data fetch puts them.

    With all, a study whose data is not at hand is skipped, one that fails does
    not stop the others, and runs/index.html and index.pdf report on them all.
    """
    refuse_both(raw, simulated=simulated)
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
    if study == ALL:
        if mapping is not None:
            raise UsageError("--mapping: with all, say whose: --set bela.mapping=FILE.toml")
        if engine is not None or features is not None:
            raise UsageError("--engine, --features: with all, say whose: --set pmr.engine.kind=rules")
        chosen = {name: studies.study(name) for name in studies.names()}
        kinds = {name: found.config for name, found in chosen.items()}
        configs = read_configs(kinds, file=config, assignments=assignments, options=options)
        run_studies([Planned(chosen[name], configs[name]) for name in chosen], _folder_of_all(out))
        return
    one = studies.study(study)
    if raw is not None:
        options["simulated"] = False  # also where a study draws its data if nothing else is said
    _run_one(one, read_config(one.config, file=config, assignments=assignments, options=options))


def demo(
    name: Annotated[
        str | None, typer.Argument(metavar="STUDY", help="Only this one; every study if not given.")
    ] = None,
    out: Out = None,
) -> None:
    """Run every study, or one, made small, on simulated data: nothing is needed."""
    prepare_prefect()
    folder = _folder_of_all(out)
    chosen = [studies.study(chosen) for chosen in (studies.names() if name is None else (name,))]
    planned = [Planned(study, study.demo.model_copy(update={"out": folder})) for study in chosen]
    if name is None:
        run_studies(planned, folder)
    else:
        _run_one(*planned[0])


def report(
    run_dir: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="Folder of a finished run: runs/STUDY/RUN-ID.")],
) -> None:
    """Write the report of a finished run again, without computing anything."""
    from reports.page.render import render

    with console.err.status("Writing the report ..."):
        render(run_dir)
    say_where(_report_of(run_dir))


def index(
    runs: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of all runs: DIR/STUDY/RUN-ID.")] = Path("runs"),
) -> None:
    """Write one report over the latest run of each study, without computing anything.

    It is DIR/index.html and DIR/index.pdf, as prefstudy run all leaves them.
    """
    from reports.page.index import render_index

    with console.err.status("Writing the index ..."):
        rendered = render_index(runs)
    say_where({"Index": rendered.html, "PDF": rendered.pdf})


def _folder_of_all(out: Path | None) -> Path:
    """The folder of all runs: the one given, or else where every study writes."""
    folder: Path = StudyConfig.model_fields["out"].default
    return folder if out is None else out.expanduser()


def _run_one(study: studies.Study, config: StudyConfig) -> None:
    """Run a study, and say what it found and where its report lies."""
    run_dir = run_study(study, config)
    console.out.print()
    console.out.print(shown_run(run_dir, published_drew=study.config.model_fields["simulated"].default))
    say_where(_report_of(run_dir))


def _report_of(run_dir: Path) -> dict[str, Path]:
    return {"HTML": run_dir / "report.html", "PDF": run_dir / "report.pdf", "Results": run_dir / "results"}
