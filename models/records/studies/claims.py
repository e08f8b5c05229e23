"""The result for a published claim: what was found, under which protocol, and whether that reproduces it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from models.records.base import Record

CLAIMS = "claims"
"""File beside the index, without its ending `.json`."""

Status = Literal["reproduced", "another_protocol", "not_reproduced", "not_testable", "not_run"]
STATUSES: Mapping[Status, str] = {
    "reproduced": "reproduced",
    "another_protocol": "reproduced under another protocol",
    "not_reproduced": "not reproduced",
    "not_testable": "not testable here",
    "not_run": "not run",
}
"""Each status in words."""


class ClaimResult(Record):
    """One published claim, and the result for it in the latest run of its study."""

    claim: str = Field(description="name of the claim, unique among all")
    words: str = Field(description="the claim in plain words")
    source: str = Field(description="publication, and its table, figure or section")
    study: str | None = Field(description="the study that tests it; None if no study does")
    tested: str = Field(description="what decides it, in words; empty if nothing here does")
    status: Status
    reason: str = Field(default="", description="why it has this status; for another protocol, which")
    published: float | None = Field(default=None, description="the published number, if the claim is one")
    decimals: int = Field(default=3, description="decimals of the published number")
    found: float | None = None
    lower: float | None = Field(default=None, description="lower bound of the 95% interval, if it has one")
    upper: float | None = Field(default=None, description="upper bound of the 95% interval, if it has one")
    over: str = Field(default="", description="what the interval is over, as a plural; empty if there is none")
    run: str | None = Field(default=None, description="STUDY/RUN-ID")

    @property
    def paper(self) -> str:
        """The publication, without the place in it.

        >>> ClaimResult(
        ...     claim="a", words="A.", source="dt-pbo, Table 1", study=None, tested="", status="not_run",
        ... ).paper
        'dt-pbo'
        """
        return self.source.partition(",")[0]
