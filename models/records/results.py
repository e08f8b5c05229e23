"""The rows of `metrics.json`."""

from __future__ import annotations

from pydantic import Field

from models.records.base import Record


class MetricRow(Record):
    """One number found by a study, and the published number where there is one.

    >>> row = MetricRow(study="sushi", model="upm", variant="split_first", metric="auc", split="test", value=0.75)
    >>> row.value, row.published
    (0.75, None)
    """

    study: str
    model: str
    variant: str
    metric: str
    split: str
    at: int | None = Field(default=None, description="query number, if the metric has one")
    value: float | None
    sd: float | None = None
    n: int | None = None
    lower: float | None = Field(default=None, description="lower bound of the 95% interval of the value")
    upper: float | None = Field(default=None, description="upper bound of the 95% interval of the value")
    over: str | None = Field(default=None, description="what the interval is over: 'other users'")
    published: float | None = None
    published_source: str | None = None
