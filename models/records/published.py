"""Published numbers, and the metrics of a run beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from models.records.base import Record
from models.records.results import MetricRow


class Published(Record):
    """One published number: its model, metric and split, and where it was published.

    variant: None if the publication does not say which variant it means; the number then stands beside each of them.
    at: number of questions asked, for a metric that has one.
    """

    model: str
    value: float
    source: str
    metric: str = "accuracy"
    split: str = "test"
    variant: str | None = None
    at: int | None = None

    def is_of(self, row: MetricRow) -> bool:
        """Whether this is the published counterpart of a metric."""
        return (self.model, self.metric, self.split, self.at) == (row.model, row.metric, row.split, row.at) and (
            self.variant is None or self.variant == row.variant
        )


def published_by_split(
    values: Mapping[str, float], *, model: str, source: str, metric: str = "accuracy", variant: str | None = None
) -> tuple[Published, ...]:
    """The published values of one metric, given by split.

    >>> train, test = published_by_split({"train": 0.998, "test": 0.888}, model="preference_tree", source="Table 1")
    >>> (train.split, train.value), (test.split, test.value)
    (('train', 0.998), ('test', 0.888))
    """
    return tuple(
        Published(model=model, metric=metric, split=split, variant=variant, value=value, source=source)
        for split, value in values.items()
    )


def beside_published(rows: Iterable[MetricRow], published: Iterable[Published]) -> list[MetricRow]:
    """The metrics with their published values: one row for each published value, or the row as it is if there is none.

    >>> row = MetricRow(study="s", model="preference_tree", variant="kept", metric="accuracy", split="test", value=1)
    >>> known = Published(model="preference_tree", value=0.888, source="Table 1")
    >>> [(found.value, found.published) for found in beside_published([row], [known])]
    [(1.0, 0.888)]
    """
    known = tuple(published)
    found: list[MetricRow] = []
    for row in rows:
        of_row = [
            row.model_copy(update={"published": each.value, "published_source": each.source})
            for each in known
            if each.is_of(row)
        ]
        found += of_row or [row]
    return found


def gap(found: float | None, published: float | None) -> float | None:
    """Found minus published; None if either is missing.

    >>> gap(0.75, 0.5), gap(0.75, None)
    (0.25, None)
    """
    return None if found is None or published is None else found - published
