"""How a published claim is declared: its words, its source, and what decides it.

A claim about a number names rows of a study's metrics: first the one under the protocol that the paper describes, then
those under other protocols. A claim about an order names two rows, or one row and a bound. A claim about what decides
preferences is a `Finding`, declared with the study's explanations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from models.records.base import Record
from models.records.published import Published
from models.shap.findings import Finding


class Place(Record):
    """Where a run holds a number: a row of `metrics.json`, or of the table of ways of asking if the split is `asked`.

    protocol: how its protocol differs from the one that the paper describes; empty if it does not.
    """

    model: str
    variant: str
    metric: str = "accuracy"
    split: str = "test"
    at: int | None = None
    protocol: str = ""

    def but(self, **fields: Any) -> Place:
        """The same place with other fields."""
        return Place(**{**self.model_dump(), **fields})


class Number(Record):
    """A published number. decimals: how many were published. places: where runs hold it, the paper's protocol first."""

    kind: Literal["number"] = "number"
    value: float
    decimals: int
    places: tuple[Place, ...] = Field(min_length=1)


class Pair(Record):
    """Two numbers whose difference, first minus second, is asked for; without a second one, the first number."""

    first: Place
    second: Place | None = None

    @property
    def protocol(self) -> str:
        """The protocol of the first number."""
        return self.first.protocol


class Order(Record):
    """A difference that lies above or below a bound, or between its negative and itself. pairs: as `Number.places`."""

    kind: Literal["order"] = "order"
    pairs: tuple[Pair, ...] = Field(min_length=1)
    side: Literal["above", "below", "within"]
    bound: float = 0.0


class Judged(Record):
    """A finding about what decides preferences, judged by the study's explanations."""

    kind: Literal["finding"] = "finding"
    finding: Finding


class Rows(Record):
    """The number of rows of a part of the study's table."""

    kind: Literal["rows"] = "rows"
    part: Literal["items", "users", "contexts", "comparisons"]
    value: int


class NotTestable(Record):
    """Nothing here can decide the claim. reason: why."""

    kind: Literal["not_testable"] = "not_testable"
    reason: str


Test = Annotated[Number | Order | Judged | Rows | NotTestable, Field(discriminator="kind")]


class Claim(Record):
    """One published claim. name: unique within its module."""

    name: str
    source: str
    words: str
    test: Test


class StudyClaims(Record):
    """The claims that one study tests.

    study: None for claims that no study tests. settings: those of the paper; a run with others is under another
    protocol. simulated: whether the published data is itself simulated.
    """

    study: str | None
    claims: tuple[Claim, ...]
    settings: dict[str, Any] = Field(default={})
    simulated: bool = False


def number(name: str, published: Published, words: str, *places: Place, decimals: int) -> Claim:
    """The claim that a published number makes.

    >>> place = Place(model="preference_tree", variant="straddlers_discarded")
    >>> published = Published(model="preference_tree", value=0.888, source="dt-pbo, Table 1")
    >>> number("tree-test", published, "Trees predict 0.888.", place, decimals=3).test.value
    0.888
    """
    return Claim(
        name=name, source=published.source, words=words,
        test=Number(value=published.value, decimals=decimals, places=places),
    )  # fmt: skip


def findings(declared: Sequence[Finding]) -> tuple[Claim, ...]:
    """The claims that a study's findings make."""
    return tuple(
        Claim(name=each.name, source=each.source, words=each.claim, test=Judged(finding=each)) for each in declared
    )


def not_testable(source: str, reason: str, claims: dict[str, str]) -> tuple[Claim, ...]:
    """Claims that nothing here decides for one reason, as words by name."""
    return tuple(
        Claim(name=name, source=source, words=words, test=NotTestable(reason=reason)) for name, words in claims.items()
    )
