"""A study's config: file, then --set, then options. An invalid setting is refused with its description."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import Field

from flows.cli.config import read_config
from models.records.base import Record
from models.records.errors import UsageError
from tasks.runs.study import StudyConfig


class Growth(Record):
    """Part of a config."""

    max_depth: int = Field(default=5, ge=1, description="depth at which every branch ends")
    min_pairs: int = Field(default=1, ge=1, description="pairs below which a node is a leaf")


class TeaConfig(StudyConfig):
    """Config of a study of tea."""

    test_share: float = Field(default=0.2, gt=0, lt=1, description="share of the pairs held out")
    tie_break: Literal["lowest", "random"] = Field(default="lowest", description="which of two equal splits wins")
    weight: float = Field(default=1.0, gt=0, description="weight of the prior")
    example: str | None = Field(default=None, description="whose tree is drawn")
    growth: Growth = Field(default=Growth(), description="how far trees grow")


def read(*assignments: str, file: Path | None = None, **options: Any) -> TeaConfig:
    config = read_config(TeaConfig, file=file, assignments=assignments, options=options)
    assert isinstance(config, TeaConfig)
    return config


def refusal(*assignments: str, file: Path | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        read(*assignments, file=file)
    return str(caught.value)


def test_the_later_source_wins(tmp_path: Path) -> None:
    file = tmp_path / "tea.toml"
    file.write_text("seed = 1\ntest_share = 0.5\n[growth]\nmax_depth = 2\n")
    assert read(file=file) == TeaConfig(seed=1, test_share=0.5, growth=Growth(max_depth=2))
    assert read("test_share=0.3", "growth.max_depth=9", file=file, seed=3) == TeaConfig(
        seed=3, test_share=0.3, growth=Growth(max_depth=9)
    )


def test_a_file_may_begin_with_the_byte_order_mark_that_windows_writes(tmp_path: Path) -> None:
    file = tmp_path / "tea.toml"
    file.write_bytes(b"\xef\xbb\xbfseed = 4\r\n")
    assert read(file=file).seed == 4


def test_a_partly_given_section_keeps_the_studys_defaults_for_its_other_fields() -> None:
    class StrongTeaConfig(TeaConfig):
        growth: Growth = Field(default=Growth(min_pairs=7), description="how far trees grow")

    config = read_config(StrongTeaConfig, file=None, assignments=["growth.max_depth=3"], options={})
    assert isinstance(config, StrongTeaConfig)
    assert config.growth == Growth(max_depth=3, min_pairs=7)


def test_an_option_that_was_not_given_changes_nothing() -> None:
    assert read("seed=4", seed=None).seed == 4


@pytest.mark.parametrize(("text", "value"), [("Ann", "Ann"), ('"7"', "7"), ("a=b", "a=b"), ("", "")])
def test_a_value_that_is_no_toml_is_a_string(text: str, value: str) -> None:
    assert read(f"example={text}").example == value


@pytest.mark.parametrize(
    ("assignment", "complaint"),
    [
        ("seed=1\ntest_share = 0.3", "--set seed: expected a value on one line"),
        ("example=Ann\r\nBob", "--set example: expected a value on one line"),
        ("seed=" + "[" * 5_000, "--set seed: [[[[[[[[[[... is nested too deeply to be a value."),
    ],
)
def test_a_value_of_several_lines_or_without_end_is_refused_on_one(assignment: str, complaint: str) -> None:
    message = refusal(assignment)
    assert message.startswith(complaint)
    assert "\n" not in message


@pytest.mark.parametrize("name", ["seed", "weight", "growth.max_depth"])
def test_true_is_no_number(name: str) -> None:
    message = refusal(f"{name}=true")
    assert f"{name} = true: input should be a number\n    {name}: " in message


def test_an_unknown_setting_is_refused_with_the_one_meant_and_all_there_are() -> None:
    message = refusal("test_shar=0.3")
    assert "test_shar: there is no such setting. Did you mean test_share?" in message
    assert (
        "There are: out, seed, raw, simulated, allow_unpinned, test_share, tie_break, weight, example, growth"
        in message
    )


def test_an_unknown_setting_of_a_part_is_refused_with_those_of_the_part() -> None:
    message = refusal("growth.depth=3")
    assert "growth.depth: there is no such setting. Did you mean max_depth?\n    There are: max_depth" in message


def test_an_impossible_value_is_refused_with_the_settings_own_description() -> None:
    message = refusal("test_share=1.5")
    assert "test_share = 1.5: input should be less than 1" in message
    assert "test_share: share of the pairs held out (default: 0.2)" in message


@pytest.mark.parametrize("value", ["inf", "nan"])
def test_a_number_that_is_not_finite_is_refused(value: str) -> None:
    assert f"weight = {value}: input should be a finite number" in refusal(f"weight={value}")


def test_a_tilde_is_the_home_folder_where_no_shell_has_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    config = read("raw=~/sushi3-2016", out=Path("~/runs"))
    assert (config.raw, config.out) == (Path("/home/ann/sushi3-2016"), Path("/home/ann/runs"))
    assert "raw = ~nobody-of-that-name/x: this machine has no home folder ~nobody-of-that-name" in refusal(
        "raw=~nobody-of-that-name/x"
    )


def test_every_problem_is_reported_at_once() -> None:
    message = refusal("tie_break=highest", "growth.max_depth=0")
    assert "tie_break = highest: input should be 'lowest' or 'random'" in message
    assert "growth.max_depth = 0: input should be greater than or equal to 1" in message
    assert "depth at which every branch ends (default: 5)" in message


@pytest.mark.parametrize("assignment", ["test_share", "=3", "growth..max_depth=3"])
def test_an_assignment_that_is_none_is_refused_with_an_example(assignment: str) -> None:
    assert refusal(assignment) == f"--set {assignment}: expected key=value, for example --set test_share=0.3"


def test_a_part_of_a_single_value_is_refused() -> None:
    assert refusal("seed=1", "seed.low=3") == "--set seed.low=3: seed is a single value and has no parts."


def test_a_config_file_that_is_missing_or_broken_is_refused_by_name(tmp_path: Path) -> None:
    assert refusal(file=tmp_path / "tea.toml").endswith(
        "tea.toml: the config cannot be read (no such file or directory)."
    )
    (tmp_path / "tea.toml").write_text("test_share = \n")
    assert "tea.toml: this is not a TOML file (Invalid value (at line 1, column 14))" in refusal(
        file=tmp_path / "tea.toml"
    )
