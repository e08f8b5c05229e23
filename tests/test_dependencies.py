"""The packages that pyproject.toml declares are those that the code imports."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("flows", "tasks", "reports", "prompts", "data_adapters", "models")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = {"shap": "shap", "vllm": "vllm", "torch": "vllm"}  # by module; imported only when they are asked for


def distribution(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower()


def imported() -> set[str]:
    """The top-level modules that the rooms import from elsewhere."""
    names: set[str] = set()
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names.add(str(node.module).partition(".")[0])
    return names - {*ROOMS, *sys.stdlib_module_names}


def distributions() -> dict[str, str]:
    """The distribution of each imported module; a module that is not installed stands for itself."""
    known = packages_distributions()
    return {name: known.get(name, [name])[0].lower().replace("_", "-") for name in imported()}


FOUND = distributions()
DECLARED = {distribution(requirement) for requirement in PROJECT["dependencies"]}


@pytest.mark.parametrize(("module", "name"), sorted(FOUND.items()))
def test_what_is_imported_is_declared(module: str, name: str) -> None:
    if module in EXTRAS:
        extra = EXTRAS[module]
        assert extra in {distribution(requirement) for requirement in PROJECT["optional-dependencies"][extra]}
    else:
        assert name in DECLARED, f"the code imports {module}; pyproject.toml does not declare {name}"


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_what_is_declared_is_imported(name: str) -> None:
    assert name in FOUND.values(), f"pyproject.toml declares {name}, and no room imports it"
