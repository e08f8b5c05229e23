"""What a model is shown of one patient."""

from __future__ import annotations

from pydantic import Field

from models.records.base import Record


class Patient(Record):
    """A message and the record of who wrote it. Nothing of it may leave the table and the ledger."""

    age: int | None
    gender: str | None
    active_problems: tuple[str, ...] = Field(repr=False)
    diagnoses_past_year: tuple[str, ...] = Field(repr=False)
    older_diagnoses: tuple[str, ...] = Field(repr=False)
    medications: tuple[str, ...] = Field(repr=False)
    medications_ended_lately: tuple[str, ...] = Field(repr=False)
    message: str = Field(repr=False)

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything in it that was written by or about the patient."""
        lists = (
            self.active_problems,
            self.diagnoses_past_year,
            self.older_diagnoses,
            self.medications,
            self.medications_ended_lately,
        )
        return (self.message, *(entry for entries in lists for entry in entries))
