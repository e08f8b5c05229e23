"""The models that the benchmark study compares, by name. A model is a frozen dataclass of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

from pydantic import Field, TypeAdapter

from models.asking.box.forest import ForestInBox
from models.asking.box.gp import GaussianProcessInBox
from models.asking.box.loop import BoxModel
from models.asking.box.random_pairs import RandomPairsInBox
from models.asking.box.skew_gp import SkewGaussianProcessInBox
from models.asking.box.tree import TreeInBox
from models.records.studies.benchmark_results import FOREST, GP, RANDOM_PAIRS, SKEW_GP, TREE
from tasks.runs.study import RunConfig

KINDS: Mapping[str, type[Any]] = {
    TREE: TreeInBox,
    FOREST: ForestInBox,
    GP: GaussianProcessInBox,
    SKEW_GP: SkewGaussianProcessInBox,
    RANDOM_PAIRS: RandomPairsInBox,
}
"""The kind of each model. A field of `ModelSettings` has the same name and holds its settings."""


class ModelSettings(RunConfig):
    """The settings of each model; the defaults are the paper's where it states them."""

    tree: TreeInBox = Field(default=TreeInBox(), description="the preference tree (DT-PBO)")
    forest: ForestInBox = Field(default=ForestInBox(), description="the forest of preference trees")
    gp: GaussianProcessInBox = Field(
        default=GaussianProcessInBox(), description="the preferential Gaussian process with qEUBO"
    )
    skew_gp: SkewGaussianProcessInBox = Field(
        default=SkewGaussianProcessInBox(), description="the skew Gaussian process with expected improvement (HB-EI)"
    )

    random_pairs: RandomPairsInBox = Field(
        default=RandomPairsInBox(), description="questions about random pairs, from which a forest learns"
    )

    def of(self, model: str, **changed: Any) -> dict[str, Any]:
        """The settings of a model as plain data, with some of them changed. Raises ValueError for an invalid one."""
        settings = {**asdict(getattr(self, model)), **changed}
        make_model(model, settings)
        return settings


def make_model(name: str, settings: Mapping[str, Any]) -> BoxModel:
    """The model of a name with these settings. Raises ValueError (pydantic's ValidationError) for an invalid one.

    >>> make_model("tree", {"max_depth": 4}).max_depth
    4
    """
    model: BoxModel = _adapter(name).validate_python(dict(settings))
    return model


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(KINDS[name])
