"""`prefstudy deployments`: the complete prefect.yaml, from what the studies declare."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from flows.cli import console, studies
from flows.cli.prefect_runtime import prepare_prefect
from flows.nightly import Nightly
from models.records.errors import OutputError
from models.records.whole_file import whole_file

EXAMPLES = """Examples:
  prefstudy deployments           print it
  prefstudy deployments --write   write it over the prefect.yaml of this clone

Then, from the root of the clone:
  PREFSTUDY_ROOT=$PWD prefect --no-prompt deploy --all"""

PREFECT_YAML = Path(__file__).parents[3] / "prefect.yaml"
AFTER_ALL = Nightly(cron="0 6 * * *")
"""The index: written when the studies of the night have run."""


class Deployment(NamedTuple):
    """One entry of prefect.yaml."""

    entrypoint: str
    description: str
    tags: tuple[str, ...]
    slug: str
    nightly: Nightly


def deployments(
    write: Annotated[bool, typer.Option("--write", help="Write it to prefect.yaml in the root of this clone.")] = False,
) -> None:
    """Print the complete prefect.yaml: a nightly deployment of every study, and of the index.

    Every study runs at 03:00 UTC on the work pool prefstudy, unless its module
    declares something else in NIGHTLY.
    """
    prepare_prefect()
    text = prefect_yaml()
    if not write:
        typer.echo(text, nl=False)
        return
    try:
        with whole_file(PREFECT_YAML) as aside:
            aside.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{PREFECT_YAML} cannot be written: {error.strerror or error}.") from error
    console.say(f"Written: {console.shown(PREFECT_YAML)}")


def prefect_yaml() -> str:
    """The content of prefect.yaml. Imports every study, and Prefect with them."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from flows.index import index_studies

    entries = [_of_study(name) for name in studies.names()]
    index = Deployment("flows/index.py:index_studies", _first_line(index_studies), ("index",), "morning", AFTER_ALL)
    pools = dict.fromkeys(entry.nightly.pool for entry in (index, *entries))
    environment = Environment(
        loader=PackageLoader("flows.cli.commands"), undefined=StrictUndefined, autoescape=False, trim_blocks=True,
        keep_trailing_newline=True
    )  # fmt: skip
    environment.filters["as_yaml"] = partial(json.dumps, ensure_ascii=False)
    return environment.get_template("prefect.yaml.j2").render(
        pools={pool: pool.replace("-", "_") for pool in pools}, deployments=[*entries, index]
    )


def _of_study(name: str) -> Deployment:
    study = studies.study(name)
    nightly = study.nightly
    description = _first_line(study.flow) + (" On simulated data." if nightly.config.get("simulated") else "")
    return Deployment(
        f"flows/studies/{name}.py:{name}_study", description, ("study", name, *nightly.tags), "nightly", nightly
    )


def _first_line(flow: object) -> str:
    """The first line of a flow's docstring."""
    return (flow.__doc__ or "").strip().partition("\n")[0]
