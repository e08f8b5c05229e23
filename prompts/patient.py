"""The part of a patient's record that a model sees."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from models.records.base import Record


class Patient(Record):
    """A patient's message and health record. None of it may leave the table and the ledger.

    >>> Patient(message="My back hurts.", medications=("ibuprofen",)).texts
    ('My back hurts.', 'ibuprofen')
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    age: int | None = None
    gender: str | None = None
    active_problems: tuple[str, ...] = Field(default=(), repr=False)
    diagnoses_past_year: tuple[str, ...] = Field(default=(), repr=False)
    older_diagnoses: tuple[str, ...] = Field(default=(), repr=False)
    medications: tuple[str, ...] = Field(default=(), repr=False)
    medications_ended_lately: tuple[str, ...] = Field(default=(), repr=False)
    message: str = Field(repr=False)

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts written by or about the patient, the message first."""
        lists = (
            self.active_problems,
            self.diagnoses_past_year,
            self.older_diagnoses,
            self.medications,
            self.medications_ended_lately,
        )
        return (self.message, *(entry for entries in lists for entry in entries))
