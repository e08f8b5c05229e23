"""A hundred mutated raw files: none ends in a traceback, and none is read otherwise than its cells say."""

from __future__ import annotations

from collections import Counter

import pytest

from data_adapters.choice import reading
from tests.data_adapters.fuzz_adapters import fuzz


def test_a_mutated_file_is_refused_in_words_or_read_as_it_is():
    outcomes = fuzz(100, seed=11)
    assert [outcome.what for outcome in outcomes if outcome.kind == "fault"] == []
    assert Counter(outcome.kind for outcome in outcomes)["read"] >= 10


def test_the_fuzz_finds_a_reader_that_turns_outcomes_round(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reading, "LEFT", reading.LEFT + 1)
    assert any("differs silently" in outcome.what for outcome in fuzz(40, seed=11))
