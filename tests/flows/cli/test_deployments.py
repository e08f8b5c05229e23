"""prefect.yaml is generated from what each study declares; a new study needs no entry by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from flows.cli import studies
from flows.cli.commands import deployments
from flows.cli.commands.deployments import PREFECT_YAML, prefect_yaml
from flows.cli.main import main
from flows.nightly import Nightly


@pytest.fixture(scope="module")
def generated() -> dict[str, Any]:
    return dict(yaml.safe_load(prefect_yaml()))


def by_entrypoint(content: dict[str, Any]) -> dict[str, Any]:
    return {deployment["entrypoint"]: deployment for deployment in content["deployments"]}


def test_every_study_is_deployed_and_the_index_after_them(generated: dict[str, Any]) -> None:
    found = by_entrypoint(generated)
    assert set(found) == {
        "flows/index.py:index_studies",
        *(f"flows/studies/{name}.py:{name}_study" for name in studies.names()),
    }
    times = {entry["schedules"][0]["cron"] for path, entry in found.items() if "index" not in path}
    assert times == {"0 3 * * *"}
    assert found["flows/index.py:index_studies"]["schedules"][0]["cron"] == "0 6 * * *"
    assert all(entry["name"] == "nightly" and entry["description"] for entry in found.values())
    assert all(entry["concurrency_limit"]["limit"] == 1 for entry in found.values())


def test_what_a_study_declares_is_what_is_deployed(generated: dict[str, Any]) -> None:
    found = by_entrypoint(generated)
    on_a_gpu = {path for path, entry in found.items() if entry["work_pool"]["name"] == "prefstudy-gpu"}
    assert on_a_gpu == {"flows/studies/pmr.py:pmr_study"}
    simulated = {path for path, entry in found.items() if "parameters" in entry}
    assert simulated == {f"flows/studies/{name}.py:{name}_study" for name in ("bela", "conjoint", "presidential")}
    assert all(found[path]["parameters"] == {"config": {"simulated": True}} for path in simulated)


def test_settings_of_any_kind_arrive_as_they_are_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    config = {"raw": '/data/tea: "good" # {{ x }}', "runs": 3}
    of_tea = studies.study("conjoint")._replace(nightly=Nightly(config=config, cron="5 4 * * 0"))
    monkeypatch.setattr(studies, "names", lambda: ("conjoint",))
    monkeypatch.setattr(studies, "study", lambda name: of_tea)
    [entry, _] = yaml.safe_load(prefect_yaml())["deployments"]
    assert entry["parameters"] == {"config": config}
    assert entry["schedules"] == [{"slug": "nightly", "cron": "5 4 * * 0", "timezone": "UTC"}]


def test_the_committed_file_says_what_its_studies_declare(generated: dict[str, Any]) -> None:
    """A study missing from it is no error: `prefstudy deployments --write` adds it."""
    committed = yaml.safe_load(PREFECT_YAML.read_text("utf-8"))
    expected = by_entrypoint(generated)
    assert by_entrypoint(committed) == {path: expected.get(path) for path in by_entrypoint(committed)}
    rest = {"deployments", "definitions"}
    assert {key: committed[key] for key in committed.keys() - rest} == {
        key: generated[key] for key in generated.keys() - rest
    }


def test_it_is_printed_or_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(deployments, "PREFECT_YAML", tmp_path / "prefect.yaml")
    assert main(["deployments"]) == 0
    printed = capsys.readouterr().out
    assert not (tmp_path / "prefect.yaml").exists()
    assert main(["deployments", "--write"]) == 0
    assert (tmp_path / "prefect.yaml").read_text("utf-8") == printed == prefect_yaml()


def test_the_command_line_imports_no_prefect_for_it() -> None:
    script = "import sys; import flows.cli.main; print('prefect' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "False\n"
    )
