"""`run.json` names the code, packages and machine of a run."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tasks.runs.provenance import git_state, machine, package_versions


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_commit_and_dirt_of_a_checkout(tmp_path: Path) -> None:
    git(tmp_path, "init")
    (tmp_path / "code.py").write_text("1")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "first")
    commit = git(tmp_path, "rev-parse", "HEAD")
    assert git_state(tmp_path) == (commit, False)
    (tmp_path / "notes.txt").write_text("untracked files do not change the code")
    assert git_state(tmp_path) == (commit, False)
    (tmp_path / "code.py").write_text("2")
    assert git_state(tmp_path) == (commit, True)


def test_a_folder_that_is_no_checkout_has_no_commit_even_inside_of_another(tmp_path: Path) -> None:
    assert git_state(tmp_path) == (None, None)
    git(tmp_path, "init")
    git(tmp_path, "commit", "--allow-empty", "-m", "first")
    inner = tmp_path / "unpacked"
    inner.mkdir()
    assert git_state(inner) == (None, None)


def test_versions_cover_the_declared_packages_and_no_development_tool() -> None:
    versions = package_versions()
    assert {"prefstudy", "numpy", "prefect", "pyarrow"} <= versions.keys()
    assert "pytest" not in versions


def test_the_machine_is_described_and_not_named() -> None:
    described = machine()
    assert described["cores"] >= 1
    assert described["memory_gib"] > 0
    assert set(described) == {"system", "processor", "cores", "memory_gib", "implementation"}
