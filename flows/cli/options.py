"""Options and defaults that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tasks.runs.study import RunConfig

RUNS: Path = RunConfig.model_fields["out"].default
"""Folder of all runs, unless another is given."""
FLAG = ""
"""Metavar of an option without a value; by default the help would show `<bool>`."""

Raw = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder with the raw files. Default: PREFSTUDY_RAW, then the cache."),
]
Unpinned = Annotated[bool, typer.Option("--allow-unpinned", metavar=FLAG, help="Accept raw files with another sha256.")]
Mapping = Annotated[
    Path | None,
    typer.Option(metavar="FILE.toml", help="Mapping of the columns of a choice experiment (conjoint, bela ...)."),
]
