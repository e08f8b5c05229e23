"""The provenance of a run for `run.json`: code, packages and machine."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from models.records.manifest import Manifest
from models.records.run_record import RunRecord
from tasks.runs.run_folder import RunFolder

ROOT = Path(__file__).resolve().parents[2]


def run_record(run: RunFolder, manifests: Sequence[Manifest]) -> RunRecord:
    """The record of a run so far: config, data, code, machine, and seconds for each step."""
    commit, dirty = git_state(ROOT)
    return RunRecord(
        study=run.study,
        run_id=run.run_id,
        started=run.started,
        config=run.config.model_dump(mode="json"),
        seed=run.config.seed,
        data=tuple(manifests),
        git_commit=commit,
        git_dirty=dirty,
        packages=package_versions(),
        python=platform.python_version(),
        machine=machine(),
        seconds=tuple(run.seconds),
        answers=tuple(run.answers),
        courses=tuple(run.courses),
    )


def git_state(root: Path) -> tuple[str | None, bool | None]:
    """The commit checked out in `root`, and whether tracked files differ from it; (None, None) outside a checkout."""
    top = _git(root, "rev-parse", "--show-toplevel")
    commit = _git(root, "rev-parse", "HEAD")
    if top is None or commit is None or Path(top).resolve() != root.resolve():
        return None, None
    return commit, bool(_git(root, "status", "--porcelain", "--untracked-files=no"))


def _git(root: Path, *arguments: str) -> str | None:
    try:
        answer = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()


def package_versions() -> dict[str, str]:
    """Versions of prefstudy and of the packages it declares, without extras."""
    declared = [line for line in metadata.requires("prefstudy") or [] if "extra ==" not in line]
    names = sorted(re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in declared)
    return {name: metadata.version(name) for name in ["prefstudy", *names]}


def machine() -> dict[str, Any]:
    """System, processor, cores and memory, on which the seconds depend. Nothing identifies the machine."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "implementation": sys.implementation.name,
    }
