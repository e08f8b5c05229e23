"""The features whose settings are compared: names, ranges, units and steps."""

from __future__ import annotations

import math
from decimal import Decimal

from pydantic import Field, model_validator

from models.records.base import Record
from models.records.plain_text import unprintable

MOST_FEATURES, MOST_STEPS = 30, 1_000_000
Levels = tuple[int, ...]
"""A setting of all features, in steps from the lower ends of their ranges."""


class BoxFeature(Record):
    """A numeric feature that can be set in steps from `lower` to `upper`.

    >>> water = BoxFeature(name="water", lower=85, upper=96, step=0.5, unit="°C")
    >>> water.n_steps, water.value(3), water.text(3)
    (22, 86.5, '86.5')
    """

    name: str = Field(min_length=1, max_length=60, description="name of the feature, as it is shown")
    lower: float = Field(allow_inf_nan=False, description="lowest value that may be asked about")
    upper: float = Field(allow_inf_nan=False, description="highest value that may be asked about")
    step: float = Field(gt=0, allow_inf_nan=False, description="values asked about are whole steps above lower")
    unit: str = Field(default="", max_length=30, description="unit of the values")

    @model_validator(mode="after")
    def _range_holds_a_step(self) -> BoxFeature:
        if unprintable(self.name) or unprintable(self.unit):
            raise ValueError("name and unit must be plain text without control characters")
        if not self.lower < self.upper:
            raise ValueError(f"lower must be below upper, found {self.lower:g} and {self.upper:g}")
        steps = (self.upper - self.lower) / self.step
        if not 1 - 1e-9 <= steps <= MOST_STEPS:
            raise ValueError(
                f"step must fit into the range once at least and {MOST_STEPS:,} times at most: "
                f"{self.lower:g} to {self.upper:g} is {steps:.4g} steps of {self.step:g}"
            )
        return self

    @property
    def n_steps(self) -> int:
        """Whole steps in the range. The highest value asked about is that many steps above `lower`."""
        return max(1, math.floor((self.upper - self.lower) / self.step + 1e-9))

    @property
    def decimals(self) -> int:
        """Decimal places that tell all values apart."""
        return max(0, *(-_exponent(number) for number in (self.lower, self.step)))

    def value(self, level: int) -> float:
        """The value so many steps above `lower`."""
        return round(self.lower + level * self.step, self.decimals)

    def text(self, level: int) -> str:
        """The value as text, all values with equally many decimal places."""
        return f"{self.value(level):.{self.decimals}f}"


class BoxSettings(Record):
    """What `prefstudy ask box` asks about, from a TOML file."""

    question: str = Field(default="Which do you prefer?", max_length=200, description="question shown above each pair")
    n_initial: int = Field(default=8, ge=1, le=1000, description="pairs spread over all settings that are asked first")
    seed: int = Field(default=0, ge=0, lt=2**63, description="seed of all random choices")
    features: tuple[BoxFeature, ...] = Field(
        min_length=1, max_length=MOST_FEATURES, description="features to set: name, lower, upper, step and unit of each"
    )

    @model_validator(mode="after")
    def _names_differ(self) -> BoxSettings:
        names = [feature.name for feature in self.features]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two features are named {twice}")
        if unprintable(self.question):
            raise ValueError("question must be plain text without control characters")
        return self

    def values(self, levels: Levels) -> dict[str, float]:
        """A setting as values by feature name."""
        return {feature.name: feature.value(level) for feature, level in zip(self.features, levels, strict=True)}


def _exponent(number: float) -> int:
    exponent = Decimal(repr(number)).normalize().as_tuple().exponent
    assert isinstance(exponent, int)  # the number is finite
    return exponent
