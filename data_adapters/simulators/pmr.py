"""Simulated PMR-Synth inboxes: invented messages with records, whose urgency follows a rule that no column states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from data_adapters.codebooks.pmr import (
    ACTIVE,
    AGE,
    BULLET,
    DEMOGRAPHICS,
    ENCOUNTERS,
    ENDED,
    GENDER,
    GENDERS,
    INBOX_FILES,
    MEDICATIONS,
    MESSAGE,
    OLDER,
    PAST_YEAR,
    PROBLEMS,
    RECORD_HEADING,
    SEPARATOR,
)
from data_adapters.simulators.pmr_wordings import (
    BY_ACTIONABILITY,
    CLOSINGS,
    CONDITIONS,
    COURSES,
    GREETINGS,
    OF_LATER_LIFE,
    OPENERS,
    PASSING,
    RED_FLAGS,
    REQUESTS,
    SINCE,
    Complaint,
)
from data_adapters.source.planted import Hidden, Preference, Rule

PUBLISHED_PATIENTS = 30
"""In an inbox."""

RULES = (
    Rule(feature="red_flag", cut=1, prefers="high"),
    Rule(feature="risk_in_record", cut=1, prefers="high"),
    Rule(feature="actionability", prefers="high"),
)
EMERGENCY = 4
"""The actionability of a red flag."""
OPENER_SHARES = {"neutral": 0.5, "urgent": 0.25, "calm": 0.25}
PARAPHRASED = 1 / 3
MOVED = 0.1
LEVEL_SHARES = (4, 5, 6, 6, 5, 4)
"""Number of messages on each level, of thirty, the most urgent first."""
WORDS = (
    "A message that tells of a red flag comes before all that tell of none: on level 1 if a condition of the record "
    "adds a risk to it, else on level 2. The others go by what has to be done: level 3 if somebody has to answer the "
    "same day (actionability 3), level 4 for a visit or blood tests (2), level 5 for advice (1), level 6 for nothing "
    f"(0). How urgent a message sounds says nothing. {PARAPHRASED:.0%} of the messages name no medical term, and "
    f"{MOVED:.0%} stand one level higher or lower than the rules say."
)


@dataclass(frozen=True)
class Draft:
    """The facts of a message, decided before its text is written."""

    level: int
    name: str
    complaint: Complaint
    paraphrased: bool

    @property
    def red_flag(self) -> bool:
        """Whether the complaint itself is dangerous."""
        return self.level <= 2

    @property
    def risk_in_record(self) -> bool:
        """Whether a condition of the record raises the risk."""
        return self.level == 1

    @property
    def actionability(self) -> int:
        """How much there is to do, 0 to 4."""
        return EMERGENCY if self.red_flag else 6 - self.level

    @property
    def hidden(self) -> Hidden:
        """The facts that the rules use, and others that a reader of the texts might look for."""
        return {
            "complaint": self.name,
            "red_flag": int(self.red_flag),
            "risk_in_record": int(self.risk_in_record),
            "actionability": self.actionability,
            "paraphrased": int(self.paraphrased),
        }


def simulate(folder: Path, *, seed: int, users: int | None) -> Preference:
    """Write both inboxes in upstream's format into `folder` and return the planted preference.

    users: number of patients per inbox; each writes one message.
    """
    rng = np.random.default_rng(seed)
    hidden: dict[str, Hidden] = {}
    for letter, file in INBOX_FILES.items():
        drafts = _drafts(rng, users or PUBLISHED_PATIENTS)
        hidden |= {f"{letter}-{row:02d}": draft.hidden for row, draft in enumerate(drafts, 1)}
        columns = {
            "text": [_text(rng, draft) for draft in drafts],
            "level": _levels(rng, drafts),
            "relevancy": [int(rng.integers(2 if draft.risk_in_record else 1, 4)) for draft in drafts],
        }
        pq.write_table(pa.table(columns), folder / file)
    return Preference(words=WORDS, types={"clinician": RULES}, type_of={}, hidden=hidden, noise=MOVED)


def _drafts(rng: np.random.Generator, n: int) -> list[Draft]:
    """One draft a patient: the levels in their shares, each level's complaints in turn."""
    quota = rng.permutation(np.repeat(np.arange(1, 7), LEVEL_SHARES))
    levels = rng.permutation(np.resize(quota, n))
    paraphrased = rng.permutation(np.arange(n) < PARAPHRASED * n)
    topics = {level: RED_FLAGS if level <= 2 else BY_ACTIONABILITY[6 - level] for level in range(1, 7)}
    turns = {level: cycle(_shuffled(rng, list(complaints))) for level, complaints in topics.items()}
    drafts = []
    for level, paraphrase in zip(levels.tolist(), paraphrased.tolist(), strict=True):
        name = next(turns[level])
        drafts.append(Draft(level, name, topics[level][name], paraphrase))
    return drafts


def _levels(rng: np.random.Generator, drafts: Sequence[Draft]) -> list[int]:
    """The recorded levels; some are one step off."""
    levels = []
    for draft in drafts:
        step = int(rng.choice((-1, 1))) if rng.random() < MOVED else 0
        levels.append(draft.level + step if 1 <= draft.level + step <= len(LEVEL_SHARES) else draft.level - step)
    return levels


def _text(rng: np.random.Generator, draft: Draft) -> str:
    conditions = _conditions(rng, draft)
    passing = _shuffled(rng, PASSING)
    n_recent, n_older = int(rng.integers(1, 4)), int(rng.integers(0, 4))
    recent = _shuffled(rng, [*conditions[: int(rng.integers(1, 3))], *passing[:n_recent]])
    taken = [CONDITIONS[condition] for condition in conditions]
    ended = _shuffled(rng, COURSES)[:1] if rng.random() < 0.2 else []
    return "\n".join(
        [
            f"{RECORD_HEADING} {DEMOGRAPHICS}",
            f"{AGE} {rng.integers(50 if set(conditions) & set(OF_LATER_LIFE) else 19, 93)}",
            f"{GENDER} {_one(rng, GENDERS).capitalize()}",
            "",
            PROBLEMS,
            SEPARATOR.join(conditions),
            "",
            ENCOUNTERS,
            "",
            f"{PAST_YEAR} {SEPARATOR.join(recent)}",
            f"{OLDER} {SEPARATOR.join(passing[n_recent : n_recent + n_older])}",
            "",
            MEDICATIONS,
            "",
            ACTIVE,
            *(f"{BULLET}{medicine}" for medicine in taken),
            *((ENDED, *(f"{BULLET}{medicine}" for medicine in ended)) if ended else ()),
            "",
            f"{MESSAGE} {_message(rng, draft)}",
        ]
    )


def _conditions(rng: np.random.Generator, draft: Draft) -> list[str]:
    """Two to six conditions; one adds a risk to the complaint exactly where the draft says so."""
    others = _shuffled(rng, [condition for condition in CONDITIONS if condition not in draft.complaint.risks])
    conditions = others[: int(rng.integers(2, 6))]
    if draft.risk_in_record:
        conditions.append(_one(rng, draft.complaint.risks))
    return _shuffled(rng, conditions)


def _message(rng: np.random.Generator, draft: Draft) -> str:
    tone = str(rng.choice(list(OPENER_SHARES), p=list(OPENER_SHARES.values())))
    wording = _one(rng, draft.complaint.paraphrased if draft.paraphrased else draft.complaint.plain)
    sentences = (
        _one(rng, GREETINGS),
        _one(rng, OPENERS[tone]),
        wording.format(since=_one(rng, SINCE[draft.actionability])),
        _one(rng, REQUESTS[draft.actionability]),
        _one(rng, CLOSINGS),
    )
    return " ".join(filter(None, sentences))


def _one(rng: np.random.Generator, options: Sequence[str]) -> str:
    return options[int(rng.integers(len(options)))]


def _shuffled(rng: np.random.Generator, options: Sequence[str]) -> list[str]:
    return [options[position] for position in rng.permutation(len(options))]
