"""The shap library is an extra: values need none of it, and its own object says how to get it."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from models.shap.explanation import PreferenceExplanation


def test_without_the_shap_library_its_object_is_refused_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = np.zeros(1)
    found = PreferenceExplanation(
        players=("x",), values=np.zeros((1, 1)), standard_error=None, empty=one, full=one, score=one,
        data=np.zeros((1, 1)), coalitions=2,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install -e '\.\[shap\]'"):
        _ = found.explanation
