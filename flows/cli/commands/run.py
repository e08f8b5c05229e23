"""`prefstudy run`, `demo`, `report` and `index`: run studies and write reports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.cli import console, studies
from flows.cli.config import read_config, read_configs, refuse_both
from flows.cli.execution import Planned, print_paths, run_studies, run_study
from flows.cli.options import FLAG, RUNS, Mapping, Raw
from flows.cli.prefect_runtime import prepare_prefect
from flows.cli.result_table import shown_run
from models.records.errors import UsageError
from tasks.runs.study import RunConfig

ALL = "all"

EXAMPLES = """Examples:
  prefstudy run sushi                         with the paper's settings
  prefstudy run sushi --simulated             on simulated data
  prefstudy run sushi --raw ~/sushi3-2016     on the raw files in that folder
  prefstudy run sushi --set ratio=1 --seed 7  with other settings
  prefstudy run sushi --config my.toml        with settings from a file
  prefstudy run conjoint --raw DIR --mapping my.toml
                                              on your own choice experiment
  prefstudy run pmr --simulated --engine rules
                                              without a language model
  prefstudy run all                           every study whose data is here
  prefstudy run all --simulated --set sushi.users=500

If a setting does not exist, the error lists those that do."""

DEMO_EXAMPLES = """Examples:
  prefstudy demo sushi              one study
  prefstudy demo                    all studies, and an index over them
  prefstudy demo pmr --out my-runs  write to another folder than runs

A demo takes between half a minute and three minutes."""

REPORT_EXAMPLES = """Examples:
  prefstudy report runs/sushi/20260101T030000Z-ea286fe2
  prefstudy index
  prefstudy index my-runs

Both commands read only the folders of finished runs; no data is needed."""

Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Folder for the run: DIR/STUDY/RUN-ID. Default: runs.")
]


def run(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="Name of a study, or all. See: prefstudy list")],
    raw: Raw = None,
    out: Out = None,
    simulated: Annotated[
        bool, typer.Option("--simulated", metavar=FLAG, help="Simulate the raw files. The report says so.")
    ] = False,
    allow_unpinned: Annotated[
        bool,
        typer.Option(
            "--allow-unpinned", metavar=FLAG, help="Accept raw files with another sha256. The report says so."
        ),
    ] = False,
    mapping: Mapping = None,
    engine: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Engine that reads messages (pmr): vllm, server, rules or replay."),
    ] = None,
    features: Annotated[
        str | None, typer.Option(metavar="WHICH", help="Features of messages (pmr): propose, table9 or a TOML file.")
    ] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE.toml", help="Read settings from a TOML file.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change one setting; may be repeated.")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of all random numbers.")] = None,
) -> None:
    """Run one study, or all of them, from raw files to report.

    The folder runs/STUDY/RUN-ID receives run.json, results, figures, report.html
    and report.pdf. It appears when the run is complete, and not at all if it
    fails. Without --raw, raw files are read from PREFSTUDY_RAW, or else from
    the cache that prefstudy data fetch fills.

    With all, a study without data is skipped, and one that fails does not stop
    the others. runs/index.html and runs/index.pdf cover all of them.
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
            raise UsageError("--mapping: with all, name the study: --set bela.mapping=FILE.toml")
        if engine is not None or features is not None:
            raise UsageError("--engine, --features: with all, name the study: --set pmr.engine.kind=rules")
        loaded, broken = studies.load_all()
        kinds = {name: found.config for name, found in loaded.items()}
        configs = read_configs(kinds, file=config, assignments=assignments, options=options)
        run_studies([Planned(loaded[name], configs[name]) for name in loaded], _folder_of_all(out), broken)
        return
    one = studies.study(study)
    if raw is not None and "simulated" in one.config.model_fields:
        options["simulated"] = False  # some studies simulate by default
    _run_one(one, read_config(one.config, file=config, assignments=assignments, options=options))


def demo(
    name: Annotated[str | None, typer.Argument(metavar="STUDY", help="Name of a study. Default: all studies.")] = None,
    out: Out = None,
) -> None:
    """Run small versions of all studies, or of one, on simulated data.

    No data and no network is needed.
    """
    prepare_prefect()
    folder = _folder_of_all(out)
    if name is None:
        loaded, broken = studies.load_all()
        run_studies([_demo(study, folder) for study in loaded.values()], folder, broken)
    else:
        _run_one(*_demo(studies.study(name), folder))


def report(
    run_dir: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="Folder of a finished run: runs/STUDY/RUN-ID")],
) -> None:
    """Write the report of a finished run again from its results."""
    from reports.page.render import render

    with console.err.status("Writing the report ..."):
        render(run_dir)
    print_paths(_report_of(run_dir))


def index(
    runs: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that holds the runs.")] = RUNS,
) -> None:
    """Write one report over the latest run of each study.

    The files are DIR/index.html and DIR/index.pdf, as after prefstudy run all.
    """
    from tasks.claims.index import write_index

    with console.err.status("Writing the index ..."):
        rendered = write_index(runs)
    print_paths({"Index": rendered.html, "PDF": rendered.pdf})


def _demo(study: studies.Study, folder: Path) -> Planned:
    return Planned(study, study.demo.model_copy(update={"out": folder}))


def _folder_of_all(out: Path | None) -> Path:
    """The folder of all runs: the one given, or else the default of all studies."""
    return RUNS if out is None else out.expanduser()


def _run_one(study: studies.Study, config: RunConfig) -> None:
    """Run a study, then print what it found and where its report is."""
    run_dir = run_study(study, config)
    console.out.print()
    simulated = study.config.model_fields.get("simulated")
    console.out.print(shown_run(run_dir, published_simulated=simulated is not None and bool(simulated.default)))
    print_paths(_report_of(run_dir))


def _report_of(run_dir: Path) -> dict[str, Path]:
    return {"HTML": run_dir / "report.html", "PDF": run_dir / "report.pdf", "Results": run_dir / "results"}
