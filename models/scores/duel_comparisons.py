"""Records of how the models of a study of duels compare: `comparisons.json`."""

from __future__ import annotations

from pydantic import Field

from models.records.base import Record
from models.records.duel_results import DuelModel, SplitProtocol, Step
from models.scores.comparing import Difference


class Advantage(Record):
    """How much the AUC of one model exceeds that of another, on the same tested duels."""

    model: DuelModel
    other: DuelModel
    difference: Difference = Field(description="mean over the runs of AUC of `model` minus that of `other`")


class Gain(Advantage):
    """What a step to a richer model is worth."""

    step: Step


class Leak(Record):
    """How much mirroring duels before the split raises a model's balanced accuracy."""

    model: DuelModel
    difference: float


class Distance(Record):
    """A published figure beside the one found under the same protocol; difference: found minus published."""

    model: DuelModel
    found: float
    published: float
    difference: float
    near: bool = Field(description="whether the two are at most `near` apart")


class Comparisons(Record):
    """How the models compare with each other and with what was published: `comparisons.json`."""

    first_place: tuple[DuelModel, ...] = Field(
        description="the model of the highest mean AUC, then the models that it is not shown to exceed"
    )
    of_highest: tuple[Advantage, ...] = Field(description="advantages of that model over each of the others")
    gains: tuple[Gain, ...]
    last_protocol: SplitProtocol = Field(description="the protocol nearest to the published one")
    leaks: tuple[Leak, ...] = Field(description="empty if the published protocol was not tried")
    most_leaked: DuelModel | None
    published: tuple[Distance, ...]
    near: float
