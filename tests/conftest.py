"""Settings that all tests share."""

from __future__ import annotations

import pytest
from hypothesis import settings

# Doctests are looked for in every file but these: scripts, and helpers that need packages of their own.
collect_ignore_glob = ["benchmarks/*", "engines/llama_server.py", "engines/sitecustomize.py", "engines/tiny_qwen.py"]

FEW = "few"

# A busy machine is no failure of the code: examples have no deadline.
settings.register_profile("prefstudy", deadline=None)
settings.register_profile(FEW, deadline=None, max_examples=5)
settings.load_profile("prefstudy")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Start the longest tests first, so that two processes end together; reduce examples if the profile says few."""
    items.sort(key=lambda item: (item.get_closest_marker("deployment") is None, "tests/flows" not in item.nodeid))
    if config.getoption("--hypothesis-profile") == FEW:
        _ask_for_few_examples(items)


def _ask_for_few_examples(items: list[pytest.Item]) -> None:
    """Reduce also the examples of tests that ask for a number of their own."""
    few = settings.get_profile(FEW).max_examples
    for item in items:
        test = getattr(item, "obj", None)
        own = getattr(test, "_hypothesis_internal_use_settings", None)
        if own is not None and own.max_examples > few:
            getattr(test, "__func__", test)._hypothesis_internal_use_settings = settings(own, max_examples=few)
